"""Random programs over lists of tuples that hold lists, and over tuples of any length.

``queue.append((n, path + [n]))``: each is a function of an array. It has lists of numbers ``a`` and
``b``, a list of lists ``r``, and a list ``h`` of tuples of a number and a list, which is filled,
ordered, taken apart and returned. ``seen.add(tuple(state))``: others have a tuple ``st``, a set
``seen`` and a dictionary ``c`` with such keys, and a list of tuples ``ts``.
"""

from __future__ import annotations

import random

from fusejit_testing.programs.list_programs import Maker, calls_of
from fusejit_testing.programs.list_templates import LIST_HELPERS, NUMBERS, READS, ROWS
from fusejit_testing.programs.mutation_programs import MutationProgram, Parameter, parse

_BEGINNINGS = ("h = []",) * 4 + ("h = [(0, [0])]", "h = [(1, []), (0, [2, 3])]", "h = [(0, a)]")
_ROWS = ("r = []", "r = [[0], [1]]", "r = [a, b]", "r = [[0] * 3 for _ in range(3)]")
_FILLING = (
    *("{h}.append(({i}, {a}[:]))",) * 3,
    *("{h}.append(({i}, {a}))", "{h}.append(({i}, [{v}]))", "{h}.append((k, []))"),
    *("{h}.append((k, {a} + [{v}]))", "{h}.insert(0, (k, [{v}]))", "{h}.append(({i}, {b}[:2]))"),
    *("if {h}:\n    p, row = {h}[-1]\n    {h}.append((p + 1, row + [{v}]))",) * 2,
    *("row = [{v}]\n{h}.append((k, row))\nrow.append({n})", "{h}.append((k, doubled({a})))"),
    *("if {h}:\n    {h}.append({h}[0])", "if {r}:\n    {h}.append((k, {r}[0]))"),
    *("heapq.heappush({h}, ({i}, {a}[:]))", "if {h}:\n    {h}[0] = ({n}, {a}[:])"),
    *("{h} = [(p, row[:]) for p, row in enumerate({r})]", "{h} = [(p, [p]) for p in range({n})]"),
)
_TAKING = (
    *("if {h}:\n    k, row = {h}.pop()\n    {s} = sum(row)",) * 2,
    *("if {h}:\n    k, {a} = {h}.pop()", "if {h}:\n    k, row = heapq.heappop({h})"),
    *("if {h}:\n    p, row = {h}.pop(0)\n    {h}.append((k, row))", "{h}.clear()", "{h} = {h}[1:]"),
    *("if {h}:\n    p, row = {h}.pop()\n    row.append({n})", "if {h}:\n    {h}[0][1].append({v})"),
    *("{h}.reverse()", "{h} = {h}[::-1]", "{h}.sort()", "{h} = sorted({h}, reverse=True)"),
    *("{h}.sort(key=lambda item: (len(item[1]), item[0]))", "{h}.sort(key=lambda item: item[1])"),
    *("if len({h}) > 1:\n    {h}[0], {h}[-1] = {h}[-1], {h}[0]", "if {h}:\n    del {h}[0]"),
    *("if len({h}) > 1:\n    {h}[1] = {h}[0]", "{h} = {h} + {h}[:1]", "{h}[:{n}] = {h}[1:]"),
)
_READING = (
    *("for p, row in {h}:\n    k += len(row)\n    for w in row:\n        {s} = w",) * 2,
    *("for p, row in {h}:\n    if len(row) > len({a}):\n        {a} = row",) * 2,
    *(
        "if {h}:\n    {b} = {h}[0][1]",
        "if {h}:\n    {u} = {h}[-1][1]",
        "{u} = min({h}, default=None)",
    ),
    *("{r} = [row for p, row in {h}]", "{r} = [row[:1] for p, row in {h}]", "k += len({h})"),
    *("if {h} and {h}[0][1] is {a}:\n    k += 1", "if {h} and {h}[0][1] == {a}:\n    k += 1"),
    *(
        "if {h} and {c}:\n    return {h}[-1][1]",
        "if {c}:\n    return {h}, k",
        "k += ({n}, []) in {h}",
    ),
    *("if {h}:\n    {u} = max({h}, key=lambda item: len(item[1]))",),
    *("if {h}:\n    p, row = {h}[-1]\n    if {c}:\n        row = {h}[0][1]\n    k += len(row)",),
)
_RESULTS = (
    *("h", "h, a", "h, k, s", "h, b", "[h, a]", "k, s, a", "u, k", "h[::-1], k", "r, k", "a, b, h"),
    *("h, r", "h[-1] if h else None", "h, u", "a, b, r, h, k, s, u", "[row for p, row in h], k"),
)


_STATES = (
    *("st = tuple({a})", "st = tuple({a}[:{n}])", "st = st[1:] + ({v},)", "st = st + st[:1]") * 2,
    *(
        "st += ({v},)",
        "st = st[::-1]",
        "st = tuple(w + 1 for w in {a})",
        "st = st * 2",
        "st = st[:4]",
    ),
    *("seen.add(st)", "seen.add(tuple({b}))", "c[st] = c.get(st, 0) + 1", "c[tuple({a}[:2])] = k"),
    *(
        "ts.append(st)",
        "ts.append(tuple({a}))",
        "ts.append(st[:{n}])",
        "{a} = list(st)",
        "old = st",
    ),
    *(
        "if ts:\n    st = ts[-1]",
        "if ts:\n    st = ts.pop()",
        "if ts:\n    ts[0] = st",
        "ts.reverse()",
    ),
    *(
        "if {c}:\n    st = tuple({b})",
        "ts.sort()",
        "if st in c:\n    del c[st]",
        "seen.discard(st)",
    ),
    *("seen.add(({n}, k))", "ts.append(({n}, {n}))", "st = ({n},)", "c[({n}, 1)] = k"),
    *("u = st and st[0]", "st = (*st, {n})", "st = (k, *st[:2])", "{a} = [*st, {n}]"),
)
_ASKING = (
    *("if st in seen:\n    k += 1", "k += len(st)", "for w in st:\n    {s} = w", "k += {v} in st"),
    *("if st and st[0] == {v}:\n    k += 1", "k += st == tuple({a})", "k += st < tuple({b})"),
    *(
        "if ts:\n    {u} = max(ts)",
        "k += st is old",
        "for w in ts:\n    k += len(w)",
        "k += st in ts",
    ),
    *("for w, p in c.items():\n    k += p * len(w)", "if {c}:\n    return st, k", "{u} = st[-1:]"),
    *("if len(st) > 2:\n    {u} = st[1]", "k += isinstance(st, tuple)", "{u} = st.count({v})"),
)
_STATE_RESULTS = (
    *("ts", "st, k", "c", "len(seen), len(c)", "sorted(ts), u", "a, st, old", "st, c, k, s, u"),
    *("ts, st", "[st, ts, [st]]", "sorted(seen)", "(st, k), a", "old, st, ts[-1:]"),
)


def state_program(seed: int) -> MutationProgram:
    """The program of a seed, with tuples of any length."""
    rng = random.Random(f"states {seed}")
    groups = [(_STATES, 8), (_ASKING, rng.choice((2, 5))), (NUMBERS, 4), (READS, 1)]
    lines = ["a.append(0)", "st = tuple(a)", "old = st", "seen, c, ts = set(), {}, []"]
    if rng.random() < 0.3:
        lines[0] = "a.extend(range(4))"
    return _program(seed, rng, groups, lines, _STATE_RESULTS)


def held_program(seed: int) -> MutationProgram:
    """The program of a seed, with lists in tuples."""
    rng = random.Random(f"held {seed}")
    groups = [(_FILLING, 8), (_TAKING, rng.choice((2, 5))), (_READING, rng.choice((2, 5)))]
    groups += [(NUMBERS, 4), (READS, 1), (ROWS, rng.choice((0, 0, 2)))]
    beginnings = [rng.choice(choices) for choices in (_BEGINNINGS, _ROWS)]
    return _program(seed, rng, groups, beginnings, _RESULTS)


def _program(
    seed: int,
    rng: random.Random,
    groups: list[tuple[tuple[str, ...], int]],
    beginnings: list[str],
    results: tuple[str, ...],
) -> MutationProgram:
    maker = Maker(rng, ["x"], rng.choice(("ints", "ints", "elements", "floats", "numbers")))
    maker.groups = groups
    lines = ["k = 0", "s = 0.0", "u = None", "a, b = [], []", *beginnings]
    lines += [maker.compound(2) for _ in range(rng.choice((0, 1)))]
    lines.append(maker.loop(0) if rng.random() < 0.8 else maker.while_loop(0))
    lines += [maker.compound(1) for _ in range(rng.choice((0, 1, 2)))]
    dtype = rng.choice(("float64", "int64"))
    parameters = (Parameter("x", dtype, ("n",), "C"),)
    body, returned = parse("\n".join(lines)), (rng.choice(results),)
    calls, outside = tuple(calls_of(rng)), "import heapq\n\n\n" + LIST_HELPERS
    return MutationProgram(seed, parameters, body, returned, "one", calls, outside=outside)
