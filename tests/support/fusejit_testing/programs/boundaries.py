"""Programs of the mutation fuzzer with statements in them that Python has to run.

At random places values are appended to a list from outside, handed to a method that keeps them,
written to an attribute, made into text, or passed through a function that returns its argument.
What was kept is compared too: the arrays themselves, as later stores have left them.
"""

from __future__ import annotations

import random
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from fusejit.api import FuseWarning
from fusejit.errors import ConcretizationError, UnsupportedError
from fusejit_testing.compare import EXACT, assert_same, clone
from fusejit_testing.oracle import compare_outcomes, decorate, no_faults, run, without_late_text
from fusejit_testing.programs.mutation_expressions import is_exact
from fusejit_testing.programs.mutation_fuzzer import LONGEST_IN_NUMPY, SLOWEST
from fusejit_testing.programs.mutation_maker import make_program
from fusejit_testing.programs.mutation_programs import MutationProgram, Statement, deadline

OUTSIDE = """\
import contextlib
import operator

KEPT = []
first = operator.itemgetter(0)


class Box:
    def __init__(self):
        self.items = []
        self.last = None

    def add(self, *values):
        self.items.append(values)


BOX = Box()
CAUGHT = (ValueError, IndexError, AssertionError, AttributeError, TypeError)


@contextlib.contextmanager
def noted():
    KEPT.append("in")
    try:
        yield
    finally:
        KEPT.append("out")


class Ends:
    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        KEPT.append(kind.__name__ if kind else None)
        return kind is not None and issubclass(kind, CAUGHT)


"""
# statements with the name of a variable
STATEMENTS = (
    "KEPT.append({0})",
    "KEPT.append((1, np.sum({0})))",
    "BOX.add({0}, 2 * {0})",
    "BOX.last = {0} * 2",
    "{0} = first(({0}, 1))",
    "KEPT.append(str(np.max({0} * 2) + 0) if np.size({0}) else f'{{np.size({0})}}')",
)
_CONTINUES = ("else", "elif", "except", "finally")  # what belongs to the statement before it
_OFTEN = 0.35  # of the places before a statement


def with_boundaries(program: MutationProgram) -> MutationProgram:
    """The program with random statements that Python has to run."""
    rng = random.Random(program.seed)
    names = [parameter.name for parameter in program.parameters]
    return replace(program, body=tuple(_with_boundaries(rng, program.body, names)))


def _with_boundaries(
    rng: random.Random, body: Sequence[Statement], known: Sequence[str]
) -> Iterator[Statement]:
    names = list(known)
    for statement in body:
        belongs = statement.text.startswith(_CONTINUES) or statement.text.endswith("# bound")
        if rng.random() < _OFTEN and not belongs:
            yield Statement(rng.choice(STATEMENTS).format(rng.choice(names)))
        inner = tuple(_with_boundaries(rng, statement.body, names))
        yield replace(statement, body=inner)
        target, is_bound, _ = statement.text.partition(" = ")
        if is_bound and target.isidentifier() and not statement.body:
            names.append(target)


def check_boundaries(program: MutationProgram, folder: Path, *, jit: bool = False) -> str:
    """Run every call and raise what differs from NumPy; how it ran: segments, whole, refused, .."""
    function = program.load(folder, OUTSIDE)
    kept, box = function.__globals__["KEPT"], function.__globals__["BOX"]
    with warnings.catch_warnings(), no_faults() as reports:
        fused = decorate(function, jit=jit, reports=reports)
        warnings.simplefilter("ignore", FuseWarning)
        warnings.simplefilter("ignore", RuntimeWarning)
        for call in range(len(program.calls)):
            args = program.arguments(call)
            kept.clear()
            box.__init__()
            with deadline(LONGEST_IN_NUMPY):
                expected = run(function, args)
            told = clone([list(kept), box.items, box.last])
            is_endless = isinstance(expected.error, TimeoutError)
            if is_endless or not (is_exact(expected.result) and is_exact(expected.args)):
                return "skipped"
            kept.clear()
            box.__init__()
            actual = run(fused, args)
            if isinstance(actual.error, UnsupportedError | ConcretizationError):
                return "refused"
            compare_outcomes(without_late_text(expected, actual), actual, where=f"call {call}")
            assert_same(told, [list(kept), box.items, box.last], EXACT, f"kept in call {call}")
    if fused.variants.newest_segmented is not None:
        return "segments"
    return "declined" if fused.variants.fallbacks else "whole"


def assert_no_difference(
    seeds: Iterable[int], made: Callable[[MutationProgram], MutationProgram] = with_boundaries
) -> None:
    """Check the programs of ``seeds``; most must run in segments, and few be refused."""
    ways: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="fusejit-boundaries-") as name:
        for seed in seeds:
            program = made(make_program(seed))
            try:
                with deadline(SLOWEST):
                    ways[check_boundaries(program, Path(name))] += 1
            except Exception as error:
                raise AssertionError(f"seed {seed}\n{program.source}") from error
    assert ways["segments"] > 0.6 * ways.total(), ways
    assert ways["refused"] < 0.05 * ways.total(), ways
