"""Random programs over lists of objects of a program's own classes, as arguments or attributes."""

from __future__ import annotations

from fusejit_testing.programs.everyday.grammar import Grammar
from fusejit_testing.programs.given.item_classes import HEAVY, IMPORTS, ITEMS, METHODS

_WORLD = """\
class World:
    def __init__(self, items):
        self.items = items
        self.count = 0
        self.total = 0.0
        self.best = None
        self.table = {}

    def first(self):
        return self.items[0]

    def add(self, item):
        if len(self.items) < 30:
            self.items.append(item)
        self.count += 1


WORLD = World([Item(1.5, 2, "a"), Heavy(-2.5, 1, "b", 3)])


def total_of(items, least=$size):
    total = 0
    for item in items:
        if item.n >= least:
            total += item.x
    return total


def best_of(items):
    best = None
    for item in items:
        if best is None or item.x > best.x:
            best = item
    return best


def swapped(items, i, j):
    items[i], items[j] = items[j], items[i]


def tagged(items, tag):
    for place, item in enumerate(items):
        if item.tag == tag:
            return place
    raise ValueError(f"no {tag}")


"""

_NUM = (
    *("$item.x", "$item.x", "$item.n", "$item.x * 0.5 + 1", "$item.half", "$item.area", "k", "s"),
    *("$item.pair[0]", "$item.pair[1]", "$item.scale", "$item.spot.x", "$item.spot.double", "1.5"),
    *("abs($item.x)", "min($item.n, 4)", "(0 if $item.opt is None else $item.opt)", "$size"),
    *("round($item.x, 1)", "len($item.tag)", "getattr($item, 'extra', 1)", "getattr($item, 'x')"),
    *(
        "$item.share($int)",
        "$num / $int",
        "$num / 2",
        "$num // $size",
        "$num + $num",
        "$num * 2",
        "-$num",
    ),
    *("2**53 + 1", "2**63", "True", "$nums[0]", "$nums[-1]", "sum($nums)", "len($items)", "0"),
    *(
        "sum([q.n for q in $items])",
        "max([q.x for q in $items], default=0)",
        "total_of($items)",
        "$item.size",
    ),
    *("sum(q.x for q in $items if q.n > 1)", "$spot.x", "$spot.n", "$spot.double", "int($num)"),
    *("$world.count", "$world.total", "$items.index($item)", "$items.count($item)", "float($num)"),
    *("$item.bump($size)", "tagged($items, $tag)", "($num if $cond else $num)", "max($num, $num)"),
)
_COND = (
    *("$item.x > $num", "$item.n % 2 == 0", "$item is $item", "$item.tag == $tag", "k > 3"),
    *("$item is not $item and $item.x >= $item.x", "$item.opt is None", "$item.tag in ('a', 'cc')"),
    *("best is None", "best is None or $item.x > best.x", "$num < $num", "$item in $items"),
    *("$item == $item", "$item != $item", "$item < $item", "isinstance($item, Heavy)", "$item.opt"),
    *("hasattr($item, 'extra')", "hasattr($item, 'opt')", "$items", "not $items", "$item.log"),
    *("type($item) is Item", "$item.pair == ($int, $num)", "$items is $list", "$item", "$num"),
    *("any(q.x > 3 for q in $items)", "all(q.n for q in $items)", "$item not in $items"),
    *("$tag in d", "len($item.tag) > 1", "$item.x == $num", "$items == $list", "$num in $nums"),
)
_CHANGES = (
    *("$item.x += $num", "$item.x += $num", "$item.x = $num", "$item.n += 1", "$item.x -= $num"),
    *("$item.n = $item.n * 2 % 7", "$item.bump($num)", "$item.tag = $tag", "$item.opt = $opt"),
    *(
        "$item.x, $item.n = $same_item.n, $item.x",
        "$item.pair = ($item.n, $num)",
        "$item.half = $num",
    ),
    *("$item.pair = ($num, None)", "$item.noted($num)", "$item.noted($item.pair)", "$item.x *= 2"),
    *("$item.spot = $spot", "$item.spot = $item.spot.moved($num)", "$item.scale = $num"),
    *("$item.extra = $num", "del $item.extra", "setattr($item, 'n', $int)", "$item.renamed($tag)"),
    *("setattr($item, 'extra', $num)", "del $item.opt", "delattr($item, 'tag')", "$item.log = []"),
    *(
        "if hasattr($item, 'extra'):\n    del $same_item.extra",
        "$item.log.clear()",
        "Item.scale = $num",
    ),
    *("$item.log = $item.log", "$item.other = $item", "$item.area", "$item.size += 1"),
    *("$item.n -= $item.n // 2", "$item.tag += 'z'", "$item.n = 2**53 + $int", "$item.x = 0.0"),
)
_ORDERS = (
    *("if len($list) < 40:\n    $same_list.append($item)",) * 2,
    *("$list.pop()", "$list.remove($item)", "del $list[$int]", "$list.insert($int, $item)"),
    *(
        "$list[$int] = $item",
        "$list[$int], $same_list[-1] = $same_list[-1], $same_list[$int]",
        "$list.reverse()",
    ),
    *(
        "swapped($list, $int, 0)",
        "$list[$int:] = $items[:9]",
        "$list[:] = $items[:20]",
        "$item.opt = None if $same_item.opt else $num",
    ),
    *(
        "$list[1:3] = []",
        "if len($list) < 20:\n    $same_list *= 2",
        "$list.sort(key=lambda q: q.x)",
    ),
    *(
        "if len($list) < 20:\n    $same_list += $items[:9]",
        "$list.sort(key=lambda q: (q.tag, q.n))",
    ),
    *("if len($list) < 20:\n    $same_list.extend($items[:9])", "$list.sort()", "$list.clear()"),
    *(
        "$list[::2] = $same_list[::-2]",
        "if $item in $list:\n    $same_list.remove($same_item)",
        "k += len($list)",
    ),
    *(
        "if $list:\n    $same_list[0], $same_list[-1] = $same_list[-1], $same_list[0]",
        "best = $list.pop(0)",
    ),
    *(
        "if len($list) > 3:\n    del $same_list[1::2]",
        "$list.sort(key=lambda q: -q.n, reverse=True)",
    ),
)
_READS = (
    *("s += $num", "s += $num", "k += 1", "k += $int", "best = $item", "best = $item", "u = $item"),
    *("if len(out) < 60:\n    out.append($item)", "nums.append($num)", "nums.append($num)"),
    *("names.append($tag)", "groups.setdefault($tag, []).append($item.n)", "d[$tag] = $item"),
    *("d[$tag] = $num", "groups[$tag] = [$item]", "u = $cond", "u = $items[:3]", "u = str($item)"),
    *("last = $item.closer($item)\ns += last.x", "u = $num", "if $cond:\n    best = $item"),
    *("try:\n    s += $num / $int\nexcept ZeroDivisionError:\n    k += 1", "u = f'{k} {s}'"),
    *("try:\n    best = $items[$int]\nexcept IndexError:\n    best = None", "u = [$item, $num]"),
    *("try:\n    u = $item.extra\nexcept AttributeError as error:\n    u = str(error)",),
    *("x, n = $item.spot\ns += x * n", "n, x = $item.pair\ns += x", "$world.count += 1"),
    *("$world.total += $num", "$world.best = $item", "$world.add($item)", "$world.table[$tag] = k"),
    *("out = sorted($items, key=lambda q: q.x)", "u = $item.closer", "u = vars($item)"),
    *("u = max($items, key=lambda q: q.n)", "out = [q for q in $items if $cond]", "k += $cond"),
    *("if $cond:\n    raise ValueError($tag)", "u = $spot", "spots.append($spot)", "s = $num"),
    *("spots = [Spot(q.x, q.n) for q in $items]", "assert $cond, k", "u = {q.tag: q for q in out}"),
    *("u = isinstance($item, Item)", "u = $item.tag, $item.x", "u = len({q.tag for q in $items})"),
)
_ITERATIONS = (
    *("for $new_item in $items:\n    $body",) * 5,
    *("for $new_item in $items[1:]:\n    $body", "for $new_item in $items[:5]:\n    $body"),
    *("for $new_item in reversed($items):\n    $body",),
    *("for $new_item in list($items):\n    $body",),
    *("for $new_item in sorted($items, key=lambda q: q.x):\n    $body",),
    *("for $new_int, $new_item in enumerate($items[:20]):\n    $body",) * 2,
    "for $new_int in range(len($items)):\n    $body",
    "for $new_int in range(min(6, len($items))):\n    $body",
    "for p in range(len($items)):\n    $new_item = $items[p]\n    $body",
    "for $new_item, $new_item in zip($items, $items[1:]):\n    $body",
    "for p in range(len($items)):\n    for q in range(p):\n        if $items[p].x < $items[q].x:\n"
    "            $body",
    "for $new_num in $nums[:12]:\n    $body",
    "for $new_num, $new_int in $spots[:12]:\n    $body",
    "for $new_spot in $spots[:12]:\n    $body",
    "for $new_int in range($size):\n    $body",
    "q = 0  # bound\nwhile q < 9:\n    q += 1  # bound\n    $body",
)
_BOUNDED = tuple(
    each.replace(" in $items:", " in $items[:30]:").replace("enumerate($items)", "enumerate(out)")
    for each in _ITERATIONS
)

OBJECTS = Grammar(
    outside=((IMPORTS,), ITEMS, METHODS, HEAVY, (_WORLD,)),
    parameters=(
        *("ps:list", "ps:list", "ps:list", "ps:list w:world", "ps:list qs:list", "ps:list qs:list"),
        *("w:world", "w:world", "w:world v:world", "ps:list nums:nums", "ps:list a:item", "a:item"),
        *("ps:list n:int", "ps:list y:num", "spots:spots", "spots:spots ps:list", "a:item b:item"),
        *("ps:list a:item n:int", "w:world nums:nums"),
    ),
    beginning="k, s, best, u = 0, 0.0, None, None\nit = Item(0.5, 1, 'it')\n"
    "out, spots = [it], [it.spot]\nnums, names, groups, d = [1.5], [], {}, {}",
    names={"int": ("k",), "list": ("out",), "item": ("it",)},
    fields={
        "size": ("1", "2", "3"),
        "int": ("$size", "0", "-1", "k % 3", "$item.n", "len($list) // 2", "len($list) - 1", "5"),
        "num": _NUM,
        "nums": ("[q.x for q in $items]", "nums", "$item.log", "[$num, $num]", "$nums[1:]"),
        "opt": ("None", "$item.n", "4", "$num", "$tag"),
        "tag": ("'a'", "'zz'", "$item.tag", "$item.tag + 'x'", "$item.tag[:1]", "f't{k}'"),
        "spot": ("Spot($num, $int)", "$item.spot", "Spot($num)", "$spot.moved($num)", "spots[-1]"),
        "spots": ("spots", "[q.spot for q in $items]", "sorted($spots)", "spots[:2]"),
        "world": ("WORLD",),
        "item": (
            *(
                "$items[0]",
                "$items[-1]",
                "$items[k % (len($items) or 1)]",
                "$items[len($items) // 2]",
            ),
            *(
                "$item.closer($item)",
                "max($items, key=lambda q: q.x)",
                "(best or it)",
                "$items[$int]",
            ),
            *("Item($num, $int, $tag)", "Heavy($num, $int, $tag, k)", "(best_of($items) or it)"),
            *(
                "($item if $cond else $item)",
                "(best if best is not None else it)",
                "$world.first()",
                "out[-1]",
            ),
            *("$item.renamed($tag)", "next((q for q in $items if q.n), it)", "min($items)"),
        ),
        "list": ("out", "$world.items", "WORLD.items"),
        "items": (
            *("$list", "$list", "$list", "$list[1:]", "[q for q in $items if q.n > 1]", "out"),
            *("$world.items", "sorted($items, key=lambda q: q.x)", "[$item, $item]", "$list[::-1]"),
            *("$list + $list", "[Item(v, 1, 'v') for v in $nums]", "[Heavy(1.5, 2, 'h', None)]"),
        ),
        "cond": _COND,
    },
    statements=(*_CHANGES * 2, *_ORDERS, *_READS),
    loops=_ITERATIONS,
    inner=_BOUNDED,
    results=(
        *("s", "k, s", "out", "nums", "best", "best, s, k", "out, nums", "names", "groups", "u"),
        *(
            "max($list, key=lambda q: q.x, default=None)",
            "min(q.x for q in $list)",
            "u, best",
            "d, out",
        ),
        *("sorted($list, key=lambda q: (q.tag, q.x))", "[q.tag for q in $list]", "$list, out"),
        *("sum([q.n for q in $list])", "any(q.x > 3 for q in $list)", "$list", "d", "spots, u"),
        *("{'best': best, 'k': k}", "[best, best]", "out, names, groups, d, best, u, k, s, spots"),
    ),
    state=("WORLD",),
    few=8,
)
