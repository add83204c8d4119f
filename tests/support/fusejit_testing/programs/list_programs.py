"""Random programs that fill, change, exchange and return lists, or sets and dictionaries.

Each is a function of one or two arrays and perhaps an int. It has lists of numbers ``a`` and ``b``,
often two names of one list, a list of tuples ``t`` and a list of lists ``r``, which nested loops
and conditionals change. Others have sets of numbers ``z`` and ``e``, a set of pairs ``p`` and a
dictionary ``d``. What a program may raise, it raises for some of its inputs only.
"""

from __future__ import annotations

import random
import re
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from fusejit_testing.against_python import EndlessError, check_against_python
from fusejit_testing.programs.list_templates import (
    BEGINNINGS,
    CONDITIONS,
    IN_LOOPS,
    LESS_USUAL,
    LIST_HELPERS,
    LOOPS,
    MIXED,
    NUMBERS,
    READS,
    RESULTS,
    ROWS,
    TUPLES,
    VALUES,
    WHILES,
)
from fusejit_testing.programs.mutation_programs import MutationProgram, Parameter, deadline, parse
from fusejit_testing.programs.set_templates import (
    ADDING,
    COUNTS,
    IN_ORDER,
    KINDS_OF_KEYS,
    PAIRS,
    REMOVING,
    SET_BEGINNINGS,
    SET_HELPERS,
    SET_READS,
    SET_RESULTS,
)

SIZES = (0, 1, 2, 3, 4, 5, 5, 8, 8, 13)
LONGEST_SHRUNK = 20.0  # seconds for one program that is made small
LONGEST_SHRINKING = 90.0
_NAMES = ("a", "b", "r", "t", "u", "k", "z", "e", "p", "d")
_TAKES = re.compile(r"({[abrt]})(?:\[|\.pop\()(\w+|{[in]})?[\])]")

_ALIASES = (
    *("{a} = {b}", "{b} = {a}", "{r}.append({a})", "{r}[{i}] = {a}"),
    *("{z} = {e}", "{e} = {z}", "{z}, {e} = {e}, {z}", "if {c}:\n    {z} = {e}"),
)

Check = Callable[[MutationProgram], object]
"""Raises for a program that fails."""
Arguments = Callable[[MutationProgram, int], object]
"""Those of a call."""


class Maker:
    """Makes the statements of one program.

    Attributes
    ----------
    indices : list of str
        Names of loops that surround the place, and other integers.
    places : set of str
        Those that are places of the arrays' elements.
    """

    def __init__(self, rng: random.Random, arrays: list[str], kind: str) -> None:
        self.rng, self.arrays = rng, arrays
        self.kinds = MIXED.get(kind, (kind,))
        self.indices = ["0", "1"]
        self.places: set[str] = set()
        self.in_loop = False
        self.num_names = 0
        self.longest = 300
        self.deepest = rng.choice((1, 2, 2, 3))
        self.lengths = rng.choice(((1, 2), (1, 2, 2, 3), (1, 2, 3, 4)))
        groups = ((NUMBERS, 8), (TUPLES, rng.choice((0, 0, 3))), (ROWS, rng.choice((0, 0, 4, 8))))
        self.groups = [*groups, (READS, 3), (LESS_USUAL, rng.choice((0, 0, 2, 4)))]
        self.has_aliases = rng.random() < 0.4

    def use_sets(self) -> None:
        """Make statements about sets and dictionaries.

        A program that removes keys from sets, or merges them, does not show their order: that of
        a set which compiled code hands to Python may be another one.
        """
        rng = self.rng
        self.kinds = rng.choice(KINDS_OF_KEYS)
        self.groups = [(ADDING, 8), (SET_READS, 4), (NUMBERS, rng.choice((0, 1, 2)))]
        self.groups.append((IN_ORDER, 1) if rng.random() < 0.2 else (REMOVING, rng.choice((2, 5))))
        self.groups += [(PAIRS, rng.choice((0, 0, 3))), (COUNTS, rng.choice((0, 0, 3)))]

    def new_name(self, letter: str) -> str:
        """A name that the program does not have yet."""
        self.num_names += 1
        return f"{letter}{self.num_names}"

    def value(self) -> str:
        """An expression of an item."""
        text = self.rng.choice(VALUES[self.rng.choice(self.kinds)])
        return text if self.rng.random() < 0.1 else text.replace("{x}[{j}]", self.element())

    def element(self) -> str:
        """An element of an array, where there is one if the array is not empty."""
        if self.indices[-1] in self.places:
            return f"{{x}}[{self.indices[-1]}]"
        return "{x}[{j} % len({x})]"

    def filled(self, text: str, **more: str) -> str:
        """A template with all of its fields filled."""
        rng = self.rng
        while "{v}" in text or "{c}" in text:  # each occurrence by itself
            text = text.replace("{v}", self.value(), 1)
            condition = rng.choice(CONDITIONS).replace("{x}[{j}]", self.element())
            text = text.replace("{c}", condition, 1)
        a, b = rng.choice((("a", "b"), ("a", "b"), ("b", "a")))
        z, e = ("z", "e") if a == "a" else ("e", "z")
        fields = {
            **{"a": a, "b": b, "t": "t", "r": "r", "u": "u", "s": "s"},
            **{"z": z, "e": e, "p": "p", "d": "d", "h": "h"},
            **{"x": rng.choice(self.arrays), "n": rng.choice("0112235"), "m": rng.choice("023456")},
            **{
                "i": rng.choice((*self.indices, "-1", "k", "2")),
                "j": rng.choice(self.indices[-2:]),
            },
            **more,
        }
        return text.format(**fields)

    def statement(self) -> str:
        """A statement without loops or conditionals of its own but those of its template."""
        groups, weights = zip(*self.groups, strict=True)
        choices = self.rng.choices(groups, weights)[0]
        if self.in_loop and self.rng.random() < 0.15:
            choices = IN_LOOPS
        while True:
            template = self.rng.choice(choices)
            is_alias = template in _ALIASES
            if self.has_aliases or not is_alias or self.rng.random() < 0.1:
                return self.filled(self.guarded(template))

    def guarded(self, template: str) -> str:
        """A statement that takes an item, mostly where there is one."""
        found = _TAKES.search(template)
        if "\n" in template or not found or self.rng.random() < 0.2:
            return template
        return f"if len({found[1]}) > {found[2] or 0}:\n    {template}"

    def body(self, depth: int, length: int) -> str:
        """Some statements."""
        return "\n".join(self.compound(depth) for _ in range(length))

    def compound(self, depth: int) -> str:
        """A loop or conditional with its body, or a statement."""
        rng = self.rng
        draw = rng.random() if depth < self.deepest else 1.0
        if draw < 0.35 - 0.08 * depth:
            return self.loop(depth)
        if draw < 0.42 - 0.05 * depth:
            return self.while_loop(depth)
        if draw < 0.6:
            return self.conditional(depth)
        if draw < 0.63:
            error = rng.choice(("IndexError", "(IndexError, ValueError)", "IndexError as error"))
            inner = indented(self.body(depth + 1, rng.choice((1, 2))))
            return f"try:\n{inner}\nexcept {error}:\n    k += 2"
        return self.statement()

    def within(self, depth: int, names: list[str]) -> str:
        before, self.indices = self.indices, self.indices + names
        was_in_loop, self.in_loop = self.in_loop, True
        inner = self.body(depth + 1, self.rng.choice(self.lengths))
        self.indices, self.in_loop = before, was_in_loop
        return indented(inner)

    def loop(self, depth: int) -> str:
        """A loop over indices, elements or items."""
        template, q, w = self.rng.choice(LOOPS), self.new_name("i"), self.new_name("w")
        header = self.filled(template, q=q, w=w)
        lines = [header]
        run_over = re.search(r" in (?:enumerate\()?([ab])\)?:$", header)
        if run_over:
            lines.append(f"    if len({run_over[1]}) > {self.longest}: break  # bound")
        names = [q] if "{q}" in template else []
        if "{x}" in template:
            self.places.add(q)
        inner = self.within(depth, names * 2)
        if "{w}" in template and self.rng.random() < 0.7:
            kind = self.rng.choice(("a.append({w})", "s += {w}", "b.append({w})", "u = {w}"))
            lines.append(f"    {kind.format(w=w)}")
        lines.append(inner)
        if self.rng.random() < 0.1:
            lines.append(f"else:\n{indented(self.statement_outside())}")
        return "\n".join(lines)

    def statement_outside(self) -> str:
        was_in_loop, self.in_loop = self.in_loop, False
        made = self.statement()
        self.in_loop = was_in_loop
        return made

    def while_loop(self, depth: int) -> str:
        """A loop that ends at the latest after a few iterations."""
        q = self.new_name("q")
        condition = self.filled(self.rng.choice(WHILES), q=q)
        most = self.rng.choice((3, 10, 25))
        inner = self.within(depth, [q] * 2)
        bound = f"    {q} += 1  # bound\n    if {q} > {most}: break  # bound"
        return f"{q} = 0  # bound\nwhile {condition}:\n{bound}\n{inner}"

    def conditional(self, depth: int) -> str:
        """An if with perhaps an elif and an else."""
        rng = self.rng
        lines = []
        for word in ("if", "elif")[: rng.choice((1, 1, 1, 2))]:
            lines.append(f"{word} {self.filled('{c}')}:")
            lines.append(indented(self.body(depth + 1, rng.choice((1, 1, 2, 3)))))
        if rng.random() < 0.5:
            lines += ["else:", indented(self.body(depth + 1, rng.choice((1, 2))))]
        return "\n".join(lines)


def indented(text: str) -> str:
    """The lines of a text, one level deeper."""
    return "\n".join("    " + line for line in text.split("\n"))


def list_program(seed: int) -> MutationProgram:
    """The program of a seed."""
    rng = random.Random(f"lists {seed}")
    dtypes = rng.choice((("float64",), ("float64",), ("int64",), ("float64", "int64")))
    parameters = [Parameter(n, d, ("n",), "C") for n, d in zip("xy", dtypes, strict=False)]
    kind = rng.choice((*VALUES, *MIXED, *("ints", "ints", "elements", "elements", "numbers")))
    if rng.random() < 0.3:
        parameters.append(Parameter("g", "int", (), "number"))
    maker = Maker(rng, [p.name for p in parameters if p.dtype != "int"], kind)
    if parameters[-1].dtype == "int":
        maker.indices.append("g")
    lines = ["k = 0", "s = 0.0", "u = None", "a, b = [], []"]
    for name in "abtr":
        if name in "ab" or rng.random() < 0.6:
            is_another = name == "b" and maker.has_aliases and rng.random() < 0.7
            choices = BEGINNINGS["a" if name == "b" and not is_another else name]
            names = {"a": "a" if is_another or name != "b" else "b", "b": "b"}
            lines.append(maker.filled(rng.choice(choices), **names))
        else:
            lines.append(f"{name} = []")
    is_big = rng.random() < 0.08
    if is_big:
        maker.longest = 3000
        maker.deepest = 1
        count = rng.choice((260, 260, 300, 300, 300, 2100))
        lines.append(f"for j in range({count}):\n    a.append({rng.choice(('j', 'k', 'j * 0.5'))})")
    lines += [maker.compound(2) for _ in range(rng.choice((0, 1, 2)))]
    lines.append(maker.loop(0) if rng.random() < 0.8 else maker.while_loop(0))
    lines += [maker.compound(1) for _ in range(rng.choice((0, 0, 1, 2, 3)))]
    calls = tuple(calls_of(rng))
    body = parse("\n".join(lines))
    returned = (rng.choice(RESULTS),)
    return MutationProgram(
        seed, tuple(parameters), body, returned, "one", calls, outside=LIST_HELPERS
    )


def set_program(seed: int) -> MutationProgram:
    """The program of a seed, with sets and dictionaries."""
    rng = random.Random(f"sets {seed}")
    dtypes = rng.choice(
        (("int64",), ("int64",), ("int64", "int32"), ("float64",), ("int64", "bool"))
    )
    parameters = [Parameter(n, d, ("n",), "C") for n, d in zip("xy", dtypes, strict=False)]
    maker = Maker(rng, [p.name for p in parameters], "")
    maker.use_sets()
    lines = ["k = 0", "u = None", "a, b, t = [], [], []"]
    for name, choices in SET_BEGINNINGS.items():
        is_another = name == "e" and rng.random() < 0.7
        beginning = rng.choice(SET_BEGINNINGS["z"] if is_another else choices)
        names = {"z": "e" if is_another else "z", "e": "e", "a": "a"}
        lines.append(maker.filled(beginning, **names))
    lines += [maker.compound(2) for _ in range(rng.choice((0, 1)))]
    lines.append(maker.loop(0) if rng.random() < 0.8 else maker.while_loop(0))
    lines += [maker.compound(1) for _ in range(rng.choice((0, 1, 2)))]
    calls = tuple(calls_of(rng))
    body, returned = parse("\n".join(lines)), (rng.choice(SET_RESULTS),)
    helpers = LIST_HELPERS + SET_HELPERS
    return MutationProgram(seed, tuple(parameters), body, returned, "one", calls, outside=helpers)


def calls_of(rng: random.Random) -> Iterator[dict[str, int]]:
    """The sizes and numbers of each call."""
    for _ in range(5):
        size = rng.choice(SIZES)
        yield {
            "n": size,
            "g": rng.choice((0, 1, 2, 3, 7, -1)),
            "variation": rng.choice((0, 0, 0, 1)),
        }


def arguments_of(program: MutationProgram, call: int) -> tuple[Any, ...]:
    """The arguments of a call, the same ones each time; a variation has NaNs and large numbers."""
    sizes = program.calls[call]
    rng = np.random.default_rng([program.seed, call])
    made: list[Any] = []
    for parameter in program.parameters:
        if parameter.dtype == "int":
            made.append(sizes[parameter.name])
            continue
        numbers: Any = rng.integers(-4, 13, sizes["n"])
        if parameter.dtype in ("int32", "bool"):
            made.append(numbers.astype(parameter.dtype))
            continue
        special: list[Any] = [2**62, -(2**63), 2**63 - 1, 2**53 + 1]
        if parameter.dtype == "float64":
            numbers = numbers * 0.5
            special = [-0.0, np.inf, -np.inf, 1e300]
            # Which NaN is the very one of a set, or of a list that is compared, chance decides.
            if SET_HELPERS not in program.outside and "import heapq" not in program.outside:
                special.append(np.nan)
        if sizes["variation"] and sizes["n"]:
            for at in rng.integers(0, sizes["n"], 2):
                numbers[at] = special[rng.integers(len(special))]
        made.append(numbers)
    return tuple(made)


# ------------------------------------------------------------------------------------- the check
def check_lists(program: MutationProgram, folder: Path, *, jit: bool = False) -> str:
    """Run every call and raise what differs from Python; how it ran: whole, segments, declined."""
    calls = [arguments_of(program, call) for call in range(len(program.calls))]
    try:
        fused = check_against_python(program.load(folder), calls, jit=jit)
    except EndlessError:
        return "skipped"
    if fused.variants.newest_segmented is not None:
        return "segments"
    return "declined" if fused.variants.fallbacks else "whole"


def failure_of(program: MutationProgram, check: Check) -> str | None:
    """The kind of failure of a program, or None."""
    try:
        with deadline(LONGEST_SHRUNK):
            check(program)
    except SyntaxError:
        return None
    except Exception as error:
        words = [w for w in str(error).split() if w.isalpha()]
        return " ".join([type(error).__name__, *words[:5]])
    return None


def shrunk(program: MutationProgram, check: Check) -> MutationProgram:
    """The program without what it fails without in the same way; what there is after a while."""
    kind = failure_of(program, check)
    end = time.monotonic() + LONGEST_SHRINKING
    progress = kind is not None
    while progress:
        progress = False
        for candidate in _smaller(program):
            if time.monotonic() > end:
                return program
            if failure_of(candidate, check) == kind:
                program, progress = candidate, True
                break
    return program


def _smaller(program: MutationProgram) -> Iterator[MutationProgram]:
    for k in range(len(program.calls) if len(program.calls) > 1 else 0):
        yield replace(program, calls=program.calls[:k] + program.calls[k + 1 :])
    half = len(program.body) // 2
    for part in (program.body[:half], program.body[half:]) if half > 2 else ():
        yield replace(program, body=part)
    if program.returned and program.returned[0] not in _NAMES:
        for name in _NAMES:
            yield replace(program, returned=(name,))
    yield from program.smaller()


def report_of(program: MutationProgram, check: Check, arguments: Arguments = arguments_of) -> str:
    """A failing program, shrunk, with its arguments and its failure."""
    small = shrunk(program, check)
    try:
        check(small)
        failure = "(does not fail when run again)"
    except Exception as error:
        failure = "".join(traceback.format_exception(error, limit=-3))
    lines = [f"seed {program.seed}", small.text]
    lines += [f"call {k}: {arguments(small, k)!r}" for k in range(len(small.calls))]
    return "\n".join([*lines, failure])
