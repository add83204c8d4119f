"""One example, undecorated and decorated, compared."""

from __future__ import annotations

import contextlib
import copy
import io
import os
import signal
import types
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from fusejit import FuseWarning, fuse_jit
from fusejit.errors import FusejitError
from fusejit_testing.docstrings.examples import Example, as_function, cuts
from fusejit_testing.libraries.differences import (
    Comparison,
    Different,
    moved_by_roundings,
    require_near,
)
from fusejit_testing.libraries.outcomes import kind_of, same_error
from fusejit_testing.libraries.records import Kind

_SEED = 20_260_101
_KNOWN_BY_NAME = {"scipy": "scipy", "pywt": "pywt", "pd": "pandas"}  # examples do not import them
_UNJITTED = "FUSEJIT_UNJITTED"
_FAULT = "an internal error of fusejit"


class _TooLong(BaseException):
    """An example has run for longer than it may."""


@dataclass(frozen=True, slots=True)
class Found:
    """What came of one form of an example.

    Attributes
    ----------
    name : str
    cut : int
    kind : Kind or None
        None where decorated and undecorated agree.
    what : str
    """

    name: str
    cut: int
    kind: Kind | None
    what: str = ""


@dataclass(slots=True)
class _Run:
    value: Any = None
    error: BaseException | None = None
    printed: str = ""
    told: tuple[str, ...] = ()


def judged(example: Example, seconds: float) -> Iterator[Found]:
    """Each form of an example; those that do not run undecorated are left out."""
    for cut in cuts(example):
        found = _in_time(example, cut, seconds)
        if found is not None and found.kind is Kind.HANG and _UNJITTED in os.environ:
            unjitted = os.environ.pop(_UNJITTED)  # kernels of large arrays take long as Python
            found = _in_time(example, cut, 4 * seconds)
            os.environ[_UNJITTED] = unjitted
        if found is not None:
            yield found


def _in_time(example: Example, cut: int, seconds: float) -> Found | None:
    begun: list[bool] = []
    try:
        with _limited(seconds), np.errstate(), np.printoptions():
            return _judged_once(example, cut, begun)
    except _TooLong:  # undecorated, if it was not begun
        what = f"longer than {seconds:g} s"
        return Found(example.name, cut, Kind.HANG, what) if begun else None


def _judged_once(example: Example, cut: int, begun: list[bool]) -> Found | None:
    names: dict[str, Any] = {"np": np, "__name__": "example"}
    for name, library in _KNOWN_BY_NAME.items():
        with contextlib.suppress(ImportError):
            names[name] = __import__(library)
    given: dict[str, Any] = {}
    quiet = io.StringIO()
    np.random.seed(_SEED)
    try:
        with contextlib.redirect_stdout(quiet), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for text in example.statements[:cut]:
                before = dict(names)
                exec(text, names)
                given |= {k: v for k, v in names.items() if k not in before or before[k] is not v}
    except Exception:
        return None
    is_captured = (types.ModuleType, type, types.FunctionType, types.BuiltinFunctionType)
    given = {k: v for k, v in given.items() if k[:1] != "_" and not isinstance(v, is_captured)}
    try:
        function = as_function(example, cut, given, names)
        arguments = [copy.deepcopy(tuple(given.values())) for _ in range(5)]
    except Exception:  # syntax that is none in a function; what cannot be copied
        return None
    expected = _run(function, arguments[0])
    if expected.error is not None or not _is_repeatable(function, arguments[1], expected):
        return None
    begun.append(True)
    fused = fuse_jit(function)
    for call, args in enumerate(arguments[2:4], 1):
        actual = _run(fused, args)
        faults = [text for text in actual.told if _FAULT in text]
        if faults:
            return Found(example.name, cut, Kind.ERROR, faults[0])
        what = _difference(function, expected, actual, arguments[0], args, arguments[4])
        if what is not None:
            return Found(example.name, cut, what[0], f"call {call}: {what[1]}")
    return Found(example.name, cut, None)


def _is_repeatable(function: Callable[..., Any], args: Any, expected: _Run) -> bool:
    """Whether the undecorated function says the same again."""
    again = _run(function, args)
    if again.error is not None or again.printed != expected.printed:
        return False
    comparison = Comparison()
    try:
        comparison.same(expected.value, again.value, "result")
    except Different:
        return False
    return not comparison.inexact


def _run(function: Callable[..., Any], args: Any) -> _Run:
    np.random.seed(_SEED)
    run, printed = _Run(), io.StringIO()
    with warnings.catch_warnings(record=True) as told, contextlib.redirect_stdout(printed):
        warnings.simplefilter("always")
        try:
            run.value = function(*args)
        except Exception as error:
            run.error = error
    run.printed = printed.getvalue()
    run.told = tuple(str(w.message) for w in told if issubclass(w.category, FuseWarning))
    return run


def _difference(
    function: Callable[..., Any], expected: _Run, actual: _Run, before: Any, after: Any, fresh: Any
) -> tuple[Kind, str] | None:
    if actual.error is not None:
        if isinstance(actual.error, FusejitError) or not same_error(None, actual.error):
            return kind_of(actual.error), f"{type(actual.error).__name__}: {actual.error}"
        return None
    comparison = Comparison()
    try:
        comparison.same(expected.value, actual.value, "result")
        comparison.same(before, after, "arguments afterwards")
        if comparison.inexact:
            _require_near(comparison, function, expected, fresh)
    except Different as different:
        return Kind.WRONG, str(different)
    if expected.printed != actual.printed and not comparison.inexact:
        return Kind.WRONG, f"prints {actual.printed[:200]!r} instead of {expected.printed[:200]!r}"
    return None


def _require_near(
    comparison: Comparison, function: Callable[..., Any], expected: _Run, fresh: Any
) -> None:
    def again(rng: np.random.Generator | None) -> list[tuple[str, np.ndarray, np.ndarray]]:
        args = copy.deepcopy(fresh)
        run = _run(function, args if rng is None else moved_by_roundings(args, rng))
        other = Comparison()
        try:
            other.same(expected.value, run.value, "result")
        except Different:  # shapes that follow from numbers
            return []
        return other.inexact

    require_near(comparison.inexact, fresh, again)


@contextlib.contextmanager
def _limited(seconds: float) -> Iterator[None]:
    """Raise `_TooLong` in the main thread after so many seconds."""

    def ring(*_: Any) -> None:
        raise _TooLong

    old = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
