"""Statements of the random programs with sets and dictionaries: see `list_programs`.

Fields beside those of `list_templates`: {z} and {e} are sets of numbers, {p} is a set of pairs and
{d} a dictionary.
"""

from __future__ import annotations

KINDS_OF_KEYS = (
    *(("ints",), ("elements",), ("ints", "elements")) * 4,
    *(("bools",), ("texts",), ("ints", "elements", "bools"), ("ints", "floats", "none")),
)
SET_BEGINNINGS = {
    "z": (
        *("{z} = set()", "{z} = set()", "{z} = {{0}}", "{z} = {{1, 2, 3}}", "{z} = {{{v}, {v}}}"),
        *("{z} = set({x})", "{z} = set(range({m}))", "{z} = {{j % 4 for j in range(len({x}))}}"),
        *("{z} = {{int(w) for w in {x}}}", "{z} = set({a})", "{z} = set([{v}, {n}])"),
    ),
    "e": ("{e} = {z}", "{e} = {z}.copy()", "{e} = set({z})", "{e} = {z} | {{1}}"),
    "p": ("{p} = set()", "{p} = {{(0, {n})}}", "{p} = {{(j, {n}) for j in range({m})}}"),
    "d": ("{d} = {{}}", "{d} = {{1: 2}}", "{d} = dict()", "{d} = {{j: 0 for j in range({m})}}"),
}

ADDING = (
    *("{z}.add({v})",) * 6,
    *("if {v} in {z}:\n    k += 1", "if {v} not in {z}:\n    {z}.add({v})\n    {a}.append({v})"),
    *("if {v} in {z}:\n    {e}.add({v})\nelse:\n    {z}.add({v})", "{z} = set()", "{z} = {{{v}}}"),
    *("{z} = {e}", "{e} = {z}", "{z}, {e} = {e}, {z}", "if {c}:\n    {z} = set()", "{z}.clear()"),
    *("if {c}:\n    {z} = {e}", "if len({z}) > len({e}):\n    {e} = {z}", "{z} = noted({z}, {v})"),
    *("{z}.update({a})", "{z}.update(range({n}))", "{z}.update([{v}, {n}])", "{z} = set({a})"),
    *("{z} = {{w for w in {a}}}", "{z} = {{{v} for j in range({m})}}", "noted({z}, {v})"),
    *("if {c}:\n    {e} = {z}\n{z} = set()", "{z} = {e} if {c} else {z}", "{z}.add(len({z}))"),
)
REMOVING = (
    *("{z}.discard({v})", "{z}.discard({i})", "{z}.discard({n})") * 2,
    *("if {v} in {z}:\n    {z}.remove({v})", "{z}.remove({v})", "{z}.remove({n})"),
    *("try:\n    {z}.remove({v})\nexcept KeyError:\n    k += 1", "{z} -= {e}", "{z} &= {e}"),
    *("{z} |= {e}", "{z} ^= {e}", "{z} = {z} | {e}", "{z} = {z} & {e}", "{z} = {z} - {e}"),
    *("{z} = {z} ^ {e}", "{z} = {z}.union({a}, {e})", "{z} = {z}.copy()", "{z}.update({e})"),
    *("{z} -= {{{n}, {v}}}", "{z} = {z} - {{{v}}}", "{z} = {z} | {{{v}, {n}}}", "{z} &= {z}"),
    *("{z}.intersection_update({a})", "{z}.difference_update({a})", "{z} = {{0, 1}} & {z}"),
    *("{z}.symmetric_difference_update({a})", "{z} = {{w for w in {a} if w not in {z}}}"),
    *("{p}.discard(({n}, {v}))", "if ({i}, {n}) in {p}:\n    {p}.remove(({i}, {n}))"),
    *("while {z} and len({z}) > {n}:\n    {z}.discard(max({z}))", "{z} = set({e})", "{z} ^= {z}"),
    *("if {n} in {d}:\n    del {d}[{n}]", "{u} = {d}.pop({i}, {n})", "{d}.pop({i})"),
)
SET_READS = (
    *("k += len({z})", "k += {v} in {z}", "k += {v} not in {e}", "{u} = sum({z})", "k += not {z}"),
    *("if {z}:\n    {u} = max({z})", "{u} = min({z}, default=0)", "{a} = sorted({z})", "k += 1"),
    *("for w in sorted({z}):\n    k += w > {n}", "{u} = any({z}), all({z})", "{u} = len({z})"),
    *("k += {z} == {e}", "k += {z} <= {e}", "k += {z} < {e}", "k += {z}.isdisjoint({e})"),
    *("k += {z} is {e}", "{u} = {z}.issubset({a})", "{u} = {z}.issuperset(range({n}))"),
    *("{u} = {v}, {z}", "{u} = {z} != {e}", "{u} = bool({z} & {e})", "k += len({z} - {e})"),
    *("if {z} and {c}:\n    return {z}, k", "{a} = [w for w in {a} if w in {z}]", "{u} = {z}"),
    *(
        "k += sum(1 for w in {a} if w in {z})",
        "if {c}:\n    raise ValueError(k)",
        "{u} = sum({z}, k)",
    ),
    *(
        "k += len({{{v}, {v}, {n}}})",
        "if {v} in {{{v}, {n}}}:\n    k += 3",
        "{u} = isinstance({z}, set)",
    ),
)
PAIRS = (
    *("{p}.add(({v}, {n}))", "{p}.add(({i}, {n}))", "if ({i}, {n}) not in {p}:\n    k += 1"),
    *("if ({v}, {n}) in {p}:\n    k += 1", "{p} = set()", "{t} = sorted({p})", "k += len({p})"),
    *("if {p}:\n    {u} = max({p})", "{p} = {{(w, {n}) for w in {a}}}"),
)
COUNTS = (
    *("{d}[{v}] = {n}", "{d}[{v}] = {d}.get({v}, 0) + 1", "if {v} in {d}:\n    {d}[{v}] += 1"),
    *(
        "{u} = {d}.get({n})",
        "{d}.setdefault({v}, {n})",
        "k += {d}[{n}]",
        "{d} = {{}}",
        "{d}.clear()",
    ),
    *("for w in {d}:\n    k += 1", "for w, q in {d}.items():\n    {u} = w", "k += len({d})"),
    *("if {c}:\n    {d} = {{}}", "{a} = list({d})", "{z}.update({d})", "{u} = {d}"),
)
IN_ORDER = (
    *("for w in {z}:\n    {a}.append(w)", "{a} = list({z})", "{u} = [w for w in {z}]"),
    *("{u} = tuple({z})", "for q, w in enumerate({z}):\n    k += q * (w > {n})", "{u} = [*{z}]"),
    *("if {z}:\n    {u} = {z}.pop()",),
)
SET_HELPERS = """\
def noted(items, item):
    if len(items) < 300:
        items.add(item)
    return items


"""
SET_RESULTS = (
    *("z", "z, e", "z, k", "[z, e]", "z, z", "p", "d", "z, e, p, d, a, k, u", "sorted(z), e"),
    *("len(z), k, u", "z is e, z, e", "{'z': z, 'e': e}", "z | e, k", "z, a, u", "d, z", "p, d"),
)
