"""The comparison of functions with plain Python where Python may run a part of them.

Results, errors, arguments afterwards and types are equal, and the same lists and arrays are one. So
are the objects of those global names that a call may change.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from fusejit.api import FuseWarning
from fusejit.outcome import FAULT
from fusejit_testing.compare import EXACT, Bound, has_state
from fusejit_testing.oracle import (
    Outcome,
    compare_outcomes,
    decorate,
    no_faults,
    run,
    without_late_text,
)
from fusejit_testing.programs.mutation_programs import deadline

LONGEST_IN_PYTHON = 2.0  # seconds for one call
_FAULTS = (FAULT, "fault of fusejit", "VerificationError")


class EndlessError(Exception):
    """Python does not end a call soon, or has no memory for it."""


def identities_of(obj: Any, seen: dict[int, int] | None = None) -> list[int]:
    """A number for each container and array in an object, the same one for the same object."""
    seen = {} if seen is None else seen
    if has_state(obj):
        if id(obj) in seen:
            return [seen[id(obj)]]
        return [seen.setdefault(id(obj), len(seen)), *identities_of(vars(obj), seen)]
    if not isinstance(obj, list | tuple | dict | set | np.ndarray):
        return []
    found = [] if isinstance(obj, tuple) else [seen.setdefault(id(obj), len(seen))]
    if not isinstance(obj, set | np.ndarray):
        for one in obj.values() if isinstance(obj, dict) else obj:
            found += identities_of(one, seen)
    return found


class GlobalNames:
    """Global names of a function, what they stand for, and a way back to that."""

    def __init__(self, function: Callable[..., Any], names: Sequence[str]) -> None:
        self.namespace, self.names = function.__globals__, names

    def taken(self) -> tuple[Any, ...]:
        """Copies of the objects, which share what the objects share."""
        return copy.deepcopy(tuple(self.namespace[name] for name in self.names))

    def put(self, objects: tuple[Any, ...]) -> None:
        """Give the names these values; containers and instances stay the same ones."""
        for name, value in zip(self.names, copy.deepcopy(objects), strict=True):
            obj = self.namespace[name]
            if isinstance(obj, dict | set) and type(obj) is type(value):
                obj.clear()
                obj.update(value)
            elif isinstance(obj, list) and type(obj) is type(value):
                obj[:] = value
            elif has_state(obj) and type(obj) is type(value):
                vars(obj).clear()
                vars(obj).update(vars(value))
            else:
                self.namespace[name] = value

    def run(self, function: Callable[..., Any], args: tuple[Any, ...]) -> Outcome:
        """The outcome of a call, with the objects as further arguments."""
        outcome = run(function, args)
        if not self.names:
            return outcome
        objects = tuple(self.namespace[name] for name in self.names)
        result, args = copy.deepcopy((outcome.result, (*outcome.args, objects)))
        return replace(outcome, result=result, args=args)


def check_against_python(
    function: Callable[..., Any],
    calls: Iterable[tuple[Any, ...]],
    *,
    jit: bool = False,
    bound: Bound = EXACT,
    state: Sequence[str] = (),
) -> Any:
    """Make all calls both ways; the decorated function.

    ``state`` are global names whose objects calls may change.

    Raises
    ------
    AssertionError
        If a call gives something else than Python, or a fault of fusejit was met on the way.
    EndlessError
        If a call is no use.
    """
    with warnings.catch_warnings(record=True) as warned, no_faults() as reports:
        warnings.simplefilter("ignore", RuntimeWarning)
        warnings.simplefilter("always", FuseWarning)
        fused = decorate(function, jit=jit, reports=reports)
        outside = GlobalNames(function, state)
        for at, args in enumerate(calls):
            before = outside.taken()
            where = f"{function.__name__}, call {at}"
            try:
                with deadline(LONGEST_IN_PYTHON):
                    expected = outside.run(function, args)
            except TimeoutError as error:  # while what it has changed was copied
                raise EndlessError(where) from error
            if isinstance(expected.error, TimeoutError | MemoryError | RecursionError):
                raise EndlessError(where)
            outside.put(before)
            actual = outside.run(fused, args)
            compare_outcomes(without_late_text(expected, actual), actual, bound, where)
            if expected.error is None:
                ours, theirs = (identities_of((o.result, o.args)) for o in (actual, expected))
                assert ours == theirs, f"{where}: identities {ours} instead of {theirs}"
            for warning in warned:
                text = str(warning.message)
                assert not any(fault in text for fault in _FAULTS), f"{where}: {text}"
    return fused
