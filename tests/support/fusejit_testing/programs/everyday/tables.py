"""Random programs over dictionaries and sets that come from outside, small and large."""

from __future__ import annotations

from dataclasses import replace

from fusejit_testing.programs.everyday.grammar import Grammar

_HELPERS = """\
def reached(graph, start):
    seen = {start}
    queue = [start]
    for node in queue:
        if len(queue) > 12:
            break
        for other in graph.get(node, []):
            if other not in seen:
                seen.add(other)
                queue.append(other)
    return seen


def total_of(table, keys, otherwise=$size):
    total = 0
    for key in keys:
        total += table.get(key, otherwise)
    return total


def noted(table, key):
    table[key] = table.get(key, 0) + 1
    return table[key]


"""
_NUMBERS_OUTSIDE = """\
PRICES = {k * 7 % 101: k * $size for k in range($many)}
STOP = {1, 3, 5, 8, 13, 21}
LINKS = {k: [k + 1, k * 2 % 90] for k in range($many)}
COUNTS = {3: 1}
SEEN = set()


"""
_WORDS_OUTSIDE = """\
PRICES = {f"w{k}": k * $size for k in range($many)}
STOP = {"the", "a", "w1", "w2", "w13"}
LINKS = {f"w{k}": [f"w{k + 1}", f"w{k * 2 % 90}"] for k in range($many)}
COUNTS = {"the": 1}
SEEN = set()


"""
_COUNTING = (
    *("k += $int", "k += $int", "k += $cond", "out.append($key)", "out.append($key)"),
    *("d[$key] = d.get($key, 0) + $size", "d[$key] = $int", "z.add($key)"),
    *("if $key in $table:\n    k += $table[$key]", "k += $table[$key]", "k += len($graph[$key])"),
    *("if $key not in $stop:\n    out.append($key)", "d.setdefault($key, []).append($size)"),
    *("k += sum($table.values())", "k += max($table.values(), default=0)"),
    *(
        "k += len(reached($graph, $key))",
        "k += total_of($table, $keys)",
        "k += $table.get($key, 0)",
    ),
    *("if $cond:\n    k += 1", "out = sorted($keys)", "out.sort()", "k += len($table)"),
)
_READING = (
    *_COUNTING * 3,
    *("u = $key", "if $cond:\n    u = $key", "u = $graph.get($key)", "u = $table.get($key)"),
    *("try:\n    k += $table[$key]\nexcept KeyError as error:\n    u = str(error)", "u = $table"),
    *("u = max($table, key=$table.get)", "u = sorted($table.items())[:3]", "u = dict($table)"),
    *("u = {key: value for key, value in $table.items() if value > 3}", "u = list($table)[:4]"),
    *("u = len($stop & set($keys))", "u = $stop - {$key}", "u = $stop", "u = [$table, $key]"),
    *("for other in $graph.get($key, []):\n    k += 1", "u = sorted($stop)[:5]", "u = $keys[0]"),
)
_CHANGING = (
    *("$table[$key] = $int", "$table[$key] = $table.get($key, 0) + 1", "$table.pop($key, None)"),
    *("$stop.add($key)", "$stop.discard($key)", "$graph[$key] = [$key]", "noted($table, $key)"),
    *(
        "if len($graph.setdefault($key, [])) < 9:\n    $graph[$key].append($key)",
        "if $key in $table:\n    del $table[$key]",
    ),
    *("if $key in $graph:\n    $graph[$key].append($key)", "$table.update({$key: $size})"),
    *("COUNTS[$key] = COUNTS.get($key, 0) + 1", "SEEN.add($key)", "COUNTS[$key] = $size"),
)
_KEY = ("$keys[k % len($keys)]", "$keys[0]", "max($keys)", "($key if $cond else $key)")
_FIELDS: dict[str, tuple[str, ...]] = {
    "size": ("1", "2", "3"),
    "many": ("0", "5", "70", "90"),
    "table": ("PRICES", "PRICES", "COUNTS", "d"),
    "graph": ("LINKS",),
    "weighted": ("{}",),
    "stop": ("STOP", "STOP", "SEEN", "z", "set($keys)"),
    "keys": (
        *("list($table)[:9]", "list(COUNTS)[:9]", "$keys[1:]", "$graph.get($key, [])", "list(z)"),
        *("[key for key in $table if key in $stop]", "out", "list($table)[:5]", "$graph[$key]"),
        *("list(d)", "[key for key in $keys if $cond]", "list($table.keys())[-3:]"),
    ),
    "int": (
        *("$size", "k % 5", "len($table)", "len($stop)", "$table.get($key, 0)", "$table[$key]"),
        *("len($keys)", "len($graph.get($key, []))", "$keys.count($key)", "0", "-1", "$int + 1"),
    ),
    "cond": (
        *("$key in $table", "$key not in $table", "$key in $stop", "$key not in $stop", "k > 9"),
        *("$key in $graph", "$key == $key", "$table.get($key, 0) > $size", "len(out) > $size"),
        *("not $table", "$table.get($key) is None", "$int > $int", "$key < $key", "$stop"),
        *("$table == {}", "$key in $keys", "$table is d", "len($stop) > 4", "k % 2"),
    ),
}
_SHORT_LOOPS = (
    *("for $new_key in $keys[:20]:\n    $body",) * 3,
    *("for $new_int in range(4):\n    $body", "for $new_key in $graph.get($key, []):\n    $body"),
    *(
        "for $new_key in list($table)[:5]:\n    $body",
        "for $new_key in sorted($keys)[:5]:\n    $body",
    ),
    "for $new_key, $new_int in list($table.items())[:4]:\n    $body",
)
_LOOPS = (
    *_SHORT_LOOPS,
    *("for $new_key, $new_int in $table.items():\n    $body",) * 2,
    *("for $new_key in $table:\n    $body", "for $new_int in $table.values():\n    $body"),
    *("for $new_key in sorted($stop):\n    $body", "for $new_key in sorted($table):\n    $body"),
    *("for $new_key in list($table):\n    $body", "for $new_key in $graph:\n    $body"),
    "for node in $graph:\n    for $new_key in $graph.get(node, []):\n        $body",
    "for $new_key, $new_keys in $graph.items():\n    $body",
    "for $new_key, rest in $weighted.items():\n    for $new_key, $new_int in rest:\n        $body",
    "queue = [$key]\nwhile queue and len(queue) < 50:\n    node = queue.pop()\n    if node in z:\n"
    "        continue\n    z.add(node)\n    $body\n    queue.extend($graph.get(node, []))",
)
_RESULTS = (
    *("k", "out", "d", "k, out", "u", "k, u", "z", "d, k, out, u", "sorted(z)", "list(d.items())"),
    *("len(z), k", "COUNTS", "PRICES.get($key), k", "sorted(d, key=d.get)", "[out, d]", "$table"),
    *("$graph.get($key)", "$stop", "$table.get($key), out", "sorted($table.items())"),
)
_PARAMETERS = (
    *("p:table_{0}", "p:table_{0} x:keys_{0}", "p:table_{0} x:keys_{0}", "g:graph_{0} a:key_{0}"),
    *("g:graph_{0} p:table_{0}", "w:weighted_{0} a:key_{0}", "s:stop_{0} x:keys_{0}"),
    *("p:table_{0} s:stop_{0} x:keys_{0}", "x:keys_{0}", "x:keys_{0} a:key_{0}", "g:graph_{0}"),
    *("p:table_{0} q:table_{0} a:key_{0}", "s:stop_{0} r:stop_{0}", "w:weighted_{0} p:table_{0}"),
)


def _grammars(
    kind: str, outside: str, keys: tuple[str, ...], more: tuple[str, ...]
) -> tuple[Grammar, Grammar]:
    """The programs with keys of a kind: those that read, and those that also change tables."""
    reading = Grammar(
        outside=((outside,), (_HELPERS,)),
        parameters=tuple(each.format(kind) for each in _PARAMETERS),
        beginning="k, u = 0, None\nout = []\nd, z = {}, set()",
        names={"int": ("k",)},
        fields={**_FIELDS, "key": (*keys, *_KEY)},
        statements=(*_READING, *more),
        loops=_LOOPS,
        inner=_SHORT_LOOPS,
        results=_RESULTS,
        state=("COUNTS", "SEEN", "PRICES", "STOP", "LINKS"),
    )
    return reading, replace(reading, statements=(*_CHANGING * 4, *_READING, *more))


TABLES_OF_NUMBERS = _grammars(
    "numbers",
    _NUMBERS_OUTSIDE,
    ("k % 40", "3", "$int", "-7", "$key + 1", "$key * 2 % 90"),
    ("k += $key", "k = k * 3 % 1000 + $key", "d[($key, $key)] = $size"),
)
TABLES_OF_WORDS = _grammars(
    "words",
    _WORDS_OUTSIDE,
    ("'the'", "'w3'", "f'w{k}'", "'w' + str($int)", "$key + 's'", "$key[:2]", "$key.lower()"),
    ("k += len($key)", "u = $key + ' ' + $key", "d[($key, $key)] = $size"),
)
