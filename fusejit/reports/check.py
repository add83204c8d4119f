"""`f.check(*args)`: the function as NumPy and fused, on copies, compared."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Iterator
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from fusejit.reports.answer import Answer
from fusejit.support.identity import own_signature

_MAX_EQUAL_ITEMS = 8  # of a list, that have lines of their own
_ATOMS = (int, float, complex, str, bytes, type(None), type, FunctionType, ModuleType)


def checked(
    plain: Callable[..., Any],
    fused: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    note_times: Callable[[int, int], None],
) -> Answer:
    """Run both on deep copies of the arguments and describe every difference.

    ``note_times`` receives the nanoseconds that both took.

    Returns
    -------
    Answer
        One line per result and per argument, or per array in them; "same bits", or the largest
        difference.
    """
    outcomes, times = [], []
    for function in (plain, fused):
        copies = copy.deepcopy((args, kwargs))
        begin = time.perf_counter_ns()
        try:
            result: Any = function(*copies[0], **copies[1])
        except Exception as error:
            result = error
        times.append(time.perf_counter_ns() - begin)
        bound = own_signature(plain).bind(*copies[0], **copies[1])
        outcomes.append((result, bound.arguments))
    note_times(times[0], times[1])
    (expected, expected_copies), (actual, actual_copies) = outcomes
    compare = Comparison()
    lines = compare.lines("result", expected, actual)
    for name, value in expected_copies.items():
        lines += compare.lines(f"argument {name}", value, actual_copies[name])
    return Answer.of(lines)


class Comparison:
    """Describe how values differ; objects that refer to each other are compared once."""

    def __init__(self) -> None:
        self._seen: dict[tuple[int, int], Any] = {}  # keeps them alive, as ids are the keys

    def lines(self, name: str, expected: Any, actual: Any) -> list[str]:
        """Lines that tell how two (nested) values differ."""
        if isinstance(expected, BaseException) or isinstance(actual, BaseException):
            if type(expected) is type(actual) and str(expected) == str(actual):
                return [f"{name}: both raise {expected!r}"]
            return [f"{name}: {_outcome(expected)}, but fused: {_outcome(actual)}"]
        if type(expected) is not type(actual):
            return [f"{name}: type {type(expected).__name__} != {type(actual).__name__}"]
        if (
            isinstance(expected, np.ndarray | np.generic)
            and not np.asarray(expected).dtype.hasobject
        ):
            return [_compare_arrays(name, np.asarray(expected), np.asarray(actual))]
        if isinstance(expected, _ATOMS):
            same = expected is actual or bool(expected == actual) or expected != expected
            return [f"{name}: {'same' if same else f'{expected!r} != {actual!r}'}"]
        if (id(expected), id(actual)) in self._seen:
            return []
        self._seen[id(expected), id(actual)] = expected, actual
        if isinstance(expected, tuple | list):
            if len(expected) != len(actual):
                return [f"{name}: length {len(expected)} != {len(actual)}"]
            pairs = enumerate(zip(expected, actual, strict=True))
            lines = [line for i, (e, a) in pairs for line in self.lines(f"{name}[{i}]", e, a)]
            if len(lines) > _MAX_EQUAL_ITEMS and all(map(_says_same, lines)):
                return [f"{name}: {len(expected)} items, same bits"]
            return lines
        if isinstance(expected, dict):
            if list(expected) != list(actual):
                return [f"{name}: keys {list(expected)} != {list(actual)}"]
            return [
                line
                for k in expected
                for line in self.lines(f"{name}[{k!r}]", expected[k], actual[k])
            ]
        return self._object_lines(name, expected, actual)

    def _object_lines(self, name: str, expected: Any, actual: Any) -> list[str]:
        """Lines of the attributes that are arrays, or differ; or one for the object."""
        parts = dict(_attributes(expected)), dict(_attributes(actual))
        if not any(parts):
            return self._state_lines(name, expected, actual)
        if set(parts[0]) != set(parts[1]):
            return [f"{name}: attributes {sorted(parts[0])} != {sorted(parts[1])}"]
        lines = [
            line
            for attribute, value in parts[0].items()
            for line in self.lines(f"{name}.{attribute}", value, parts[1][attribute])
        ]
        return [line for line in lines if not line.endswith(": same")] or [f"{name}: same"]

    def _state_lines(self, name: str, expected: Any, actual: Any) -> list[str]:
        """One line for an object without attributes: equal, or of equal state as pickled."""
        try:
            same = bool(expected == actual)
        except Exception:  # some objects compare to arrays, or not at all
            same = False
        if not same:
            try:
                states = _pickled_state(expected), _pickled_state(actual)
            except Exception:  # it has no state that could be read
                states = expected, actual
            else:
                inner = Comparison().lines("", *states)
                same = all(map(_says_same, inner))
        return [f"{name}: {'same' if same else f'{expected!r} != {actual!r}'}"]


def _says_same(line: str) -> bool:
    """Whether a line reports no difference."""
    return line.endswith((": same", "same bits"))


def _pickled_state(obj: Any) -> Any:
    """What pickle stores of an object; its items, which are iterators, as lists."""
    state = obj.__reduce_ex__(4)
    if not isinstance(state, tuple):
        return state
    return (*state[:3], *(None if items is None else [*items] for items in state[3:5]), *state[5:])


def _attributes(obj: Any) -> Iterator[tuple[str, Any]]:
    """The attributes that an object itself has, with those in slots."""
    yield from getattr(obj, "__dict__", {}).items()
    for cls in type(obj).__mro__:
        slots = cls.__dict__.get("__slots__", ())
        for slot in (slots,) if isinstance(slots, str) else slots:
            if slot not in ("__dict__", "__weakref__") and hasattr(obj, slot):
                yield slot, getattr(obj, slot)


def _outcome(value: Any) -> str:
    return f"raises {value!r}" if isinstance(value, BaseException) else f"{value!r}"


def _compare_arrays(name: str, expected: np.ndarray, actual: np.ndarray) -> str:
    for what in ("dtype", "shape", "strides"):
        if getattr(expected, what) != getattr(actual, what):
            return f"{name}: {what} {getattr(expected, what)} != {getattr(actual, what)}"
    if expected.tobytes() == actual.tobytes():
        return f"{name}: same bits"
    with np.errstate(all="ignore"):
        unequal = (expected != actual) & ~((expected != expected) & (actual != actual))
        if not unequal.any():
            return f"{name}: equal (bits of NaN or of zero differ)"
        difference = np.abs(expected[unequal].astype(float) - actual[unequal].astype(float))
        size = np.abs(expected[unequal].astype(float))
        relative = difference / np.where(size == 0, 1, size)
    return (
        f"{name}: {int(unequal.sum())} of {expected.size} elements differ, at most by "
        f"{difference.max():.3g} ({relative.max():.3g} relative)"
    )
