"""Random programs with functions that call themselves, and with nonlocal names."""

from __future__ import annotations

from fusejit_testing.programs.everyday.grammar import Grammar

_OF_NUMBERS = """\
def steps(n, acc=$size):
    global CALLS
    CALLS += 1
    if n <= $size:
        return $leaf
    if $acond:
        return steps(n - $size, $acc) $sign $leaf
    return $combined


def known(n, memo):
    if n < 2:
        return n
    if n not in memo:
        memo[n] = known(n - 1, memo) $sign known(n - $two, memo) * $size
    return memo[n]


def kept(n):
    if n in MEMO:
        return MEMO[n]
    MEMO[n] = value = $size if n < 3 else kept(n - 1) + kept(n // 2)
    return value


def is_even(n):
    return True if n == 0 else is_odd(abs(n) - 1)


def is_odd(n):
    return False if n == 0 else is_even(abs(n) - 1)


def divisor(a, b):
    return a if b == 0 else divisor(b, a % b)


def power(base, n):
    if n == 0:
        return 1
    half = power(base, n // 2)
    return half * half * (base if n % 2 else 1)


@lru_cache
def ways(n, k=3):
    if n < 0:
        return 0
    return 1 if n == 0 else sum(ways(n - j, k) for j in range(1, k + 1))


def collatz(n, depth=0):
    if n <= 1 or depth > 60:
        return depth
    return collatz(n // 2 if n % 2 == 0 else 3 * n + 1, depth + 1)


"""
_OF_LISTS = """\
def total(items):
    if not items:
        return 0
    return items[0] + total(items[1:])


def of_place(items, k=0):
    if k == len(items):
        return $size
    rest = of_place(items, k + 1)
    return rest $sign items[k] if items[k] > $size else rest


def halved(items, low, high):
    if high - low < 2:
        return items[low] if low < high else 0
    middle = (low + high) // 2
    return max(halved(items, low, middle), halved(items, middle, high))


def found(items, goal, low, high):
    if low >= high:
        return -1
    middle = (low + high) // 2
    if items[middle] == goal:
        return middle
    if items[middle] < goal:
        return found(items, goal, middle + 1, high)
    return found(items, goal, low, middle)


def ordered(items):
    if len(items) < 2:
        return items
    pivot = items[0]
    less = [v for v in items[1:] if v < pivot]
    return ordered(less) + [pivot] + ordered([v for v in items[1:] if v >= pivot])


def merged(items):
    if len(items) < 2:
        return items[:]
    middle = len(items) // 2
    left, right = merged(items[:middle]), merged(items[middle:])
    made, i, j = [], 0, 0
    while i < len(left) and j < len(right):
        if left[i] <= right[j]:
            made.append(left[i])
            i += 1
        else:
            made.append(right[j])
            j += 1
    return made + left[i:] + right[j:]


def flat(tree):
    made = []
    for part in tree:
        if isinstance(part, list):
            made.extend(flat(part))
        else:
            made.append(part)
    return made


def deepest(tree):
    if not isinstance(tree, list):
        return 0
    return 1 + max((deepest(part) for part in tree), default=0)


def summed(tree, weight=1):
    if isinstance(tree, list):
        return sum([summed(part, weight + 1) for part in tree])
    return tree * weight


def filled(grid, r, c):
    if r < 0 or c < 0 or r >= len(grid) or c >= len(grid[r]) or grid[r][c] != 1:
        return 0
    grid[r][c] = $size + 1
    return 1 + filled(grid, r + 1, c) + filled(grid, r, c + 1) + filled(grid, r - 1, c)


def paths(grid, r, c, memo):
    if r >= len(grid) or c >= len(grid[r]) or not grid[r][c]:
        return 0
    if r == len(grid) - 1 and c == len(grid[r]) - 1:
        return 1
    if (r, c) not in memo:
        memo[r, c] = paths(grid, r + 1, c, memo) + paths(grid, r, c + 1, memo)
    return memo[r, c]


"""
_BACKTRACKING = """\
def subsets(items, at, chosen, made):
    if at == len(items):
        made.append($taken)
        return
    subsets(items, at + 1, chosen, made)
    chosen.append(items[at])
    subsets(items, at + 1, chosen, made)
    chosen.pop()


def arranged(items, chosen, used, made):
    if len(chosen) == len(items):
        made.append($taken)
        return
    for k in range(len(items)):
        if not used[k]:
            used[k] = True
            chosen.append(items[k])
            arranged(items, chosen, used, made)
            chosen.pop()
            used[k] = False


def sums_to(items, goal, at, chosen):
    if goal == 0:
        return [$taken]
    if goal < 0:
        return []
    made = []
    for k in range(at, len(items)):
        if items[k] > 0:
            chosen.append(items[k])
            made += sums_to(items, goal - items[k], k + 1, chosen)
            chosen.pop()
    return made


def queens(n, row, columns):
    if row == n:
        return 1
    count = 0
    for c in range(n):
        if all(c != d and abs(c - d) != row - r for r, d in enumerate(columns)):
            columns.append(c)
            count += queens(n, row + 1, columns)
            columns.pop()
    return count


def brackets(left, right, text):
    if left == 0 and right == 0:
        return [text]
    made = []
    if left:
        made += brackets(left - 1, right, text + "(")
    if right > left:
        made += brackets(left, right - 1, text + ")")
    return made


def distance(s, t, memo):
    if not s or not t:
        return len(s) + len(t)
    key = (len(s), len(t))
    if key not in memo:
        if s[0] == t[0]:
            memo[key] = distance(s[1:], t[1:], memo)
        else:
            memo[key] = 1 + min(distance(s[1:], t, memo), distance(s, t[1:], memo))
    return memo[key]


def turned(text):
    return text if len(text) < 2 else turned(text[1:]) + text[0]


def towers(n, start, goal, spare, moves):
    if n > 0:
        towers(n - 1, start, spare, goal, moves)
        moves.append((start, goal))
        towers(n - 1, spare, goal, start, moves)


"""
_BEGINNING = """\
k, u, count = 0, None, 0
out, memo = [], {}
def tick(by=1):
    nonlocal count
    count += by
    return count
def nested(n):
    nonlocal k
    if n <= 0:
        return tick()
    k += 1
    out.append(n)
    return nested(n - 2) + n
def pick(items, at):
    nonlocal u, count
    if at >= len(items):
        return count
    if items[at] > 0:
        count += items[at]
        u = items[at]
    else:
        tick(2)
    return pick(items, at + 1)"""

RECURSIONS = Grammar(
    outside=(
        ("from functools import lru_cache\n\nMEMO = {}\nCALLS = 0\n\n\n",),
        (_OF_NUMBERS,),
        (_OF_LISTS,),
        (_BACKTRACKING,),
    ),
    parameters=(
        *("n:int", "n:int", "n:int xs:ints", "xs:ints", "xs:ints", "tree:tree", "grid:grid"),
        *("s:text", "s:text t:text", "n:int tree:tree", "grid:grid n:int"),
    ),
    beginning=_BEGINNING,
    names={"int": ("k",), "ints": ("out",)},
    fields={
        "size": ("1", "2", "3"),
        "two": ("1", "2"),
        "sign": ("+", "+", "-", "*"),
        "leaf": ("n", "acc", "1", "n + acc", "(n, acc)[0]", "acc * 2"),
        "acc": ("acc + n", "acc", "acc * $size % 1000", "n % 4"),
        "acond": ("n % 2 == 0", "acc > 4", "n > 6", "n % 3 == 1 and acc", "False"),
        "combined": (
            *("steps(n - 1, $acc) $sign steps(n - 2, acc)", "n $sign steps(n - $size, $acc)"),
            *("steps(n // 2, $acc) $sign steps(n - 2, $acc)", "steps(n - 1, steps(n - 2) % 7)"),
            *("max(steps(n - 1, $acc), steps(n - $size, $acc))",),
        ),
        "taken": ("chosen[:]", "list(chosen)", "tuple(chosen)", "sum(chosen)", "chosen.copy()"),
        "small": ("$int % 9", "$size", "min($int, 8)", "abs($int) % 6", "4"),
        "int": (
            *("steps($small)", "steps($small, $size)", "known($small, {})", "known($small, memo)"),
            *("kept($small)", "divisor($int, $small)", "power($size, $small)", "ways($small)"),
            *(
                "collatz($int % 50)",
                "total($ints[:20])",
                "of_place($ints[:20])",
                "queens($size + 1, 0, [])",
            ),
            *("halved($ints, 0, len($ints))", "found(sorted($ints), $int, 0, len($ints))", "$size"),
            *("deepest($tree)", "summed($tree)", "filled($grid, 0, 0)", "paths($grid, 0, 0, {})"),
            *("distance($text[:6], $text[:5], {})", "nested($small)", "tick()", "count", "-1"),
            *("pick($ints[:20], 0)", "len($ints)", "is_even($small)", "len(turned($text[:9]))"),
        ),
        "ints": (
            *("ordered($ints[:20])", "merged($ints[:20])", "$ints[1:]", "flat($tree)", "[3, 1, 2]"),
            *("list(range($small))", "[steps(v) for v in range($small)]", "$ints[::-1]"),
        ),
        "tree": ("[1, [2, [3]], []]", "[$ints, [$ints]]"),
        "grid": ("[[1, 1], [0, 1]]", "[[1] * $size for _ in range($size)]"),
        "text": ("'kitten'", "turned($text[:9])", "str($int)", "$text[1:]", "'sitting'"),
        "cond": ("$int > $int", "is_even($small)", "k % 3 == 1", "$ints", "count > 4", "$int == 2"),
    },
    statements=(
        *("k += $int",) * 3,
        *("out.append($int)", "out.append($int)", "u = $int", "u = $ints", "k = $int % 1000"),
        *("found_sets = []\nsubsets($ints[:4], 0, [], found_sets)\nu = found_sets",),
        *("made = []\narranged($ints[:3], [], [False] * 3, made)\nu = len(made), made[:2]",),
        *("u = sums_to($ints[:6], $int % 12, 0, [])", "u = brackets($size, $size, '')"),
        "moves = []\ntowers($size, 'a', 'b', 'c', moves)\nu = moves",
        *("u = flat($tree)", "u = ordered($ints[:20])", "u = merged($ints[:20])", "nested($small)"),
        *("tick($size)", "pick($ints[:20], 0)", "u = turned($text[:9])", "memo[$small] = $int"),
        *("u = [steps(v) for v in $ints[:5] if v < 9]", "MEMO[$small] = $size", "u = $int, $int"),
        *("try:\n    k += total($tree)\nexcept TypeError:\n    k -= 1", "k += $cond"),
        "def local(n):\n    return n if n < 2 else local(n - 1) + local(n - 2)\nk += local($small)",
        *("if $int > 40:\n    raise ValueError(f'{k}')", "u = [ways(v) for v in range($small)]"),
    ),
    loops=(
        *("for $new_int in range($small):\n    $body",) * 4,
        *("for $new_int in $ints[:6]:\n    $body",) * 4,
        *("for r in range(len($grid)):\n    for c in range(len($grid[0])):\n        $body",),
        "for $new_int, $new_int in enumerate($ints[:6]):\n    $body",
        "q = 0  # bound\nwhile q < 5:\n    q += 1  # bound\n    $body",
    ),
    results=(
        *("k", "out", "u", "k, count", "u, k", "memo", "k, u, out, memo, count", "CALLS, k"),
        *("MEMO", "out, count", "sorted(memo.items())", "$int", "$ints", "max(out)", "$grid, k"),
    ),
    state=("MEMO", "CALLS"),
)
