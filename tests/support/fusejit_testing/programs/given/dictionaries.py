"""Random programs over dictionaries that the caller keeps: joined, copied, and changed in place."""

from __future__ import annotations

from fusejit_testing.programs.everyday.grammar import Grammar

_OUTSIDE = """\
BASE = {"a": 1, "cc": 2.5, 3: None}
OPTIONS = {}


class Config:
    kind = "config"

    def __init__(self):
        self.values = dict(BASE)
        self.limit = $size


CONFIG = Config()


def merged(first, second):
    made = first.copy()
    made.update(second)
    return made


def with_options(table, **options):
    return {**table, **options}


def counted(tags, table=None):
    table = {} if table is None else table
    for tag in tags:
        table[tag] = table.get(tag, 0) + 1
    return table


"""

_JOINS = (
    *("$name = $dict | $dict", "$dict |= $dict", "$name = {**$dict, **$dict}", "$name |= $pairs"),
    *("$name = {**$dict, $key: $num}", "$dict.update($dict)", "$dict.update($pairs)"),
    *(
        "$name = $dict.copy()",
        "$name = dict($dict)",
        "$name = $dict",
        "$name = merged($dict, $dict)",
    ),
    *("$dict.update(a=$num, b=k)", "$name = dict($pairs)", "$name = dict($pairs, a=$num)"),
    *("$name = with_options($dict, a=$num)", "$name = with_options($dict, **{'b': k})"),
    *("$dict.update({v: k for v in $keys})", "$name = {v: $dict.get(v) for v in $keys}"),
    *("$dict.update(zip($keys, $nums))", "$name = dict(zip($keys, $nums))", "$name = $dict | {}"),
    *(
        "$name = {key: value for key, value in $dict.items() if $cond}",
        "$name = dict.fromkeys($keys)",
    ),
    *("$name = {value: key for key, value in $dict.items()}", "$name = counted($keys)"),
    *("$dict |= {$key: $num}", "counted($keys, $dict)", "$name = $dict if $cond else $dict"),
    "d, e = e, d",
)
_CHANGES = (
    *(
        "$dict[$key] = $num",
        "$dict[$key] = $num",
        "$dict[$key] = $same_dict.get($same_key, 0) + $num",
    ),
    *(
        "$dict.pop($key, None)",
        "$dict.pop($key)",
        "del $dict[$key]",
        "$dict.setdefault($key, $num)",
    ),
    *("if $key in $dict:\n    del $same_dict[$same_key]", "$dict.popitem()", "$dict.clear()"),
    *("$dict[$key] += $num", "if $cond:\n    $dict[$key] = None", "CONFIG.limit += 1"),
    *("$dict[$key], $dict[$key] = $num, $num", "CONFIG.values = $dict", "$dict[$key] = []"),
    *("for v in list($dict):\n    if $cond:\n        del $same_dict[v]", "$dict[$key] = $dict"),
)
_READS = (
    *(
        "k += 1",
        "k += len($dict)",
        "s += $num",
        "s += $num",
        "out.append($key)",
        "out.append($num)",
    ),
    *("u = $dict.get($key)", "u = $dict == $dict", "u = $dict is $dict", "u = list($dict)"),
    *("u = list($dict.items())[:3]", "u = sorted($dict.values())", "u = max($dict, key=$dict.get)"),
    *(
        "try:\n    s += $dict[$key]\nexcept KeyError as error:\n    u = str(error)",
        "u = $dict.copy()",
    ),
    *("rows.append($dict)", "rows.append({**$dict})", "u = rows[0]", "u = $cond", "k += $cond"),
    *("u = [*$dict]", "u = next(iter($dict), None)", "out.extend($dict.values())", "u = $num"),
    *(
        "if $cond:\n    raise KeyError($key)",
        "u = $dict.keys() & {$key}",
        "u = list($dict.values())",
    ),
)
_LOOPS = (
    *("for $new_key in $keys[:12]:\n    $body",) * 3,
    *("for $new_key, $new_num in $pairs[:12]:\n    $body",) * 2,
    *("for $new_key, $new_num in list($dict.items()):\n    $body",) * 2,
    "for $new_key, $new_num in $dict.items():\n    $body",
    "for $new_key in $dict:\n    $body",
    "for $new_key in list($dict):\n    $body",
    "for $new_num in list($dict.values()):\n    $body",
    "for $new_num in range($size):\n    $body",
    "for $new_num in $nums[:9]:\n    $body",
    "q = 0  # bound\nwhile q < 7:\n    q += 1  # bound\n    $body",
)

DICTIONARIES = Grammar(
    outside=((_OUTSIDE,),),
    parameters=(
        *("a:dict", "a:dict b:dict", "a:dict b:dict", "a:dict x:pairs_items", "a:dict n:key_count"),
        *(
            "a:dict b:dict x:keys_tags",
            "a:dict x:keys_tags nums:nums",
            "x:pairs_items",
            "x:keys_tags",
        ),
        *("a:dict b:dict x:pairs_items y:num", "x:keys_counts a:dict"),
    ),
    beginning="k, s, u = 0, 0, None\nd, e = {}, {}\nout, rows = [], []",
    names={"dict": ("d", "e", "d"), "name": ("d", "e"), "num": ("k",)},
    fields={
        "size": ("1", "2", "3"),
        "dict": ("CONFIG.values", "OPTIONS", "d", "e"),
        "name": ("d", "e"),
        "key": ("'a'", "'b'", "'cc'", "k % 3", "3", "f'w{k}'", "$keys[0]", "None", "(k, 1)"),
        "keys": (
            "list($dict)[:9]",
            "['a', 'b', 'a']",
            "out[:5]",
            "[v for v, w in $pairs]",
            "[k, 1]",
        ),
        "num": (
            *("$size", "k", "1.5", "$dict[$key]", "$dict.get($key, 0)", "len($dict)", "$num + 1"),
            *("$num * 0.5", "sum($dict.values())", "2**53 + 1", "2**63", "True", "-$num", "k * 2"),
            *("$nums[0]", "len($key)", "max($dict.values())", "($num if $cond else $num)", "None"),
        ),
        "nums": ("list($dict.values())[:9]", "[1, 2.5]", "[$num, $num]", "[k]"),
        "pairs": ("list($dict.items())[:9]", "[($key, $num)]", "[('a', 1), ('b', k), ('a', $num)]"),
        "cond": (
            *("$key in $dict", "$key not in $dict", "$num > $num", "$dict", "not $dict", "k > 3"),
            *("$dict == $dict", "$dict is $dict", "len($dict) > $size", "$dict.get($key) is None"),
            *("$key == $key", "isinstance($key, str)", "CONFIG.limit > 2", "$num == $num", "out"),
        ),
    },
    statements=(*_JOINS * 3, *_CHANGES * 2, *_READS * 2),
    loops=_LOOPS,
    results=(
        *("d", "e", "d, e", "k, s", "d, out", "u", "rows", "d, e, out, rows, k, s, u", "$dict"),
        *(
            "list(d.items())",
            "d == e, d",
            "[d, d]",
            "$dict | d",
            "{**d, **e}",
            "sorted(out)",
            "u, d",
        ),
        *("$dict, $dict", "len(d), s", "{'d': d, 'k': k}", "list(d), list(e)"),
    ),
    state=("CONFIG", "OPTIONS", "BASE"),
    few=8,
)
