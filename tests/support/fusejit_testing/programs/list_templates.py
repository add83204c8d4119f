"""Statements of the random programs of `fusejit_testing.programs.list_programs`.

Fields: {a} and {b} are lists of numbers, {t} a list of tuples, {r} a list of lists, {x} an array,
{i} an integer, {v} an item, {c} a condition, {n} a small number, {q} and {w} new names.
"""

from __future__ import annotations

LIST_HELPERS = """\
LIMIT = 40


def pushed(items, item):
    if len(items) < 300:
        items.append(item)
    return items


def last_of(items, otherwise=0):
    if not items:
        return otherwise
    return items[-1]


def swapped(items, i, j):
    items[i], items[j] = items[j], items[i]


def doubled(items):
    made = []
    for item in items[:LIMIT]:
        made.append(item * 2)
    return made


def reset(items):
    old = items[:]
    items.clear()
    return old


def fresh(item):
    row = [item]
    row.append(item)
    return row


def either_list(items, others, flag):
    if flag:
        return items
    return others


"""

BEGINNINGS = {
    "a": (
        *("{a} = []", "{a} = []", "{a} = []", "{a} = [0]", "{a} = [1, 2, 3]", "{a} = [{v}, {v}]"),
        *("{a} = [{v}] * {m}", "{a} = [0] * len({x})", "{a} = [v for v in {x}]"),
        *("{a} = [v for v in {x} if v > {n}]", "{a} = list(range({m}))", "{a} = {x}.tolist()"),
        *("{a} = [j * 2 for j in range(len({x}))]", "{a} = list({x})", "{a} = [None] * {m}"),
        *("{a} = [True] * (len({x}) + 1)", "{a} = fresh({v})", "{a} = [j for j in range({m})]"),
    ),
    "b": ("{b} = {a}", "{b} = {a}[:]", "{b} = {a}.copy()", "{b} = list({a})", "{b} = {a} + {a}"),
    "t": ("{t} = []", "{t} = []", "{t} = [(0, {v})]", "{t} = [(j, v) for j, v in enumerate({x})]"),
    "r": (
        *("{r} = []", "{r} = []", "{r} = [[] for _ in range({m})]", "{r} = [[0], [1]]"),
        *("{r} = [[0] * len({x}) for _ in range({m})]", "{r} = [{a}, {b}]", "{r} = [[0] * 3] * 3"),
        *("{r} = [[j] for j in range({m})]", "{r} = [{a}]", "{r} = [[1, 2], [3], []]"),
    ),
}

NUMBERS = (
    *("{a}.append({v})",) * 6,
    *("if len({a}) < 200:\n    {a}.append({v})",) * 2,
    *("{a}.pop()", "{a}.pop(0)", "{a}.pop({i})", "{u} = {a}.pop()", "if {a}:\n    {a}.pop()"),
    *("if len({a}) > 2:\n    {u} = {a}.pop({n})", "if {a}:\n    {u} = {a}[-1]", "{a}.clear()"),
    *("{a}.insert({i}, {v})", "{a}.insert(0, {v})", "if {v} in {a}:\n    {a}.remove({v})"),
    *("{a}.reverse()", "{a}.sort()", "{a}.sort(reverse=True)", "{a} = sorted({a})"),
    *("{a}.sort(key=lambda item: -item)", "{b} = sorted({a}, key=lambda item: item % 3)"),
    *("{a}[{i}] = {v}", "if {a}:\n    {a}[-1] = {v}", "{a}[{i}] += {n}", "del {a}[{i}]"),
    *("if len({a}) > {i}:\n    {a}[{i}] = {v}", "del {a}[{i}:]", "del {a}[:{n}]", "del {a}[1:{i}]"),
    *("if len({a}) > 1:\n    {a}[0], {a}[-1] = {a}[-1], {a}[0]", "swapped({a}, {i}, 0)"),
    *("if len({a}) < 100:\n    {a}.extend({b})", "if len({a}) < 100:\n    {a} += {b}[:{n}]"),
    *("if len({a}) < 100:\n    {a} += [{v}, {v}]", "if len({a}) < 100:\n    {a}.extend({x})"),
    *("if len({a}) < 60:\n    {a} = {a} + {b}", "if len({a}) < 60:\n    {b} = {a} * 2"),
    *("{a} = []", "{a} = [{v}]", "{a} = {b}", "{b} = {a}", "{a}, {b} = {b}, {a}", "{b} = {a}[:]"),
    *("{a} = {a}[{i}:]", "{a} = {b}[:{i}]", "{a} = {a}[::-1]", "{b} = {a}[{n}::2]", "{b} = {a}"),
    *("{a} = [w for w in {b} if w != {n}]", "{a} = [w + {n} for w in {a}]", "{b} = {a}[1:-1]"),
    *("{a} = {b} if {c} else {a}", "{a} = [{v}] * {n}", "{a} = doubled({b})", "{a} = fresh({v})"),
    *("pushed({a}, {v})", "{a} = pushed({b}, {v})", "{b} = reset({a})", "{u} = last_of({a})"),
    "{a} = either_list({a}, {b}, {c})",
    *("if len({a}) > len({b}):\n    {b} = {a}", "if len({a}) > len({b}):\n    {b} = {a}[:]"),
    *("if {c}:\n    {a} = []\nelse:\n    {a}.append({v})", "if {c}:\n    {a} = {b}"),
)
LESS_USUAL = (
    *("{a}[{n}:{i}] = {b}[:2]", "{a}[:] = {b}", "{a}[1:] = []", "{a} *= 2", "del {a}[:]"),
    *("{u} = {a} < {b}", "{u} = max({a}, key=lambda item: -item)", "{u} = max({a}, default=None)"),
    *(
        "if len({a}) < 90:\n    {a}.extend(range({n}))",
        "{a}.extend(w + 1 for w in {x})",
        "{a}.pop(-1)",
    ),
    *("{u} = {a}.index({v}, 1)", "if len({a}) > 1:\n    {a}.pop(-2)", "{a}.insert(-1, {v})"),
    *("{a} = [*{b}, {v}]", "if len({a}) > 1:\n    u, s = {a}[:2]", "if {a}:\n    u, *{b} = {a}"),
    *("{u} = tuple({a})", "{a} = list(map(float, {a}))", "{a} = [w for w in {a} if w in {b}]"),
    *(
        "{a} = list(reversed({a}))",
        "{b} = list({a})",
        "{u} = isinstance({a}, list)",
        "{u} = type({a})",
    ),
    *(
        "{u} = {a}[{n}:{i}]",
        "{u} = {a}",
        "{u} = ({a}, {b})",
        "{u} = [{a}, {v}]",
        "{u} = {a} or {b}",
    ),
    *(
        "{a} = {a} and {b}",
        "{a} = {b} or [{v}]",
        "{u} = {a}.copy()\n{a}.append({v})",
        "{u} = sum({a}, 0.0)",
    ),
    *(
        "if len({a}) > 3:\n    {a} = {a}[-3:]",
        "while len({a}) > 3:\n    {a}.pop(0)",
        "{a}.sort(key=abs)",
    ),
    *("for p in range(len({a}) - 1, -1, -1):\n    if {a}[p] == {v}:\n        del {a}[p]",),
    *(
        "for p in range(len({a})):\n    for q in range(p):\n        if {a}[q] > {a}[p]:\n"
        "            {a}[q], {a}[p] = {a}[p], {a}[q]",
    ),
    *(
        "p = 0\nwhile p < len({a}) and {a}[p] != {v}:\n    p += 1\nif p == len({a}):\n"
        "    {a}.append({v})",
    ),
    *(
        "def added(item):\n    {a}.append(item)\n    return len({a})\nif len({a}) < 99:\n"
        "    k += added({v})",
    ),
    *(
        "assert len({a}) < 90, k",
        "{s} = {s} + len({a}) * 0.5",
        "{a}.append(k) if {c} else {b}.append({v})",
    ),
    *(
        "k += 1 if {v} in ({n}, {i}) else 2",
        "{u} = {x}[{a}[0]] if {a} else None",
        "{u} = np.array({r})",
    ),
    *(
        "{r} = [{a}[:p] for p in range({n})]",
        "{r} = [[p, w] for p, w in enumerate({a})]",
        "{u} = {r} == [{a}]",
    ),
    *(
        "{a} = sum({r}, [])",
        "{t} = list(zip({a}, {x}))",
        "for p, q in zip({a}, {a}[1:]):\n    {s} += q - p",
    ),
    *(
        "{a} = [p for p, q in zip({a}, {b}) if p != q]",
        "{u} = sorted({r})",
        "{a} = max({r}, key=len)",
    ),
    *(
        "{a} = [p * q for p in {a}[:3] for q in {b}[:3]]",
        "{r}.append(sorted({a}))",
        "{u} = {r}[-1:]",
    ),
    *("if {r} and {r}[-1] and {r}[-1][-1] == {v}:\n    {r}[-1].pop()", "{r}[{i}].extend({a}[:3])"),
    *("if {r}:\n    {r}[0], {a} = {a}, {r}[0]", "{u} = {t}[:2]", "{a} = [p for p, *q in {t}]"),
    *("if {t}:\n    {u} = max({t}, key=lambda item: item[1])", "{u} = {t}.index(({n}, {v}))"),
    *(
        "if {t}:\n    (p, q), *{t} = {t}\n    {s} += p",
        "for p, (q, w) in enumerate({t}):\n    k += p > q",
    ),
    *(
        "{u} = ', '.join([str(w) for w in {a}])",
        "{u} = len(set({a}))",
        "{a} = {x}.tolist()",
        "{u} = {x} + {a}",
    ),
)

TUPLES = (
    *("{t}.append(({i}, {v}))",) * 4,
    *(
        "if {t}:\n    {u} = {t}[-1][1]",
        "if {t}:\n    k, u = {t}.pop()",
        "{t}.sort()",
        "{t} = {t}[1:]",
    ),
    *("{t}.sort(key=lambda item: item[1])", "{t} = sorted({t}, reverse=True)", "{t}.reverse()"),
    *("for p, q in {t}:\n    k += 1\n    if q == {v}:\n        break", "{t}.insert(0, (k, {v}))"),
    *("{a} = [q for p, q in {t}]", "{b} = [p for p, q in {t} if p > {n}]", "{t}.clear()"),
    *("{t} = [({n}, {v})]", "{t}.append((k, None))", "{t}.append((k, {v}, 'up'))", "{t}.pop()"),
    *(
        "if ({n}, {v}) in {t}:\n    k += 1",
        "{t} = list(enumerate({a}))",
        "{t} = list(zip({a}, {b}))",
    ),
    *(
        "if {t}:\n    {t}[-1] = ({i}, {v})",
        "if len({t}) > 1 and {t}[-1] == {t}[-2]:\n    {t}.pop()",
    ),
)
ROWS = (
    *("{r}.append({a})", "{r}.append({a}[:])", "{r}.append([])", "{r}.append([{v}])"),
    *("row = []\nrow.append({v})\n{r}.append(row)", "{r}.append({a})\n{a} = []"),
    *("row = [{v}]\n{r}.append(row)\nrow.append({n})", "if {r}:\n    {r}[-1].append({v})"),
    *("{r}[{i}].append({v})", "{r}[{i}][{n}] = {v}", "{r}[{i}] = {a}", "{r}[{i}] = [{v}]"),
    *("if {r}:\n    row = {r}[0]\n    row.append({v})", "for row in {r}:\n    row.append({n})"),
    *("if {r}:\n    {a} = {r}.pop()", "if {r}:\n    {b} = {r}[-1]", "if {r}:\n    {a} = {r}[0][:]"),
    *(
        "if len({r}) > 1:\n    {r}[0], {r}[-1] = {r}[-1], {r}[0]",
        "{r}.reverse()",
        "{r} = {r}[::-1]",
    ),
    *("if len({r}) > 1:\n    {r}[0] = {r}[1]", "{r} = [row[:] for row in {r}]", "{r} = []"),
    *("k += sum([len(row) for row in {r}])", "for row in {r}:\n    if row:\n        {u} = row[-1]"),
    *(
        "for row in {r}:\n    for w in row:\n        k += w == {n}",
        "{r}.sort(key=len)",
        "del {r}[0]",
    ),
    *("{r} = [[{v}] * {n} for _ in range({n})]", "{a} = [w for row in {r} for w in row]"),
    *("pushed({r}[{n}], {v})", "{r}.append(fresh({v}))", "{a} = [len(row) for row in {r}]"),
    *("if {a} in {r}:\n    k += 1", "{r}.append([{a}[0], {v}])", "{r}.insert(0, [{v}])"),
)
READS = (
    *("k += len({a})", "k += {a}.count({v})", "k += {a}.index({v})", "k += {v} in {a}", "k += 1"),
    *("{s} += {a}[{i}]", "if {a}:\n    {s} += {a}[0]", "{u} = {v}", "{u} = sum({a})", "{s} = {v}"),
    *("if {a}:\n    {u} = max({a})", "{u} = min({a})", "k += any({a})", "k += all({a})"),
    *(
        "k += {a} is {b}",
        "k += {a} == {b}",
        "{u} = {a} == [{v}]",
        "k += not {a}",
        "{u} = bool({a})",
    ),
    *(
        "{u} = np.array({a})",
        "{u} = np.sum({a})",
        "{u} = len({a}), {v}",
        "k += any(w > {n} for w in {a})",
    ),
    *(
        "for p, w in enumerate({a}):\n    {s} += p * w",
        "for w in reversed({a}):\n    {s} = {s} + w",
    ),
    *("for p, w in zip({a}, {b}):\n    {s} += w", "for w in {a}[::-1]:\n    {u} = w", "k -= 1"),
    *(
        "{x}[{i}] = {n}",
        "{x}[0] = k",
        "if {x}.size:\n    {x}[-1] += 1",
        "for w in {a}:\n    {u} = w",
    ),
    *("for w in {a}:\n    if len({a}) < 50 and w != {n}:\n        {a}.append({n})",),
    *(
        "while len({a}) > {n}:\n    {a}.pop()",
        "k = k * 2 + 1",
        "k = k * 3037000499",
        "{u} = {a}[{i}]",
    ),
    *("while {a} and {a}[-1] > {v}:\n    {u} = {a}.pop()",),
    *("try:\n    {u} = {a}[{i}]\nexcept IndexError:\n    k += 3", "if {c}:\n    return {a}, k"),
    *("try:\n    {a}.pop({n})\n    k += 1\nexcept IndexError as error:\n    {u} = str(error)",),
    *(
        "try:\n    k += {a}.index({v})\nexcept ValueError:\n    k -= 3",
        "if {c}:\n    return [{a}, {a}]",
    ),
    *(
        "if k > 90:\n    raise ValueError(f'{{k}} is too much')",
        "if {c}:\n    raise IndexError('no')",
    ),
)
IN_LOOPS = (
    "if {c}:\n    break",
    "if {c}:\n    continue",
    "if {c}:\n    {a}.append({v})\n    continue",
)

VALUES = {  # items by what the lists of a program hold; those with {j} are of loops over indices
    "ints": ("{j}", "{j} * 2", "-{j}", "k", "len({a})", "{n}", "{j} % 3", "({j} * 7) % 5", "LIMIT"),
    "elements": ("{x}[{j}]", "{x}[{j}]", "{x}[{j}] + 1", "{x}[{j}] * 0.5", "{x}[{n}]"),
    "floats": ("float({x}[{j}])", "{j} * 0.5", "0.5", "-0.0", "float({j})", "{n} / 2", "1.5"),
    "bools": ("({x}[{j}] > 1)", "({j} > 2)", "True", "False", "bool({x}[{j}] > 0)", "(not {a})"),
    "large": ("2**62 + {j}", "k", "2**63 - 1", "-2**63", "{j}", "int({x}[{j}])", "{x}[{j}]"),
    "texts": ("'up'", "'down'", "('up' if {c} else 'down')"),
    "special": ("float('nan')", "np.nan", "-0.0", "np.inf", "{x}[{j}]", "0.0", "np.float64(0.0)"),
}
MIXED = {
    "numbers": ("ints", "elements", "floats"),
    "all": ("ints", "elements", "floats", "bools"),
    "none": ("ints", "none"),
    "elements and none": ("elements", "none"),
    "words": ("texts",),
}
VALUES["none"] = ("None",)

CONDITIONS = (
    *("{x}[{j}] > {n}", "{x}[{j}] > 0", "{j} % 2 == 0", "{j} > {n}", "len({a}) > {n}", "{a}"),
    *(
        "not {a}",
        "k > 5",
        "len({a}) < len({b})",
        "{x}[{j}] < 1 and {a}",
        "{a} is {b}",
        "k % 3 == 0",
    ),
    *("{j} == {n}", "len({r}) > {n}", "{a} and {a}[-1] == {v}", "{x}.sum() > {n}", "k == 7"),
)
LOOPS = (
    *("for {q} in range(len({x})):",) * 5,
    *("for {q} in range({n}, len({x})):", "for {q} in range(len({x}) - 1, -1, -1):"),
    *("for {q} in range({m}):", "for {q}, {w} in enumerate({x}):", "for {w} in {x}:"),
    *("for {w} in {a}:", "for {w} in {a}[:]:", "for {q} in range(len({a})):", "for {w} in {b}:"),
    *("for {q} in range(k % 5):", "for {q}, {w} in enumerate({a}):", "for {w} in list({a}):"),
)
WHILES = ("{a}", "len({a}) < 30", "{a} and {c}", "True", "{q} < len({x})", "k < 20", "len({a}) > 1")

RESULTS = (
    *(
        "a",
        "a, b",
        "a, b, k",
        "[a, b]",
        "a, a",
        "t",
        "r",
        "r, a",
        "a, b, t, r, k, s, u",
        "(a, k), [b]",
    ),
    *(
        "len(a), k, s",
        "np.array(a)",
        "a[-1]",
        "a is b, a, b",
        "[a, [a, b], k]",
        "r, r[:], a",
        "u, a",
    ),
    *(
        "sorted(a), a",
        "a[::-1], b",
        "sum(a), k",
        "{'a': a, 'b': b}",
        "[row for row in r]",
        "r, t, b",
    ),
    *("[tuple(a), a]", "a, x", "a, b, r", "r, u", "a, b, r, u, s", "t, a, u"),
)
