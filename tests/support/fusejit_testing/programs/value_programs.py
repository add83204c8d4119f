"""Arguments of all kinds, and statements that use them, for random programs.

A program that has them takes ``g``, and often ``h`` of the same kind; which of the two values of
the kind each is differs from call to call. The fields of the templates are those of
`fusejit_testing.programs.mutation_templates`.
"""

from __future__ import annotations

from random import Random

from fusejit_testing.programs.mutation_programs import MutationProgram, Parameter

VALUE = "value"
"""The dtype of such a parameter; its layout names the kind."""

_KINDS = (
    *("bool", "int", "float", "complex", "text", "bytes", "None", "Enum", "IntEnum", "IntFlag"),
    *("Flag", "StrEnum", "int subclass", "float subclass", "text subclass", "bytes subclass"),
    *("complex subclass", "bool_", "float32", "int64", "slice", "range", "function", "partial"),
    *("class", "module", "named tuple", "dataclass", "frozen dataclass", "object", "tuple", "list"),
    *("dict", "nested", "date", "equal ints", "equal floats", "two kinds"),
)
_NUMBERS = ("IntEnum", "IntFlag", "int subclass", "float subclass", "bool", "int", "float")

VALUE_TEMPLATES = (
    "if g:\n    {x} {o}= {n}",
    "if not g:\n    {w} = {x} {o} {y}\nelse:\n    {w} = {x} {o} {n}",
    "{w} = {x} {o} 2 if g > 1 else {x} {o} 3",
    "{w} = {x} {o} g",
    "{w} = np.where(g > 1, {x}, {n})",
    "if g == 1:\n    {w} = {x} * 2\nelse:\n    {w} = {x} + 1",
    "{w} = {x} * (2 if g in (1, 'sum', 2.0) else 3)",
    "{w} = {x} * (3, 5, 7)[g]",
    "{w} = {x}[:g] {o} {n}",
    "{w} = {x}[g:]\n{w}[...] = {n}",
    "{w} = {x}.sum(axis=g)",
    "{w} = np.zeros(g) + {n}",
    "for i in range(g):\n    {x} {o}= i + 1",
    "for v in g:\n    {x} {o}= v",
    "text = f'{{g}}|{{g!r:>9}}'",
    "text = str(g) + repr([g])",
    "text = '%s' % (g,)",
    "text = getattr(g, 'name', 'none')\n{w} = {x} + len(text)",
    "{w} = {x} * getattr(g, 'value', 2)",
    "{w} = {x} {o} len(g)",
    "{w} = {x} * int(g)",
    "{w} = {x} if isinstance(g, int) else {x} {o} {n}",
    "{w} = {x} * {{1: 2, 'sum': 3}}.get(g, 5)",
    "{w} = g({x})",
    "{w} = getattr({x}, g)()",
    "{w} = through(g)\n{w1} = {x} * {w}",
    "pair = both(g, {x})\n{w} = pair[1] * 2 if pair[0] else pair[1]",
    "def inside():\n    return {x} * 2 if g else {x}\n{w} = inside()",
    "table = {{'k': g, 'x': {x}}}\n{w} = table['x'] * (2 if table['k'] else 3)",
    "while {x}.size + 2 < g:\n    break\n{w} = {x} + 1",
    "try:\n    {w} = {x} + (1, 2)[g]\n"
    "except (IndexError, TypeError) as error:\n    text = str(error)",
)
PAIR_TEMPLATES = (
    "{w} = {x} * 2 if g == h else {x} + 3",
    "{w} = {x} * 2 if g is h else {x} + 3",
    "{w} = {x} * 2 if g != h else {x} + 3",
    "{w} = {x} * 2 if g in (h, 7) else {x} + 3",
    "{w} = {x} * {{g: 2}}.get(h, 3)",
    "{w} = {x} * [g, h].index(h)",
    "{w} = {x} * len({{g, h}})",
    "{w} = {x} * 2 if (g, 1) == (h, 1) else {x}",
    "{w} = {x} * 2 if g < h else {x} + 3",
    "chosen = g if {x}.size > 2 else h\n{w} = {x} * 2 if chosen else {x}",
    "text = str([g, h])",
)


def with_values(program: MutationProgram, share: float) -> MutationProgram:
    """Some of all programs with such arguments; the others as they are."""
    rng = Random(f"values of {program.seed}")
    if rng.random() >= share:
        return program
    kind = rng.choice(_NUMBERS if rng.random() < 0.4 else _KINDS)
    names = "gh" if rng.random() < 0.6 else "g"
    made = tuple(Parameter(name, VALUE, (), kind) for name in names)
    calls = tuple({**call, **{name: rng.randint(0, 1) for name in names}} for call in program.calls)
    return MutationProgram(
        program.seed, (*program.parameters, *made), (), (), program.container, calls
    )


def template(rng: Random, names: dict[str, object]) -> str:
    """A statement about ``g``, or ``g`` and ``h``."""
    return rng.choice(PAIR_TEMPLATES if "h" in names and rng.random() < 0.4 else VALUE_TEMPLATES)
