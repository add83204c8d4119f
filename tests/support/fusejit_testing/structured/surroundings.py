"""Small programs with a structured op between operations of NumPy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np

from fusejit_testing.structured.op_case import OpCase, Result


@dataclass(frozen=True, slots=True)
class Returned:
    """How far the numbers of a result, or of an argument, may be from the reference."""

    tolerance: float


@dataclass(frozen=True, slots=True)
class OpProgram:
    """A function of the arguments of a case, and of further arrays that it writes.

    Attributes
    ----------
    returned : list of float
        How far each item of the result may be from the reference.
    stores : list of (str, int)
        Arrays that are written, each of the shape and the dtype of a result.
    """

    source: str
    returned: list[float]
    stores: list[tuple[str, int]]
    store_tolerances: dict[str, float]


def alone(case: OpCase) -> OpProgram:
    """The call and nothing else."""
    source = f"def program({', '.join(case.arguments)}):\n    return {case.call}\n"
    return OpProgram(source, [r.tolerance for r in case.results], [], {})


def surrounded(case: OpCase, ranks: Sequence[int]) -> OpProgram:
    """The call with operations before and after it; ``ranks`` are those of its results."""
    return _ProgramMaker(case, ranks).program()


class _ProgramMaker:
    def __init__(self, case: OpCase, ranks: Sequence[int]) -> None:
        self.case = case
        self.ranks = ranks
        self.rng = Random(f"program {case.seed}")
        self.lines: list[str] = []
        self.items: list[tuple[str, float]] = []
        self.stores: list[tuple[str, int]] = []
        self.tolerances: dict[str, float] = {}

    def program(self) -> OpProgram:
        """The program."""
        case, rng = self.case, self.rng
        call = case.call
        for name in [*case.inputs, *case.starts]:
            if rng.random() < 0.5:
                self.lines.append(f"{name}_ = {self._before(name)}")
                head, inner = call.split("compute", 1)
                call = head + "compute" + _renamed(inner, name)
        names = [f"y{k}" for k in range(len(case.results))]
        self.lines.append(f"{', '.join(names)} = {call}")
        for at, (name, result) in enumerate(zip(names, case.results, strict=True)):
            self.items.append((name, result.tolerance))
            for _ in range(rng.choice((0, 1, 1, 2))):
                self._after(at, name, result)
        kept = [i for i in self.items if rng.random() < 0.8] or self.items[:1]
        parameters = ", ".join([*case.arguments, *(name for name, _ in self.stores)])
        body = "\n    ".join([*self.lines, f"return ({''.join(f'{n}, ' for n, _ in kept)})"])
        source = f"def program({parameters}):\n    {body}\n"
        return OpProgram(source, [t for _, t in kept], self.stores, self.tolerances)

    def _before(self, name: str) -> str:
        """An expression with the extents, the dtype and the size of numbers of an argument."""
        rng, array = self.rng, np.asarray(self.case.arguments[name])
        forms = {
            "b": ["~{}", "np.logical_and({0}, {0})"],
            "i": ["{} + 1", "-{}", "{} * 3", "np.where({0} > 1, {0}, -{0})", "np.abs({})"],
            "u": ["{} + 1", "{} * 3", "np.where({0} > 1, {0}, 2)"],
            "f": ["{} * 0.5", "-{}", "np.abs({})", "np.where({0} > 1, {0}, 0.5)", "{} - {} * 0.5"],
            "c": ["{} * 0.5", "-{}", "{}.conj()"],
        }[array.dtype.kind]
        forms = [*forms, "{}.copy()", "{}.T.copy().T"]
        if array.ndim:
            forms += ["{}[::-1]", "{}[::-1].copy()"]
        return rng.choice(forms).replace("{0}", name).replace("{}", name)

    def _after(self, at: int, name: str, result: Result) -> None:
        rng, kind, rank = self.rng, result.dtype.kind, self.ranks[at]
        new = f"z{len(self.lines)}"
        unit = float(np.finfo(result.dtype).eps) if kind in "fc" else 0.0
        tolerance = result.tolerance + 4 * unit * (result.bound + 1) * (result.tolerance > 0)
        way = rng.random()
        if way < 0.4:
            forms = {
                "b": ["~{}", "{} | ({} ^ True)"],
                "i": ["{} + 1", "-{}", "{} * {}", "{} >> 1"],
                "u": ["{} + 1", "{} * {}", "{} >> 1"],
                "f": ["{} + 1", "-{}", "{} * 0.5", "np.abs({})", "{} + {}"],
                "c": ["{} + 1", "-{}", "{} * 0.5"],
            }[kind]
            self.lines.append(f"{new} = {rng.choice(forms).replace('{}', name)}")
            self.items.append((new, 2 * tolerance))
        elif way < 0.7:
            axis = rng.choice(["", f"axis={rng.randrange(rank)}"] if rank else [""])
            function = "sum" if kind in "c" or rng.random() < 0.6 else "max"
            self.lines.append(f"{new} = np.{function}({name}{', ' if axis else ''}{axis})")
            terms = 4000
            grown = terms * (tolerance + unit * terms * (result.bound + 1))
            self.items.append((new, grown if function == "sum" else tolerance))
        elif way < 0.9:
            store = f"S{len(self.stores)}"
            self.stores.append((store, at))
            form = rng.choice(("{s}[...] = {y}", "{s} += {y}", "{s}[...] = {s} + {y}"))
            if kind == "b":
                form = rng.choice(("{s}[...] = {y}", "{s} |= {y}"))
            self.lines.append(form.format(s=store, y=name))
            self.tolerances[store] = tolerance
        elif rank:
            self.lines.append(f"{name}[{rng.choice(('0:1', '...', '::2'))}] = 0")


def _renamed(call: str, name: str) -> str:
    """The call with ``name_`` for an operand; keywords keep their names."""
    import re

    return re.sub(rf"(?<![\w\"']){name}(?![\w=\"'])", f"{name}_", call)


def store_arrays(program: OpProgram, results: Sequence[Any]) -> dict[str, np.ndarray]:
    """The arrays that a program writes."""
    return {name: np.ones(np.shape(results[k]), results[k].dtype) for name, k in program.stores}
