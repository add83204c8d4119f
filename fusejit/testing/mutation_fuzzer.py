"""The mutation fuzzer: random programs run every way, compared with NumPy, and shrunk.

NumPy = interpreter of the traced graph = interpreter of the fused graph = unjitted source (= jitted
kernel), for results, for what the arguments hold afterwards, and for which arrays are one object or
share memory. Programs come from `fusejit.testing.mutation_maker`.

A campaign by hand, which prints failures as they come and a tally after each 500 programs::

    python -m fusejit.testing.mutation_fuzzer FIRST COUNT [JIT_EVERY]

Each ``JIT_EVERY``-th program is compiled as well, all of them with 1.
"""

from __future__ import annotations

import gc
import sys
import tempfile
import traceback
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from fusejit.api import FuseWarning
from fusejit.codegen.late_errors import LATE_TEXTS
from fusejit.errors import ConcretizationError, UnsupportedError
from fusejit.testing.mutation_expressions import is_exact
from fusejit.testing.mutation_maker import make_program
from fusejit.testing.mutation_programs import HELPERS, MutationProgram, deadline
from fusejit.testing.oracle import Outcome, compare_outcomes, decorate, interpreted, run

LONGEST_IN_NUMPY = 2.0  # seconds for one call; another one's sizes may make a loop endless
_BETWEEN_TALLIES = 500
SLOWEST = 60.0  # seconds for one program; what takes longer is taken for a loop without end


@dataclass(slots=True)
class Tally:
    """What became of the programs of a campaign."""

    programs: int = 0
    variants: int = 0
    served: int = 0
    skipped: int = 0
    declined: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        """Count the programs of another campaign as well."""
        for name in ("programs", "variants", "served", "skipped"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.declined.update(other.declined)
        self.refused.update(other.refused)
        self.failures += other.failures

    def __str__(self) -> str:
        return (
            f"{self.programs} programs, {self.served} calls served by {self.variants} variants, "
            f"{self.skipped} calls skipped, declined {dict(self.declined)}, "
            f"refused {dict(self.refused)}, {len(self.failures)} failures"
        )


def check_program(
    program: MutationProgram, folder: Path, *, jit: bool = False, tally: Tally | None = None
) -> None:
    """Run every call of a program every way; raise what differs.

    A call whose numbers are not exact under NumPy is left out. A program that fusejit says it does
    not support, or declines, is counted.
    """
    tally = Tally() if tally is None else tally
    tally.programs += 1
    function = program.load(folder)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FuseWarning)
        warnings.simplefilter("ignore", RuntimeWarning)
        decorated = decorate(function, jit=jit)
        for call in range(len(program.calls)):
            args = program.arguments(call)
            where = f"call {call}"
            with deadline(LONGEST_IN_NUMPY):
                expected = run(function, args)
            if isinstance(expected.error, TimeoutError):
                tally.skipped += 1
                return
            if not (is_exact(expected.result) and is_exact(expected.args)):
                tally.skipped += 1
                continue
            known = decorated.variants.compiled
            declined = sum(decorated.variants.declined.values())
            actual = run(decorated, args)
            if isinstance(actual.error, UnsupportedError | ConcretizationError):
                tally.refused[reason(str(actual.error))] += 1
                return
            compare_outcomes(without_late_text(expected, actual), actual, where=where)
            served = expected.error is None
            served &= sum(decorated.variants.declined.values()) == declined
            tally.served += served
            if served and len(decorated.variants.compiled) > len(known):
                variant = decorated.variants[0]
                stages = (("traced", variant.traced.graph), ("fused", variant.schedule.graph))
                for stage, graph in stages:
                    outcome = run(interpreted(variant.traced, graph, function), args)
                    compare_outcomes(expected, outcome, where=f"{where}, {stage} graph")
        tally.variants += len(decorated.variants)
        tally.declined.update({reason(k): n for k, n in decorated.variants.declined.items()})


def without_late_text(expected: Outcome, actual: Outcome) -> Outcome:
    """``expected`` with the general text of an error that kernels find late, if it is one."""
    late = actual.error
    if type(late) is type(expected.error) and str(late) in LATE_TEXTS:
        return replace(expected, error=late)
    return expected


def reason(message: str) -> str:
    """A message without file and numbers, to count it by."""
    text = message.rsplit(".py", 1)[-1]
    return "".join(c for c in text if not c.isdigit())[:60]


def failure_of(program: MutationProgram, folder: Path, *, jit: bool = False) -> str | None:
    """The kind of failure of a program, or None; programs that miss a name have none."""
    try:
        function = program.load(folder)
    except SyntaxError:
        return None
    for call in range(len(program.calls)):
        if isinstance(run(function, program.arguments(call)).error, NameError):
            return None
    try:
        with deadline(SLOWEST):
            check_program(program, folder, jit=jit)
    except Exception as error:
        cause = error.__cause__ or error
        words = [w for w in str(cause).split() if w.isalpha()]
        return " ".join([type(cause).__name__, *words[:2]])
    return None


def shrink(program: MutationProgram, folder: Path, *, jit: bool = False) -> MutationProgram:
    """Drop statements, results and calls as long as the program fails in the same way."""
    kind = failure_of(program, folder, jit=jit)
    progress = kind is not None
    while progress:
        progress = False
        for candidate in program.smaller():
            if failure_of(candidate, folder, jit=jit) == kind:
                program, progress = candidate, True
                break
    return program


def report(program: MutationProgram, folder: Path, *, jit: bool = False) -> str:
    """A failing program, shrunk, with its arguments and its failure."""
    small = shrink(program, folder, jit=jit)
    try:
        check_program(small, folder, jit=jit)
        failure = "(does not fail when run again)"
    except Exception as error:
        trace = traceback.format_exception(_root(error), limit=-5, chain=False)
        failure = "".join(trace) + (f"\n{error}" if error.__cause__ else "")
    lines = [f"seed {program.seed}{', jitted' if jit else ''}", small.source[len(HELPERS) :]]
    for call in range(len(small.calls)):
        lines.append(f"call {call}: {small.calls[call]}")
    for parameter, array in zip(
        small.parameters, small.arguments(len(small.calls) - 1), strict=True
    ):
        with np.printoptions(threshold=50):
            lines.append(f"{parameter.name} ({parameter.layout}, {parameter.dtype}) = {array!r}")
    return "\n".join([*lines, failure])


def _root(error: BaseException) -> BaseException:
    while error.__cause__ is not None:
        error = error.__cause__
    return error


@contextmanager
def _collecting_little() -> Iterator[None]:
    """What exists now is not looked through in each collection."""
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def campaign(seeds: Iterable[int], *, jit_every: int = 0, stop_after: int = 5) -> Tally:
    """Check the programs of ``seeds``; every ``jit_every``-th is compiled as well."""
    tally = Tally()
    with _collecting_little(), tempfile.TemporaryDirectory(prefix="fusejit-fuzz-") as name:
        folder = Path(name)
        for seed in seeds:
            program = make_program(seed)
            for jit in (False, True) if jit_every and seed % jit_every == 0 else (False,):
                try:
                    with deadline(SLOWEST):
                        check_program(program, folder, jit=jit, tally=tally)
                except Exception:
                    tally.failures.append(report(program, folder, jit=jit))
            for file in folder.iterdir():
                file.unlink()
            if len(tally.failures) >= stop_after:
                break
    return tally


def assert_no_difference(first: int, count: int, *, jit_every: int) -> None:
    """Check ``count`` programs; raise AssertionError with those that differ, shrunk.

    Most calls must run through a kernel, and few programs be refused.
    """
    tally = campaign(range(first, first + count), jit_every=jit_every)
    assert not tally.failures, "\n\n".join([*tally.failures, str(tally)])
    assert tally.served > 1.5 * tally.programs, tally
    assert sum(tally.refused.values()) < 0.15 * tally.programs, tally


def main(first: int, count: int, jit_every: int = 0) -> int:
    """Run a campaign and print it; returns how many programs failed."""
    total = Tally()
    for at in range(first, first + count, _BETWEEN_TALLIES):
        seeds = range(at, min(at + _BETWEEN_TALLIES, first + count))
        tally = campaign(seeds, jit_every=jit_every, stop_after=_BETWEEN_TALLIES)
        for failure in tally.failures:
            print("=" * 100, failure, sep="\n")
        total.add(tally)
        print(f"seeds {first} to {seeds.stop - 1}: {total}", flush=True)
    return len(total.failures)


if __name__ == "__main__":
    sys.exit(min(1, main(*map(int, sys.argv[1:]))))
