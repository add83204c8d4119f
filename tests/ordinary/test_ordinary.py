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
import warnings
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks.ordinary import PROGRAMS
from benchmarks.ordinary.decorated import decorated
from benchmarks.programs.comparison import compare
from benchmarks.programs.program import Program
from benchmarks.programs.sensitivity import outcome
from fusejit.api import FuseWarning
from fusejit.errors import FusejitError
from fusejit.support.budget import Speculation
from fusejit_testing.compare import assert_same
from fusejit_testing.gaps import UPDATE, Gaps
from fusejit_testing.oracle import decorate

ROOT = Path(__file__).resolve().parents[2]
PLAIN = "runs as plain NumPy"
TIMES = 2  # each call is made, for what the first one leaves behind

FORMS = ("unjitted", "jitted")
GAPS = Gaps(Path(__file__).with_name("gaps.txt"), ROOT)


class DecorationError(Exception):
    """The decorator itself refused a function of the program's file."""


@pytest.fixture(autouse=True)
def never_speculates(monkeypatch: pytest.MonkeyPatch) -> None:
    """Traces functions of arrays alone: when others are worth it depends on the machine."""
    monkeypatch.setattr(Speculation, "affords", lambda self, seconds=0.0: False)


@pytest.fixture(scope="module", autouse=True)
def updated_gaps() -> Iterator[None]:
    """Writes the gaps that were found, if asked to; those of programs not run stay."""
    yield
    if UPDATE:
        GAPS.write((program.name for program in PROGRAMS), FORMS)


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


def attempt(program: Program, form: str) -> None:
    """Compare the decorated program with the plain one at both sizes, noting gaps."""
    place = (program.name, form)
    known = GAPS.try_now(*place)
    if known.startswith("slow"):
        GAPS.note(*place, known)
        pytest.xfail(known)
    known = "" if UPDATE else known
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        try:
            check(program, jit=form == "jitted")
        except (FusejitError, DecorationError, AssertionError) as failure:
            kind = "wrong" if isinstance(failure, AssertionError) else "refused"
            reason = f"{kind}: {str(failure).splitlines()[0]}"
            GAPS.note(*place, reason)
            if UPDATE or known.startswith(f"{kind}: "):
                pytest.xfail(reason)
            raise
    assert not known.startswith(("wrong", "refused")), f"it is right now: {GAPS.path.name} says not"
    plain = [str(w.message) for w in given if PLAIN in str(w.message)]
    if plain:
        GAPS.note(*place, f"plain: {plain[0]}")
    if not UPDATE:
        assert bool(plain) == known.startswith("plain: "), plain or f"{known}: not any more"


def check(program: Program, jit: bool) -> None:
    """Raise AssertionError where a decorated program and the plain one differ."""
    plain = watched(decorated(program, lambda function: function))  # its module's state is its own
    try:
        ours = watched(
            decorated(program, lambda function: decorate(function, jit=jit, tiering=True))
        )
    except TypeError as error:
        raise DecorationError(str(error)) from error
    for size in program.sizes:
        for _ in range(TIMES):
            given, taken = plain.build(size), ours.build(size)
            expected = plain.function(*given)
            actual = ours.function(*taken)
            compare(
                plain,
                size,
                [expected, *given],
                [actual, *taken],
                exact_integers=True,
                kinds_by_name=True,
            )


def test_names_are_unique_and_gaps_are_about_programs() -> None:
    names = [program.name for program in PROGRAMS]
    assert len(set(names)) == len(names) >= 10
    assert {name for name, _ in GAPS.known} <= set(names)


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
