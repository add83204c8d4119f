"""The mutation fuzzer: random programs run every way, compared with NumPy, and shrunk.

NumPy = interpreter of the traced graph = interpreter of the fused graph = unjitted source (= jitted
kernel), for results, for what the arguments hold afterwards, and for which arrays are one object or
share memory. Programs come from `fusejit_testing.programs.mutation_maker`.

A campaign by hand, which prints failures as they come and a tally after each 500 programs::

    python -m fusejit_testing.programs.mutation_fuzzer FIRST COUNT [JIT_EVERY]
        [--programs mutation|joins|library] [--fusion auto none aggressive] [--strict]

Each ``JIT_EVERY``-th program is compiled as well, all of them with 1. ``--strict`` takes any error
or refusal of fusejit's own for a failure; without it a program that fusejit says it does not
support is counted.
"""

from __future__ import annotations

import argparse
import gc
import sys
import tempfile
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from fusejit.api import FuseWarning
from fusejit.errors import ConcretizationError, UnsupportedError
from fusejit.fuse.grouping.policy import POLICIES
from fusejit.outcome import FAULT
from fusejit_testing.fused_otherwise import FusedOtherwise
from fusejit_testing.oracle import (
    Outcome,
    compare_outcomes,
    decorate,
    interpreted,
    no_faults,
    run,
    without_late_text,
)
from fusejit_testing.programs.join_programs import make_join_program
from fusejit_testing.programs.library_programs import make_library_program
from fusejit_testing.programs.mutation_expressions import is_exact
from fusejit_testing.programs.mutation_maker import make_program
from fusejit_testing.programs.mutation_programs import MutationProgram, deadline

LONGEST_IN_NUMPY = 2.0  # seconds for one call; another one's sizes may make a loop endless
_BETWEEN_TALLIES = 500
SLOWEST = 60.0  # seconds for one program; what takes longer is taken for a loop without end


@dataclass(frozen=True, slots=True)
class How:
    """How a program is checked: compiled or not, fused how far, and whether it may be refused.

    What was traced is also fused as each of ``others`` says.
    """

    jit: bool = False
    fusion: str | None = None
    strict: bool = False
    others: tuple[str, ...] = ()

    def __str__(self) -> str:
        fusions = [str(f) for f in (self.fusion, *self.others) if f]
        words = ["jitted"] * self.jit + [f"fusion {' '.join(fusions)}"] * bool(fusions)
        return ", ".join([*words, *["strict"] * self.strict])


PLAIN = How()


@dataclass(slots=True)
class Tally:
    """What became of the programs of a campaign; one that is fused in two ways counts twice."""

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
    program: MutationProgram, folder: Path, how: How = PLAIN, tally: Tally | None = None
) -> None:
    """Run every call of a program every way; raise what differs.

    A call whose numbers are not exact under NumPy is left out. A program that fusejit says it does
    not support, or declines, is counted; to say so is a failure if it is ``strict``. A fault of
    fusejit's is a failure always, though NumPy runs the call.
    """
    tally = Tally() if tally is None else tally
    tally.programs += 1 + len(how.others)
    function = program.load(folder)
    reports = folder / "reports"
    reports.mkdir(exist_ok=True)
    with warnings.catch_warnings(), no_faults(reports):
        warnings.simplefilter("ignore", FuseWarning)
        warnings.simplefilter("ignore", RuntimeWarning)
        decorated = decorate(function, jit=how.jit, fusion=how.fusion, reports=reports)
        unserved = _check_calls(program, function, decorated, how, tally)
    for fusion in unserved:  # not by variants of its own: each stage is this policy's
        alone = replace(how, fusion=fusion, others=())
        check_program(program, folder, alone, Tally())


def _check_calls(
    program: MutationProgram,
    function: Callable[..., Any],
    decorated: Any,
    how: How,
    tally: Tally,
) -> list[str]:
    """Every call; the other policies whose variants do not serve what those of the first serve."""
    otherwise = FusedOtherwise(function, how.others)
    unserved: list[str] = []
    for call in range(len(program.calls)):
        args = program.arguments(call)
        where = f"call {call}"
        with deadline(LONGEST_IN_NUMPY):
            expected = run(function, args)
        if isinstance(expected.error, TimeoutError):
            tally.skipped += 1
            return unserved
        if not (is_exact(expected.result) and is_exact(expected.args)):
            tally.skipped += 1
            continue
        compare = partial(_compare, expected, where)
        known = decorated.variants.compiled
        declined = sum(decorated.variants.fallbacks.values())
        actual = run(decorated, args)
        refused = isinstance(actual.error, UnsupportedError | ConcretizationError)
        if refused and not how.strict:
            tally.refused[reason(str(actual.error))] += 1
            return unserved
        compare(actual)
        faults = [cause for cause in decorated.variants.fallbacks if FAULT in cause]
        assert not (faults and how.strict), faults
        is_declined = sum(decorated.variants.fallbacks.values()) > declined
        served = expected.error is None and not is_declined
        tally.served += served
        if served and len(decorated.variants.compiled) > len(known):
            variant = decorated.variants[0]
            stages = (("traced", variant.traced.graph), ("fused", variant.schedule.graph))
            for stage, graph in stages:
                compare(run(interpreted(variant.traced, graph, function), args), f"{stage} graph")
        for fusion in how.others:
            if fusion in unserved:
                continue
            if otherwise.check(fusion, decorated.variants, args, compare):
                tally.served += served
            elif served:
                unserved.append(fusion)
    tally.variants += len(decorated.variants) + otherwise.num_made
    tally.declined.update({reason(k): n for k, n in decorated.variants.fallbacks.items()})
    return unserved


def _compare(expected: Outcome, where: str, outcome: Outcome, what: str = "") -> None:
    text = f"{where}, {what}" if what else where
    compare_outcomes(without_late_text(expected, outcome), outcome, where=text)


def reason(message: str) -> str:
    """A message without file and numbers, to count it by."""
    text = message.rsplit(".py", 1)[-1]
    return "".join(c for c in text if not c.isdigit())[:60]


def failure_of(program: MutationProgram, folder: Path, how: How = PLAIN) -> str | None:
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
            check_program(program, folder, how)
    except Exception as error:
        cause = error.__cause__ or error
        words = [w for w in str(cause).split() if w.isalpha()]
        return " ".join([type(cause).__name__, *words[:2]])
    return None


def shrink(program: MutationProgram, folder: Path, how: How = PLAIN) -> MutationProgram:
    """Drop statements, results and calls as long as the program fails in the same way."""
    kind = failure_of(program, folder, how)
    progress = kind is not None
    while progress:
        progress = False
        for candidate in program.smaller():
            if failure_of(candidate, folder, how) == kind:
                program, progress = candidate, True
                break
    return program


def report(program: MutationProgram, folder: Path, how: How = PLAIN) -> str:
    """A failing program, shrunk, with its arguments and its failure."""
    small = shrink(program, folder, how)
    try:
        check_program(small, folder, how)
        failure = "(does not fail when run again)"
    except Exception as error:
        trace = traceback.format_exception(_root(error), limit=-5, chain=False)
        failure = "".join(trace) + (f"\n{error}" if error.__cause__ else "")
    lines = [f"seed {program.seed}, {how}".rstrip(", "), small.text]
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


Make = Callable[[int], MutationProgram]
PROGRAMS: dict[str, Make] = {
    "mutation": make_program,
    "joins": make_join_program,
    "library": make_library_program,
}


@dataclass(frozen=True, slots=True)
class Plan:
    """What a campaign makes and how it checks that; each ``jit_every``-th program jitted too."""

    make: Make = make_program
    fusions: tuple[str | None, ...] = (None,)
    strict: bool = False
    jit_every: int = 0

    def ways(self, seed: int) -> Iterator[How]:
        """How the program of a seed is checked, one way after the other."""
        first, *others = self.fusions
        yield How(False, first, self.strict, tuple(str(fusion) for fusion in others))
        if self.jit_every and seed % self.jit_every == 0:
            yield How(jit=True, fusion=self.fusions[0], strict=self.strict)


def campaign(seeds: Iterable[int], plan: Plan, *, stop_after: int = 5) -> Tally:
    """Check the programs of ``seeds``."""
    tally = Tally()
    with _collecting_little(), tempfile.TemporaryDirectory(prefix="fusejit-fuzz-") as name:
        folder = Path(name)
        for seed in seeds:
            program = plan.make(seed)
            for how in plan.ways(seed):
                try:
                    with deadline(SLOWEST):
                        check_program(program, folder, how, tally)
                except Exception:
                    tally.failures.append(report(program, folder, how))
                    break
            for file in folder.glob("*.py"):
                file.unlink()
            if len(tally.failures) >= stop_after:
                break
    return tally


def assert_no_difference(first: int, count: int, plan: Plan) -> None:
    """Check ``count`` programs; raise AssertionError with those that differ, shrunk.

    Most calls must run through a kernel, and few programs be refused.
    """
    tally = campaign(range(first, first + count), plan)
    assert not tally.failures, "\n\n".join([*tally.failures, str(tally)])
    assert tally.served > 1.5 * tally.programs, tally
    assert sum(tally.refused.values()) < 0.15 * tally.programs, tally


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a campaign and print it; returns how many programs failed."""
    parser = argparse.ArgumentParser(prog="python -m fusejit_testing.programs.mutation_fuzzer")
    parser.add_argument("first", type=int, help="the first seed")
    parser.add_argument("count", type=int, help="how many seeds")
    parser.add_argument("jit_every", type=int, nargs="?", default=0)
    parser.add_argument("--programs", choices=sorted(PROGRAMS), default="mutation")
    parser.add_argument("--fusion", nargs="+", choices=sorted(POLICIES), default=[None])
    parser.add_argument("--strict", action="store_true", help="any error of ours is a failure")
    given = parser.parse_args(arguments)
    plan = Plan(PROGRAMS[given.programs], tuple(given.fusion), given.strict, given.jit_every)
    total = Tally()
    end = given.first + given.count
    for at in range(given.first, end, _BETWEEN_TALLIES):
        seeds = range(at, min(at + _BETWEEN_TALLIES, end))
        tally = campaign(seeds, plan, stop_after=_BETWEEN_TALLIES)
        for failure in tally.failures:
            print("=" * 100, failure, sep="\n")
        total.add(tally)
        print(f"seeds {given.first} to {seeds.stop - 1}: {total}", flush=True)
    return len(total.failures)


if __name__ == "__main__":
    sys.exit(min(1, main()))
