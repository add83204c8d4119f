"""Random programs over lists of arrays, which others may know, change and hand out.

Each is a function of an array ``x`` and a count ``m``. It has arrays ``v``, ``w`` and ``z``, which
may be one, and lists of arrays ``a`` and ``b``.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from fusejit_testing.programs.list_programs import indented
from fusejit_testing.programs.mutation_programs import MutationProgram, Parameter, parse

_COUNTS = (0, 1, 2, 3, 20)
_OUTSIDE = """\
class Holder:
    pass


def same(array):
    return array


def raised(array, k):
    array[:1] = k
    return array


"""

ARRAYS = (
    *("{v} * 0.5 + 1", "{v} + x", "x * {k}", "x + {k}", "np.maximum({v}, 0.25)", "{v}.copy()"),
    *("{v}", "{v}", "{v}[:]", "{v}[::-1]", "same({v})", "{l}[-1]", "{l}[0]", "{l}[{k} % len({l})]"),
    *("({v} if {c} else {w})", "({v} + 1 if {c} else {w})", "np.zeros(len(x))", "holder.x", "x"),
)
CONDITIONS = (
    *("{k} % 2", "{k} % 3 == 1", "m > 2", "x.sum() > 2", "{v}.sum() > {w}.sum()", "len({l}) > 1"),
    *("not {l}", "{v}[0] < {k}", "{k} > 5"),
)
STATEMENTS = (
    *("{l}.append({e})",) * 6,
    *("{v} = {e}",) * 4,
    *("{v} = {w}", "{v}, {w} = {w}, {v}", "if {c}:\n    {v} = {e}", "if {c}:\n    {l}.append({e})"),
    *("{v}[:1] = {k}", "{v} += 1", "{v}[...] = 3", "np.multiply({v}, 2, out={w})", "{v}.fill({k})"),
    *("{v} = raised({v}, {k})", "holder.x = {e}", "holder.x[:1] = {k}", "{l}[-1][:1] = {k}"),
    *("if {l}:\n    {v} = {l}.pop()", "{l}.reverse()", "{l} = {l}[1:]", "{l}.insert(0, {e})"),
    *("if {l}:\n    {l}[0] = {e}", "{l}.extend({l}[:2])", "{l} = [row for row in {l}]", "u = {v}"),
    *(
        "{l} = [x * i for i in range(m)]",
        "if {l}:\n    del {l}[0]",
        "t += {v}.sum()",
        "{l} += [{e}]",
    ),
    *("if {l}:\n    t += sum({l}).sum()", "if {l}:\n    t += np.array({l})[-1].sum()"),
    *("{l}[{k} % len({l})][:1] = {k}", "{l}[0] += 1", "{l}[-1].sort()", "{l}[0][...] = {l}[-1]"),
    *("for row in {l}:\n    row[:1] += 1", "{l} = [x + i for i in range(m + 20)]"),
    *("if {l}:\n    {v} = min({l}, key=lambda row: row.sum())", "t += len({l})"),
)
LOOPS = (
    *("for {i} in range(m):",) * 5,
    *("for {i} in range(1, m):", "for {i} in range(len({l})):", "for {i}, {f} in enumerate({l}):"),
    *("for {i}, {f} in enumerate({l}[1:]):", "for {i}, {f} in enumerate(list({l})):"),
)
ENDS = ("if {c}:\n    break", "if {c}:\n    continue", "if {c}:\n    return {v}, {l}")
RESULTS = (
    *(
        "a",
        "a, v",
        "v, w, z",
        "np.array(a)",
        "np.array(a), v",
        "np.stack(a, axis=1), w",
        "a, b",
        "u",
    ),
    *("a[0], t", "a[-1], x", "np.concatenate(a), np.vstack(a)", "np.mean(a, axis=0), z", "t, b, w"),
    *("np.array(b), np.array(a), t", "holder.x, a", "a, a[0] if a else None, u"),
)


class _Maker:
    """Makes the statements of one program."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.arrays, self.places = ["v", "w", "z"], ["m"]
        self.num_loops = 0
        self.statements = rng.sample(STATEMENTS, rng.choice((3, 4, 6)))
        self.values = rng.sample(ARRAYS, 5)
        self.conditions = rng.sample(CONDITIONS, 3)

    def filled(self, text: str, **more: str) -> str:
        """A template with all of its fields filled."""
        rng = self.rng
        parts = {"{e}": self.values, "{c}": self.conditions}
        while any(field in text for field in parts):  # each occurrence by itself
            for field, choices in parts.items():
                text = text.replace(field, rng.choice(choices), 1)
        names = self.arrays[:3]
        bound = names if text.startswith("{v}") else self.arrays
        fields = {"{v}": bound, "{w}": names, "{l}": [*"aaab"], "{k}": self.places}
        for field, choices in fields.items():
            text = text.replace(field, rng.choice(choices))
        return text.format(**more)

    def body(self, depth: int) -> str:
        """Some statements and loops."""
        rng, lines = self.rng, []
        for _ in range(rng.choice((1, 2, 2, 3))):
            draw = rng.random()
            if depth < 2 and draw < 0.12:
                lines.append(self.loop(depth))
            else:
                lines.append(self.filled(rng.choice(ENDS if draw > 0.97 else self.statements)))
        return "\n".join(lines)

    def loop(self, depth: int) -> str:
        """A loop with its body."""
        self.num_loops += 1
        i, f = f"i{self.num_loops}", f"r{self.num_loops}"
        template = self.rng.choice(LOOPS)
        header = self.filled(template, i=i, f=f)
        outer = self.arrays, self.places
        self.arrays = [*outer[0], f, f] if "{f}" in template else outer[0]
        self.places = [*outer[1], i, i]
        inner = indented(self.body(depth + 1))
        self.arrays, self.places = outer
        return f"{header}\n    if len(a) + len(b) > 90: break  # bound\n{inner}"


def row_program(seed: int) -> MutationProgram:
    """The program of a seed."""
    rng = random.Random(f"rows {seed}")
    maker = _Maker(rng)
    lines = ["t, u = 0, None", "holder = Holder()", "holder.x = x + 1"]
    lines += [f"v = {rng.choice(('x', 'x * 2', 'x + 1'))}", "w = x + 3"]
    lines += [f"z = {rng.choice(('v', 'w', 'x - 1', 'x'))}"]
    lines += [f"a = {rng.choice(('[]', '[]', '[v]', '[x]', '[w.copy()]'))}", "b = []"]
    lines += [maker.loop(0) for _ in range(rng.choice((1, 1, 2, 3)))]
    lines.append(maker.filled(rng.choice(maker.statements)))
    calls = tuple({"m": rng.choice(_COUNTS), "n": rng.choice((1, 2, 4))} for _ in range(4))
    parameters = tuple(Parameter(name, "float64", (), "one") for name in "xm")
    outside = "import numpy as np\n\n\n" + _OUTSIDE
    returned = (rng.choice(RESULTS),)
    body = parse("\n".join(lines))
    return MutationProgram(seed, parameters, body, returned, "one", calls, outside=outside)


def rows_of(program: MutationProgram, call: int) -> tuple[Any, ...]:
    """The arguments of a call."""
    sizes = program.calls[call]
    return np.arange(sizes["n"]) * 0.5 + call, sizes["m"]
