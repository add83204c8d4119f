"""The comparison of functions with plain Python where Python may run a part of them.

Results, errors, arguments afterwards and types are equal, and the same lists and arrays are one.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from fusejit.api import FuseWarning
from fusejit.outcome import FAULT
from fusejit_testing.compare import EXACT, Bound
from fusejit_testing.oracle import compare_outcomes, decorate, no_faults, run, without_late_text
from fusejit_testing.programs.mutation_programs import deadline

LONGEST_IN_PYTHON = 2.0  # seconds for one call
_FAULTS = (FAULT, "fault of fusejit", "VerificationError")


class EndlessError(Exception):
    """Python does not end a call soon, or has no memory for it."""


def identities_of(obj: Any, seen: dict[int, int] | None = None) -> list[int]:
    """A number for each container and array in an object, the same one for the same object."""
    seen = {} if seen is None else seen
    if not isinstance(obj, list | tuple | dict | set | np.ndarray):
        return []
    found = [] if isinstance(obj, tuple) else [seen.setdefault(id(obj), len(seen))]
    if not isinstance(obj, set | np.ndarray):
        for one in obj.values() if isinstance(obj, dict) else obj:
            found += identities_of(one, seen)
    return found


def check_against_python(
    function: Callable[..., Any],
    calls: Iterable[tuple[Any, ...]],
    *,
    jit: bool = False,
    bound: Bound = EXACT,
) -> Any:
    """Make all calls both ways; the decorated function.

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
        for at, args in enumerate(calls):
            where = f"{function.__name__}, call {at}"
            with deadline(LONGEST_IN_PYTHON):
                expected = run(function, args)
            if isinstance(expected.error, TimeoutError | MemoryError | RecursionError):
                raise EndlessError(where)
            actual = run(fused, args)
            compare_outcomes(without_late_text(expected, actual), actual, bound, where)
            if expected.error is None:
                ours, theirs = (identities_of((o.result, o.args)) for o in (actual, expected))
                assert ours == theirs, f"{where}: identities {ours} instead of {theirs}"
            for warning in warned:
                text = str(warning.message)
                assert not any(fault in text for fault in _FAULTS), f"{where}: {text}"
    return fused
