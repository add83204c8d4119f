"""Random programs over strings of several characters, as items, keys and results."""

from __future__ import annotations

from fusejit_testing.programs.everyday.grammar import Grammar

_OUTSIDE = """\
LABELS = {"the": 1, "cat": 2, "": 3, "a": -1, "Fox": 4}
ENDINGS = ("s", "ed", "ing")


def cleaned(text):
    text = text.strip().lower()
    return text.replace($literal, "")


def parts_of(text, size=$size):
    found = []
    for i in range(0, len(text), size):
        found.append(text[i : i + size])
    return found


def key_of(word):
    return "".join(sorted(word))


def is_palindrome(text):
    return text == text[::-1]


def label(n):
    return f"n{n}"


def packed(text):
    made = ""
    count = 0
    for i in range(len(text)):
        count += 1
        if i + 1 == len(text) or text[i + 1] != text[i]:
            made += text[i] + (str(count) if count > 1 else "")
            count = 0
    return made


"""

TEXTS = Grammar(
    outside=((_OUTSIDE,),),
    parameters=(
        *("s:text", "s:text", "s:text t:text", "s:text words:words", "words:words", "words:words"),
        *("s:text n:int", "words:words n:int", "rows:rows", "rows:rows s:text"),
    ),
    beginning="k = 0\no, best, h = '', '', None\nout, pairs = [], []\nd, g, z = {}, {}, set()",
    names={"text": ("o", "best"), "words": ("out",), "int": ("k",), "rows": ("pairs",)},
    fields={
        "text": (
            *("$text[$int:$int + $size]", "$text[$int:$int]", "$text[::-1]", "$text[$size:]"),
            *("$text.strip()", "$text.lower()", "$text.upper()", "$text.replace($literal, 'b')"),
            *("$text.replace($literal, '')", "$text + $text", "$text * $size", "str($int)"),
            *("$literal", "$literal + $text", "min($text, $text)", "max($text, $text)"),
            *("label($int)", "cleaned($text)", "key_of($text)", "packed($text)"),
            *("($text if $cond else $text)", "($text or 'none')", "'-'.join($words)"),
            *("''.join($words)", "$text.rstrip()", "$text.lstrip($literal)", "$text[-1:]"),
            *("$text.title()", "$text.strip('a ')", "$text.capitalize()", "(h or 'no')"),
            *("chr(97 + $int % 26)", "f'{o}{k}'", "f'<{k}:{best}>'", "f'{k}'", "f'{best!s},'"),
            *("$text[0]", "$words[$int]", "str(k) + ',' + str($int)", "$text[k % 5:]", "repr(k)"),
            *("'%d' % k", "'{}-{}'.format(k, o)", "f'{k:>4}'", "f'{k:03d}'", "$text.zfill(4)"),
            *("$text.removeprefix('a')", "$text.split($literal)[0]", "$text.partition(' ')[2]"),
        ),
        "literal": ("'a'", "' '", "'the'", "'ab'", "'t'", "','", "'1'", "'ca'", "''"),
        "size": ("1", "2", "3", "4"),
        "words": (
            *("$text.split()", "$text.split(' ')", "$text.split(',')", "parts_of($text)"),
            *("sorted($words)", "[w.lower() for w in $words]", "[w for w in $words if len(w) > 1]"),
            *("list($text)", "$words[1:]", "sorted($words, key=len)", "['the', 'cat', 'x']"),
            *("sorted(set($words))", "[w[::-1] for w in $words]", "$words[::-1]", "list(g)"),
            *("[c + c for c in $text]", "[f'{i}{c}' for i, c in enumerate($text)]"),
            *("sorted(d)", "[w.strip() for w in $text.split(',')]", "$text.splitlines()"),
        ),
        "rows": ("[(w, len(w)) for w in $words]", "list(d.items())", "list(zip($words, $words))"),
        "int": (
            *("len($text)", "$text.count($literal)", "$text.find($literal)", "k % 7", "$size"),
            *("$int + 1", "len($words)", "LABELS.get($text, 0)", "d.get($text, 0)", "-1", "0"),
            *("ord($text[0])", "int($text)", "$text.index($literal)", "LABELS[$text]", "len(d)"),
            *("len(g)", "len(z)", "$words.count($text)", "$words.index($text)", "$text.rfind('a')"),
            *("sum([len(w) for w in $words])", "max([len(w) for w in $words])"),
        ),
        "cond": (
            *("$text == $text", "$text != $text", "$text < $text", "$text >= $text", "$text"),
            *("$text in $text", "$text in d", "$text not in z", "$text in $words", "$text in g"),
            *("$text.startswith($literal)", "$text.endswith($literal)", "$text.isdigit()"),
            *("$text.isalpha()", "is_palindrome($text)", "len($text) > $size", "k % 3 == 1"),
            *("$text in LABELS", "$text.isupper()", "h is None", "h == $text", "not $words"),
            *("$text in ('the', 'cat', 'x')", "$int > $int", "$text.endswith(ENDINGS)", "z"),
            *("any(c.isdigit() for c in $text)", "all(w for w in $words)", "$text <= 'm'"),
        ),
    },
    statements=(
        *("if len(out) < 60:\n    out.append($text)",) * 3,
        *("if len(o) < 150:\n    o += $text",) * 3,
        *("if len(pairs) < 60:\n    pairs.append(($text, $int))",) * 2,
        *("d[$text] = d.get($text, 0) + 1", "d[$text] = $int", "z.add($text)", "z.discard($text)"),
        *("g.setdefault($text, []).append($text)", "g.setdefault($text, []).append($text)"),
        *("best = max(best, $text)", "if $text > best:\n    best = $text", "h = $text", "h = None"),
        *("if len($text) > len(best):\n    best = $text[:50]", "k += $int", "k += $int"),
        *("if $text.isdigit():\n    k += int($text)", "k += $cond", "o = $text[:50]", "o = ''"),
        *("try:\n    k += int($text)\nexcept ValueError:\n    k -= 1", "out = $words[:50]"),
        *("if out:\n    o = out.pop()[:50]", "out.sort()", "out.reverse()", "pairs.sort()"),
        *("if $text in d:\n    d[$text] += 1\nelse:\n    d[$text] = 1", "h = $text, $int"),
        *("try:\n    k += LABELS[$text]\nexcept KeyError as error:\n    h = str(error)",),
        *("d.pop($text, None)", "if $text in d:\n    del d[$text]", "d[($text, $text)] = k"),
        *("first = $text\nsecond = $text\nif first < second:\n    k += 2", "out[-1:] = [$text]"),
        *("if $cond:\n    raise ValueError($text)", "out.insert(0, $text)", "k += len(o)"),
        *("pairs = sorted(pairs, key=lambda p: p[1])", "z |= set($words)", "h = out[-1]"),
    ),
    loops=(
        *("for $new_text in $words[:40]:\n    $body",) * 4,
        *("for $new_text in $text[:40]:\n    $body",) * 3,
        *("for $new_int in range(len($text[:30])):\n    $body",) * 2,
        *("for $new_text, $new_int in $rows[:20]:\n    $body",) * 2,
        "for $new_int, $new_text in enumerate($words[:20]):\n    $body",
        "for $new_text, $new_text in zip($words, $words[1:]):\n    $body",
        "for $new_int in range($size):\n    $body",
        "for $new_text in sorted($words)[:20]:\n    $body",
        "for $new_text in list(d)[:20]:\n    $body",
        "for $new_text in ('the', 'cat', 'a'):\n    $body",
        "q = 0  # bound\nwhile q < 12:\n    q += 1  # bound\n    $body",
    ),
    results=(
        *("k", "o", "out", "d", "best, k", "out, o", "g", "pairs", "o, best, h, k", "sorted(z), k"),
        *("z", "[out, pairs]", "d, g", "' '.join(out)", "out[:3], len(out)", "max(out, key=len)"),
        *("sorted(d.items())", "max(d.values(), default=0), k", "list(g.values())", "h", "h, o"),
        *("sorted(d, key=d.get)", "f'{k} of {o}'", "[w.upper() for w in out]", "min(out)"),
        *("out, pairs, d, g, z, h, k, o, best", "sorted(g)", "tuple(out)", "pairs[0][0] * 2"),
    ),
)
