"""Calls that fell back, so that others like them are not traced each time for nothing.

Two calls are alike if their arrays have the same dtypes, shapes and strides and their numbers and
texts are equal. They are of one kind if types, dtypes, ranks and texts are the same, which is all
that is asked of objects, lists and dictionaries. Why a trace
ended may lie outside of the arguments (a global name, an attribute), so an entry is no proof: of
calls that are alike the first, second, fourth, eighth .. is traced again. A call that falls back
needlessly runs as plain NumPy, and is right.
"""

from __future__ import annotations

import enum
from collections import OrderedDict
from collections.abc import Callable, Hashable
from types import FunctionType
from typing import Any, cast

import numpy as np

from fusejit.codegen.launcher.call_guard import NEVER, CallGuard, Expected, expected_of
from fusejit.dataclass import dataclass
from fusejit.ir.raw_reads import NUMPY_SCALARS, dtype_of, is_a, ndim_of, value_reader
from fusejit.ir.write_access import ACCESS_BITS
from fusejit.outcome import MISS, Outcome

Launch = Callable[..., Any]

_LIMIT = 64  # entries; the one that was not met for longest goes
_MAX_PARTS = 16  # of a tuple
_OFTEN = 16  # calls of a kind, before they pass without being asked about
_PLAIN = (bool, int, float, complex, str, bytes, type(None))
_NAMES = (str, bytes, type, np.dtype)  # of which a program chooses by value what it does


@dataclass(slots=True)
class _Entry:
    outcome: Outcome
    calls: int

    def met(self) -> Outcome | None:
        """The outcome, but for calls that are to be traced again."""
        self.calls += 1
        is_due = self.calls & (self.calls - 1) == 0
        return self.outcome if self.outcome.is_final or not is_due else None


class FallbackCache:
    """Why calls of a function fell back, by what their arguments are like.

    Parameters
    ----------
    guesses : bool
        Whether calls are taken to be alike that are of one kind, where no more can be told. Not
        under ``fullgraph=True``: a call that compiles must not be refused for another's sake.
    """

    def __init__(self, *, guesses: bool = True) -> None:
        self._guesses = guesses
        self._known: OrderedDict[Hashable, _Entry] = OrderedDict()
        self._guarded: tuple[_Entry, CallGuard] | None = None
        self._next_guard = _OFTEN

    def outcome(self, args: tuple[Any, ...]) -> Outcome | None:
        """Why a call like this one fell back; None if it should be traced."""
        if not self._known:
            return None
        for key in (_signature(args), likeness(args)):
            entry = self._known.get(key) if key is not None else None
            if entry is not None:
                return entry.met()
        return None

    def add(self, args: tuple[Any, ...], outcome: Outcome) -> None:
        """Remember that a call fell back: calls alike, or of its kind where that is not told."""
        key = likeness(args)
        if key is None and self._guesses:
            key = _signature(args)
        self._remember(key, outcome)

    def add_signature(self, args: tuple[Any, ...], outcome: Outcome) -> None:
        """Remember that all calls of its signature fall back."""
        self._remember(_signature(args), outcome)

    def guard(self, args: tuple[Any, ...], function: FunctionType) -> CallGuard | None:
        """A guard that lets calls of this signature pass unchecked; None if that is too early.

        Of these, too, the one that makes their number a power of two is looked at.
        """
        entry = self._known.get(_signature(args))
        if entry is None or entry.calls < self._next_guard:
            return None
        expected = [*map(_expected, args)]
        if None in expected:
            return None
        self._next_guard = 2 * entry.calls
        due = NEVER if entry.outcome.is_final else (1 << entry.calls.bit_length()) - entry.calls
        guard = CallGuard(cast(Any, expected), due, function)
        self._guarded = entry, guard
        return guard

    def passing(
        self,
        args: tuple[Any, ...],
        function: FunctionType,
        run: Callable[[Outcome], Callable[..., Any]],
    ) -> tuple[Hashable, Callable[..., Any]] | None:
        """A key and what serves calls of this signature among others; None if that is too early.

        Parameters
        ----------
        args : tuple
        function : FunctionType
            Its code and default values must stay what they are.
        run : callable
            Given why they fall back, what runs them.
        """
        entry = self._known.get(_signature(args))
        expected = [*map(_expected, args)]
        if entry is None or entry.calls < _OFTEN or None in expected:
            return None
        asks, runs = CallGuard(cast(Any, expected), NEVER, function).rejects, run(entry.outcome)

        def call(*args: Any) -> Any:
            calls = entry.calls + 1
            if asks(*args) or (not entry.outcome.is_final and calls & entry.calls == 0):
                return MISS  # the one that makes their number a power of two is looked at
            entry.calls = calls
            return runs(*args)

        return ("fallback", id(entry)), call

    def recount(self) -> None:
        """Count the calls that have passed; the last one did not."""
        if self._guarded is not None:
            entry, guard = self._guarded
            entry.calls += guard.calls - 1
            self._guarded = None

    def forget(self, args: tuple[Any, ...]) -> None:
        """A call was not as those that fell back."""
        for key in (_signature(args), likeness(args)):
            self._known.pop(key, None)

    def final(self, args: tuple[Any, ...]) -> Outcome | None:
        """Why calls of this signature are never tried again; None if they are."""
        entry = self._known.get(_signature(args))
        return entry.outcome if entry is not None and entry.outcome.is_final else None

    def _remember(self, key: Hashable, outcome: Outcome) -> None:
        if key is None:
            return
        known = self._known.pop(key, None)
        self._known[key] = _Entry(outcome, 1 if known is None else known.calls)
        while len(self._known) > _LIMIT:
            self._known.popitem(last=False)


def likeness(value: Any) -> Hashable:
    """What calls that are alike agree in; None where it cannot be told."""
    if type(value) is np.ndarray:
        flags = value.flags
        dtype = value.dtype, value.dtype.metadata is None
        return *dtype, value.shape, value.strides, flags.num & ACCESS_BITS, flags.aligned
    kind = type(value)
    if kind in _PLAIN or kind in NUMPY_SCALARS:
        return kind, value
    if is_a(value, enum.Enum):
        return kind, id(value)
    if (read := value_reader(kind)) is not None:
        return kind, read(value)
    if type(value) is tuple:
        parts = tuple(map(likeness, value))
        return None if None in parts else parts
    return None


def _expected(value: Any) -> Expected | None:
    """What all arguments with that `_signature` are like; None if that is not checked."""
    if type(value) is np.ndarray:
        return expected_of(value)
    return None if is_a(value, (np.ndarray, tuple, *_NAMES)) else Expected(type(value))


def _signature(value: Any) -> Hashable:
    """What calls of one signature agree in."""
    if is_a(value, np.ndarray):
        dtype = dtype_of(value)
        return type(value), dtype, dtype.metadata is None, ndim_of(value)
    if is_a(value, type):
        return type(value), id(value)
    if type(value) in (str, bytes) or is_a(value, np.dtype):
        return type(value), value
    if type(value) is tuple and len(value) <= _MAX_PARTS:
        return tuple, *map(_signature, value)
    return (type(value),)
