"""`verify`: the compiled schedule against NumPy, on the user's arguments and on sizes near them."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from fusejit.dataclass import dataclass, replace
from fusejit.errors import ScheduleError
from fusejit.transform.compiled import compiled
from fusejit.transform.core.base import ScheduleState
from fusejit.transform.core.equivalence import array_like, same_bits
from fusejit.transform.log import log_text, table_lines
from fusejit.transform.served_calls import NotServed

SHIFTS = (1, -1, 7, -5)
"""What is added to the sizes of the arguments: sizes that differ by a number go on doing so."""

WINDOW = 5
"""Sizes up to this one, which are often those of windows, stay where 1 is added or taken away."""

EXPONENTS = {"bits": 2 / 3, "reassoc": 2 / 3, "approx": 1 / 2}
"""The tolerance is this power of the machine epsilon, relative to the largest number of an array.

Steps that keep bits keep those of the function compiled without them, which may differ from NumPy
in the last bits of transcendental functions.
"""


@dataclass(frozen=True)
class Compared:
    """One call: the shapes of its arguments, and how far its results are from NumPy's."""

    shapes: str
    outcome: str
    is_compared: bool


@dataclass(frozen=True)
class Verification:
    """The calls that were compared; print it to see them."""

    name: str
    tag: str
    calls: tuple[Compared, ...]

    def __str__(self) -> str:
        num = sum(call.is_compared for call in self.calls)
        head = f"{self.name}: {num} of {len(self.calls)} calls compared with NumPy ({self.tag})"
        return "\n".join(
            [head, *table_lines([("  " + c.shapes, c.outcome) for c in self.calls], (0, 1), set())]
        )


def verify_schedule(
    schedule: ScheduleState, args: tuple[Any, ...], tolerance: float | None
) -> Verification:
    """Compare the compiled function with the plain one.

    Raises
    ------
    ScheduleError
        At the first result that differs by more than the tags of the steps allow, or if no call
        could be compared.
    """
    tag = tag_of(schedule)
    plain = schedule.stage.function
    run = compiled(schedule)
    traced = compiled(replace(schedule, graph=schedule.stage.graph)) if tag == "bits" else None
    calls: list[Compared] = []
    for given, has_special in _inputs(args, tag):
        shapes = ", ".join(str(a.shape) if isinstance(a, np.ndarray) else repr(a) for a in given)
        shapes += ", with nan and inf" if has_special else ""
        try:
            expected = _results(plain, given)
        except Exception as error:
            calls.append(Compared(shapes, f"NumPy raises {type(error).__name__}", False))
            continue
        try:
            found = _results(run, given)
        except NotServed as error:
            if not calls:
                raise
            calls.append(Compared(shapes, f"not compared: {error}", False))
            continue
        exact = [] if traced is None else _results(traced, given)
        distance = _distance(found, expected, exact, tag, tolerance)
        if isinstance(distance, str):
            raise ScheduleError(
                f"{schedule.graph.name} with arguments {shapes} differs from NumPy by more than "
                f"{tag} allows: {distance}\n{log_text(schedule)}"
            )
        close = f"within {distance:.1e} of the largest number" if distance else "same bits"
        close += ", same bits as without the steps" if distance and tag == "bits" else ""
        calls.append(Compared(shapes, close, True))
    if not any(call.is_compared for call in calls):
        raise ScheduleError(f"{schedule.graph.name}: no call can be compared: {calls[0].outcome}")
    return Verification(schedule.graph.name, tag, tuple(calls))


def require_equal(schedule: ScheduleState, found: Any, expected: Any) -> None:
    """Compare what a schedule returns with what the function returns without the steps.

    Raises
    ------
    ScheduleError
        If they differ by more than the tags of the steps allow. That is an internal error.
    """
    new, old, tag = [*_leaves(found)], [*_leaves(expected)], tag_of(schedule)
    distance = _distance(new, old, old if tag == "bits" else [], tag, None)
    if isinstance(distance, str):
        raise ScheduleError(
            f"{schedule.graph.name} (an internal error): {distance}\n{log_text(schedule)}"
        )


def tag_of(schedule: ScheduleState) -> str:
    """What all steps keep together."""
    tags = {step.tag for step in schedule.steps}
    return next((t for t in ("approx", "reassoc") if t in tags), "bits")


def _inputs(args: tuple[Any, ...], tag: str) -> Iterator[tuple[tuple[Any, ...], bool]]:
    """The arguments, and arrays of other sizes; whether they have special values."""
    yield args, False
    rng = np.random.default_rng(0)
    sizes = {n for arg in args if isinstance(arg, np.ndarray) for n in arg.shape if n > 1}
    maps: list[Mapping[int, int]] = [
        {n: n if n <= WINDOW and abs(k) == 1 else max(n + k, 1) for n in sizes} for k in SHIFTS
    ]
    for new in [*maps, dict.fromkeys(sizes, 1), dict.fromkeys(sizes, 0)] if sizes else ():
        for has_special in (False, True) if tag == "bits" and new is maps[0] else (False,):
            yield tuple(array_like(arg, new, rng, has_special) for arg in args), has_special


def _results(function: Callable[..., Any], args: tuple[Any, ...]) -> list[Any]:
    """What a call returns, and what becomes of its arguments."""
    own = copy.deepcopy(args)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [*_leaves(function(*own)), *(a for a in own if isinstance(a, np.ndarray))]


def _leaves(result: Any) -> Iterator[Any]:
    if isinstance(result, Mapping):
        result = tuple(result.values())
    if isinstance(result, tuple | list):
        for part in result:
            yield from _leaves(part)
    else:
        yield np.asarray(result)


def _distance(
    found: list[Any], expected: list[Any], exact: list[Any], tag: str, tolerance: float | None
) -> str | float:
    """How far results are from the expected ones, relative to the largest number, if not too far.

    Otherwise the first one that is too far, as text.
    """
    worst = 0.0
    for number, (new, old) in enumerate(zip(found, expected, strict=True)):
        if new.dtype != old.dtype or new.shape != old.shape:
            what = f"{new.dtype} of shape {new.shape}, NumPy gives {old.dtype} of {old.shape}"
            return f"result {number} is {what}"
        if same_bits(old, new):
            continue
        if exact and not same_bits(exact[number], new):
            return f"result {number} has other bits than without the steps{_first(new, old, 0.0)}"
        allowed = 0.0
        if old.dtype.kind in "fc":
            known = float(np.finfo(old.dtype).eps ** EXPONENTS[tag])
            allowed = known if tolerance is None else tolerance
        finite = np.abs(old[np.isfinite(old)])
        scale = float(finite.max(initial=0.0)) or 1.0
        if not np.allclose(new, old, rtol=0.0, atol=allowed * scale, equal_nan=True):
            return f"result {number} is too far{_first(new, old, allowed * scale)}"
        both = np.isfinite(old) & np.isfinite(new)
        worst = max(worst, float(np.abs(new[both] - old[both]).max(initial=0.0)) / scale)
    return worst


def _first(new: np.ndarray, old: np.ndarray, allowed: float) -> str:
    """The first number that differs, as text."""
    wrong = np.argwhere(~np.isclose(new, old, rtol=0.0, atol=allowed, equal_nan=True))
    if not len(wrong):
        return ""
    at = tuple(map(int, wrong[0]))
    return f": at {at} it is {new[at]}, NumPy gives {old[at]}"
