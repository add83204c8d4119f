"""Ordinary programs, every function and method of their files decorated, against plain Python.

Compared are results, arguments afterwards, printed text, exceptions and the program's own warnings,
at two sizes and twice each. Text, integers and conditions are equal; floats are where only exact
operations occur, and elsewhere within what `benchmarks.programs.sensitivity` measures.

``gaps.txt`` says what is not so yet: ``program form: kind: why``. A program that is ``wrong`` or
``refused`` is expected to fail. One that is ``plain`` is right, but a warning says that a whole
function of it runs as plain NumPy: for those the file gives the reason. (Generator functions stay
as they are, and statements may be Python's: that is not counted.) One that is ``slow`` takes more
than ten seconds and is not run; take the line out by hand to see. A line whose program has become
better fails until it is gone::

    FUSEJIT_UPDATE_PROGRAMS=1 pytest tests/ordinary -m "deep or not deep" -n 0
"""

from __future__ import annotations

import functools
import io
import os
import re
import warnings
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.ordinary import PROGRAMS
from benchmarks.ordinary.decorated import decorated
from benchmarks.programs.program import Program
from benchmarks.programs.sensitivity import allowances, distance, leaves, outcome
from fusejit.api import FuseWarning
from fusejit.errors import FusejitError
from fusejit.testing.compare import Bound, assert_same, assert_same_aliasing
from fusejit.testing.oracle import decorate

ROOT = Path(__file__).resolve().parents[2]
GAPS_FILE = Path(__file__).with_name("gaps.txt")
REASON_LENGTH = 200
UPDATE = os.environ.get("FUSEJIT_UPDATE_PROGRAMS") == "1"
PLAIN = "runs as plain NumPy"
TIMES = 2  # each call is made, for what the first one leaves behind

FORMS = ("unjitted", "jitted")
Gaps = dict[tuple[str, str], str]
found: Gaps = {}
tried: set[tuple[str, str]] = set()


class DecorationError(Exception):
    """The decorator itself refused a function of the program's file."""


def read_gaps() -> Gaps:
    """``(program, form) -> "kind: why"`` of each line ``program form: kind: why``."""
    gaps = {}
    for line in GAPS_FILE.read_text().splitlines():
        place, _, reason = line.partition(": ")
        name, form = place.split()
        gaps[name, form] = reason
    return gaps


GAPS = read_gaps()


@pytest.fixture(scope="module", autouse=True)
def updated_gaps() -> Iterator[None]:
    """Writes the gaps that were found, if asked to; those of programs not run stay."""
    yield
    if UPDATE:
        kept = {p: reason for p, reason in read_gaps().items() if p not in tried}
        gaps = kept | found
        lines = [
            f"{program.name} {form}: {gaps[program.name, form]}\n"
            for program in PROGRAMS
            for form in FORMS
            if (program.name, form) in gaps
        ]
        GAPS_FILE.write_text("".join(lines))


def watched(program: Program) -> Program:
    """The program with all that a call shows: result, error, text, and the warnings it gives."""

    @functools.wraps(program.function)
    def function(*arguments: Any) -> dict[str, Any]:
        text, result, error = io.StringIO(), None, None
        with warnings.catch_warnings(record=True) as given, redirect_stdout(text):
            warnings.simplefilter("always")
            try:
                result = program.function(*arguments)
            except FusejitError:
                raise
            except Exception as raised:
                error = [type(raised).__name__, str(raised)]
        own = [w for w in given if not issubclass(w.category, FuseWarning | RuntimeWarning)]
        for warning in given:
            if issubclass(warning.category, FuseWarning):
                warnings.warn(warning.message, stacklevel=2)
        texts = [f"{w.category.__name__}: {w.message}" for w in own]
        return {"error": error, "result": result, "printed": text.getvalue(), "warned": texts}

    return replace(program, function=function)


def compare(program: Program, size: int, expected: Any, actual: Any) -> None:
    """Types, dtypes, shapes and sharing are Python's; values are equal or within bounds."""
    assert_same_kinds(expected, actual)
    pairs = zip(leaves(expected), leaves(actual), strict=True)
    for pair, allowed in zip(pairs, allowances(program, size), strict=True):
        (where, want), (_, have) = pair
        place = f"size {size}: {where}"
        kind = np.asarray(want).dtype.kind
        if kind == "f" and allowed > 0:
            assert_same(want, have, Bound(absolute=allowed), place)
        elif kind == "c":
            assert_same(np.zeros_like(want), np.zeros_like(have), where=place)
            apart = distance(want, have)
            assert apart <= allowed, f"{place}: {apart:.3g} apart, allowed {allowed:.3g}"
        else:
            assert_same(want, have, where=place)
    assert_same_aliasing(expected, actual, f"size {size}: ")


def assert_same_kinds(expected: Any, actual: Any, where: str = "outcome") -> None:
    """Nested containers have the same types, leaves as well; classes are those of that name."""
    kinds = [f"{type(v).__module__}.{type(v).__qualname__}" for v in (expected, actual)]
    assert kinds[0] == kinds[1], f"{where}: {kinds[1]} {actual!r} instead of {kinds[0]}"
    if isinstance(expected, str) or expected is None:
        assert expected == actual, f"{where}: {actual!r} instead of {expected!r}"
    elif isinstance(expected, tuple | list):
        assert len(expected) == len(actual), f"{where}: {actual!r} instead of {expected!r}"
        for at, (e, a) in enumerate(zip(expected, actual, strict=True)):
            assert_same_kinds(e, a, f"{where}[{at}]")
    elif isinstance(expected, dict):
        keys = [*expected], [*actual]
        assert keys[0] == keys[1], f"{where}: keys {keys[1]} instead of {keys[0]}"
        for key in expected:
            assert_same_kinds(expected[key], actual[key], f"{where}[{key!r}]")


def attempt(program: Program, form: str) -> None:
    """Compare the decorated program with the plain one at both sizes, noting gaps."""
    place = (program.name, form)
    tried.add(place)
    known = GAPS.get(place, "")
    if known.startswith("slow"):
        found[place] = known
        pytest.xfail(known)
    known = "" if UPDATE else known
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        try:
            check(program, jit=form == "jitted")
        except (FusejitError, DecorationError, AssertionError) as failure:
            kind = "wrong" if isinstance(failure, AssertionError) else "refused"
            reason = f"{kind}: {str(failure).splitlines()[0]}"
            note(place, reason)
            if UPDATE or known.startswith(f"{kind}: "):
                pytest.xfail(reason)
            raise
    assert not known.startswith(("wrong", "refused")), f"it is right now: {GAPS_FILE.name} says not"
    plain = [str(w.message) for w in given if PLAIN in str(w.message)]
    if plain:
        note(place, f"plain: {plain[0]}")
    if not UPDATE:
        assert bool(plain) == known.startswith("plain: "), plain or f"{known}: not any more"


def note(place: tuple[str, str], reason: str) -> None:
    """Keep a gap for the file, in one line that holds no path of this clone."""
    reason = re.sub(r"\s+", " ", reason).replace(f"{ROOT}/", "")
    found[place] = reason[:REASON_LENGTH]


def check(program: Program, jit: bool) -> None:
    """Raise AssertionError where a decorated program and the plain one differ."""
    plain = watched(decorated(program, lambda function: function))  # its module's state is its own
    try:
        ours = watched(
            decorated(program, lambda function: decorate(function, jit=jit, retires=True))
        )
    except TypeError as error:
        raise DecorationError(str(error)) from error
    for size in program.sizes:
        for _ in range(TIMES):
            given, taken = plain.build(size), ours.build(size)
            expected = plain.function(*given)
            actual = ours.function(*taken)
            compare(plain, size, [expected, *given], [actual, *taken])


def test_names_are_unique_and_gaps_are_about_programs() -> None:
    names = [program.name for program in PROGRAMS]
    assert len(set(names)) == len(names) >= 10
    assert {name for name, _ in GAPS} <= set(names)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_plain_python_gives_the_same_answer_twice(program: Program) -> None:
    plain = watched(program)
    for size in program.sizes:
        first = outcome(plain.function, plain.build(size))
        second = outcome(plain.function, plain.build(size))
        for (where, a), (_, b) in zip(first, second, strict=True):
            assert_same(a, b, where=where)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_unjitted(program: Program) -> None:
    attempt(program, "unjitted")


@pytest.mark.deep
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_jitted(program: Program) -> None:
    attempt(program, "jitted")
