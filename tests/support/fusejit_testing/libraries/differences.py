"""How the outcome of a fused call differs from the undecorated one's.

Everything but floating-point numbers must be equal. Floats that are not equal to the last bit are
*near* if their distance is one that reordered sums explain, measured against the arguments and
against what the function itself makes of arguments that are off by a rounding.
"""

from __future__ import annotations

import collections
import pickle
import re
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fusejit.ir.write_access import WriteAccess
from fusejit_testing.compare import Bound, different, relevant_strides

ULPS = Bound(ulps=8, zero_sign=False)
_SPREADS = 64  # times what a rounding of the arguments makes
_DRAWS = 16  # some of which a division or a rounding swallows
_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]+|(?<![\d.])(?:9[34]|1[34]\d)\d{12}(?![\d.])")
_BOUND = types.MethodType | types.BuiltinMethodType | types.MethodWrapperType
_IGNORED = frozenset({"_optinfo", "_basedict", "_cache"})  # of NumPy, and what pandas keeps


class Different(Exception):
    """Two outcomes are not the same; the message says where and how."""


@dataclass(slots=True)
class Comparison:
    """One comparison of two values.

    Attributes
    ----------
    inexact : list of (str, array, array)
        Where floats differ in their bits, what was expected, and what came.
    is_result : bool
        Whether results are compared, of which is asked who owns the memory.
    has_values : bool
        False: numbers and texts are not looked at, only where they are and of which types.
    arguments : set of int
        Ids of the arrays that were given.
    owners : list of str
        Results that own their memory, or do not, unlike the expected ones.
    """

    inexact: list[tuple[str, np.ndarray, np.ndarray]] = field(default_factory=list)
    is_result: bool = False
    has_values: bool = True
    arguments: set[int] = field(default_factory=set)
    owners: list[str] = field(default_factory=list)
    seen: set[tuple[int, int]] = field(default_factory=set)
    alive: list[Any] = field(default_factory=list)  # ids are those of objects that are alive

    def same(self, expected: Any, actual: Any, where: str) -> None:
        """Raise `Different` unless two values are the same but for the last bits of floats."""
        if expected is actual:
            return
        if type(expected) is not type(actual):
            if callable(expected) and callable(actual) and not isinstance(expected, type):
                return
            if _are_scalars_of_one_dtype(expected, actual):
                return self._same_numbers(np.asarray(expected), np.asarray(actual), where)
            raise Different(
                f"{where}: {_name(actual)} {_short(actual)} instead of {_name(expected)} "
                f"{_short(expected)}"
            )
        if not self.has_values and isinstance(expected, bool | int | float | complex | str):
            return
        if (id(expected), id(actual)) in self.seen:
            return
        self.seen.add((id(expected), id(actual)))
        self.alive.append((expected, actual))
        if isinstance(expected, np.ndarray):
            self._same_array(expected, actual, where)
        elif isinstance(expected, list | tuple | collections.deque):
            self._same_items(expected, actual, where)
        elif isinstance(expected, dict):
            if list(map(repr, expected)) != list(map(repr, actual)):
                raise Different(f"{where}: keys {[*actual]} instead of {[*expected]}")
            for (key, e), a in zip(expected.items(), actual.values(), strict=True):
                self.same(e, a, f"{where}[{key!r}]")
        elif type(expected) is str:
            if without_addresses(expected) != without_addresses(actual):
                raise Different(f"{where}: {_short(actual)} instead of {_short(expected)}")
        elif isinstance(expected, float | complex | np.inexact):
            self._same_numbers(np.asarray(expected), np.asarray(actual), where)
        elif isinstance(expected, np.random.Generator | np.random.RandomState):
            if pickle.dumps(expected) != pickle.dumps(actual):
                raise Different(f"{where}: not as many random numbers were drawn")
        else:
            self._same_object(expected, actual, where)

    def _same_items(self, expected: Any, actual: Any, where: str) -> None:
        if len(expected) != len(actual):
            raise Different(f"{where}: {len(actual)} items instead of {len(expected)}")
        for at, (e, a) in enumerate(zip(expected, actual, strict=True)):
            self.same(e, a, f"{where}[{at}]")

    def require_same_owners(self) -> None:
        """Raise `Different` if a result owns its memory, and should not, or the reverse."""
        if self.owners:
            raise Different(self.owners[0])

    def _note_owner(self, expected: np.ndarray, actual: np.ndarray, where: str) -> None:
        """Of arguments one is a copy, and of subclasses too: who owns those is not compared."""
        if type(expected) is np.ndarray and id(expected) not in self.arguments:
            e, a = expected.flags.owndata, actual.flags.owndata
            if e != a:
                self.owners.append(f"{where}: owndata {a} instead of {e}")

    def _same_array(self, expected: np.ndarray, actual: np.ndarray, where: str) -> None:
        for what, e, a in (
            ("dtype", expected.dtype, actual.dtype),
            ("shape", expected.shape, actual.shape),
            ("strides", *map(relevant_strides, (expected, actual))),
            ("access", WriteAccess.of(expected), WriteAccess.of(actual)),
        ):
            if e != a:
                raise Different(f"{where}: {what} {a} instead of {e}")
        if self.is_result:
            self._note_owner(expected, actual, where)
        if not self.has_values:
            return
        plain = without_repeats(expected.view(np.ndarray), actual.view(np.ndarray))
        if expected.dtype == object:
            self._same_items([*plain[0].flat], [*plain[1].flat], where)
        else:
            hidden = _hidden(expected)
            if hidden is not None:
                plain = expected.view(np.ndarray), actual.view(np.ndarray)
            theirs, ours = plain if hidden is None else (plain[0][~hidden], plain[1][~hidden])
            self._same_numbers(theirs, ours, where)
        if type(expected) is not np.ndarray and hasattr(expected, "__dict__"):
            self._same_state(vars(expected), vars(actual), where)

    def _same_numbers(self, expected: np.ndarray, actual: np.ndarray, where: str) -> None:
        expected, actual = without_repeats(expected, actual)
        if expected.dtype.names is not None:
            for name in expected.dtype.names:
                self._same_numbers(expected[name], actual[name], f"{where}[{name!r}]")
            return
        if expected.dtype == object:
            return self._same_items([*expected.flat], [*actual.flat], where)
        if expected.dtype.kind in "fc" and expected.dtype != np.longdouble:
            with np.errstate(all="ignore"):
                if np.any(different(expected, actual, Bound())):
                    self.inexact.append((where, expected, actual))
            return
        with np.errstate(all="ignore"):
            wrong = np.asarray(expected != actual) & ~(
                np.asarray(expected != expected) & np.asarray(actual != actual)
            )
        if np.any(wrong):
            raise Different(f"{where}: {_first_difference(expected, actual, wrong)}")

    def _same_object(self, expected: Any, actual: Any, where: str) -> None:
        if isinstance(expected, types.FunctionType | types.ModuleType):
            return
        if isinstance(expected, _BOUND):
            self._same_method(expected, actual, where)
            return
        if hasattr(expected, "__dict__") and not isinstance(expected, type):
            self._same_state(vars(expected), vars(actual), where)
            return
        try:
            same = bool(expected == actual) or bool(expected != expected)
        except Exception:
            return  # an object that cannot be compared
        if not same and has_own(type(expected), "__eq__"):
            raise Different(f"{where}: {_short(actual)} instead of {_short(expected)}")

    def _same_method(self, expected: Any, actual: Any, where: str) -> None:
        """Methods of one name, of objects that are the same."""
        if expected.__name__ != actual.__name__:
            raise Different(f"{where}: {_short(actual)} instead of {_short(expected)}")
        if not isinstance(expected.__self__, type | types.ModuleType | None):
            self.same(expected.__self__, actual.__self__, f"{where}.__self__")

    def _same_state(self, expected: dict[str, Any], actual: dict[str, Any], where: str) -> None:
        if expected.keys() != actual.keys():
            raise Different(f"{where}: attributes {[*actual]} instead of {[*expected]}")
        for name, value in expected.items():
            if name not in _IGNORED:
                self.same(value, actual[name], f"{where}.{name}")


def arrays_within(value: Any, depth: int = 0) -> Iterator[np.ndarray]:
    """The arrays of arguments, also those that objects hold."""
    if isinstance(value, np.ndarray):
        yield value
        if type(value) is not np.ndarray and hasattr(value, "__dict__") and depth <= 5:
            yield from arrays_within(vars(value), depth + 1)
    elif depth > 5 or isinstance(value, type | types.ModuleType | types.FunctionType):
        return
    elif isinstance(value, list | tuple):
        for item in value:
            yield from arrays_within(item, depth + 1)
    elif isinstance(value, dict):
        for item in value.values():
            yield from arrays_within(item, depth + 1)
    elif hasattr(value, "__dict__"):
        yield from arrays_within(vars(value), depth + 1)


def without_addresses(text: str) -> str:
    """A text that shows objects without where they lie in memory.

    >>> without_addresses("<object object at 0x7f3b98d71550>, Signal (139733701896400), 12345")
    '<object object at 0x>, Signal (0x), 12345'
    """
    return _ADDRESS.sub("0x", text)


def without_repeats(*arrays: np.ndarray) -> tuple[np.ndarray, ...]:
    """Arrays of one shape with each axis cut to length 1 along which all repeat themselves.

    >>> [a.shape for a in without_repeats(np.broadcast_to([2, 3], (5, 2)))]
    [(1, 2)]
    """
    alike = (
        slice(1) if length > 1 and not any(a.strides[axis] for a in arrays) else slice(None)
        for axis, length in enumerate(arrays[0].shape)
    )
    index = tuple(alike)
    return tuple(a[index] for a in arrays) if slice(1) in index else arrays


def _are_scalars_of_one_dtype(a: Any, b: Any) -> bool:
    """``np.longlong`` and ``np.int64`` are two types of one dtype."""
    return isinstance(a, np.generic) and isinstance(b, np.generic) and a.dtype == b.dtype


def _hidden(array: np.ndarray) -> np.ndarray | None:
    """Where a mask hides what nobody promised to write."""
    mask = getattr(array, "_mask", None)
    if isinstance(mask, np.ndarray) and mask.dtype == bool and mask.shape == array.shape:
        return np.asarray(mask)
    return None


def has_own(cls: type, name: str) -> bool:
    """Whether a class, or one of its bases, defines what `object` has for all."""
    return any(name in vars(base) for base in cls.__mro__ if base is not object)


def require_same_identities(expected: Any, actual: Any) -> None:
    """Raise `Different` unless the same places of both hold one object, or share memory."""
    theirs, ours = [*_places(expected, "")], [*_places(actual, "")]
    if len(theirs) != len(ours) or len(theirs) > 40:
        return
    for i, (where, e) in enumerate(theirs):
        for j in range(i):
            other, e2 = theirs[j]
            a, a2 = ours[i][1], ours[j][1]
            if (e is e2) != (a is a2):
                what = "are two objects" if e is e2 else "are one object"
                raise Different(f"identity: {other} and {where} {what}")
            if isinstance(e, np.ndarray) and isinstance(e2, np.ndarray):
                shared = np.may_share_memory(e, e2), np.may_share_memory(a, a2)
                if shared[0] != shared[1]:
                    what = "share no memory" if shared[0] else "share memory"
                    raise Different(f"aliasing: {other} and {where} {what}")


def _places(value: Any, where: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, np.ndarray | list):
        yield where, value
    if isinstance(value, list | tuple):
        for at, item in enumerate(value):
            yield from _places(item, f"{where}[{at}]")
    elif type(value) is dict:
        for key, item in value.items():
            yield from _places(item, f"{where}[{key!r}]")


# ---------------------------------------------------------------------------- floats that are near
def require_near(
    inexact: list[tuple[str, np.ndarray, np.ndarray]],
    arguments: Any,
    again: Callable[[np.random.Generator | None], list[tuple[str, np.ndarray, np.ndarray]]],
) -> None:
    """Raise `Different` unless all floats are near each other.

    Parameters
    ----------
    inexact : list
        Of a `Comparison`.
    arguments
        Those of the call.
    again : callable
        Runs the undecorated function on arguments that are off by a rounding each, drawn with a
        generator, or on the arguments as they are; what differs from the expected outcome, in
        bits. A function that is not the same the second time has no roundings to excuse it.
    """
    far = [case for case in inexact if not _is_near(case, arguments)]
    if not far:
        return
    spreads: dict[str, Any] = {}
    for seed in () if again(None) else range(_DRAWS):
        for where, expected, moved in again(np.random.default_rng(seed)):
            with np.errstate(all="ignore"):
                distance = np.abs(moved.astype(complex) - expected.astype(complex))
            spreads[where] = np.fmax(spreads.get(where, 0.0), distance)
    for where, expected, actual in far:
        with np.errstate(all="ignore"):
            distance = np.abs(actual.astype(complex) - expected.astype(complex))
            wrong = different(expected, actual, ULPS)
            wrong = wrong & ~(distance <= _SPREADS * spreads.get(where, 0.0))
        if np.any(wrong):
            raise Different(f"{where}: {_first_difference(expected, actual, np.asarray(wrong))}")


def _is_near(case: tuple[str, np.ndarray, np.ndarray], arguments: Any) -> bool:
    _, expected, actual = case
    wrong = different(expected, actual, ULPS)
    if not np.any(wrong):
        return True
    size, scale = 16, 0.0
    for count, numbers in _floats(arguments, 0):
        size += count
        scale = max(scale, _largest(numbers))
    scale = max(_largest(expected), min(scale, 1e3 * _largest(expected)))
    with np.errstate(all="ignore"):
        near = np.abs(actual - expected) <= size * np.finfo(expected.dtype).eps * scale
    return not np.any(wrong & ~near)


def _largest(numbers: np.ndarray) -> float:
    with np.errstate(all="ignore"):
        size = np.abs(numbers)
        size = size[np.isfinite(size)]
    return float(size.max()) if size.size else 0.0


def _floats(value: Any, depth: int) -> Iterator[tuple[int, np.ndarray]]:
    """The numbers of arguments as arrays, and how many they are with those that repeat."""
    if depth > 6:
        return
    if isinstance(value, np.ndarray | np.number | int | float | complex):
        array = np.asarray(value)
        if array.dtype.kind in "biufc" and array.dtype != np.longdouble:
            (parts,) = without_repeats(array)
            yield array.size, parts.astype(complex if array.dtype.kind == "c" else float)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _floats(item, depth + 1)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _floats(item, depth + 1)
    elif hasattr(value, "__dict__") and not isinstance(value, type):
        yield from _floats(vars(value), depth + 1)


def moved_by_roundings(value: Any, rng: np.random.Generator) -> Any:
    """The arguments with each float off by at most one rounding."""
    if type(value) is np.ndarray and value.dtype.kind in "fc":
        eps = np.finfo(value.dtype).eps
        with np.errstate(all="ignore"):
            moved = value * (1 + eps * rng.integers(-1, 2, value.shape))
        return moved.astype(value.dtype)
    if type(value) in (float, np.float64, np.float32):
        return type(value)(value * (1 + np.finfo(value).eps * int(rng.integers(-1, 2))))
    if type(value) in (list, tuple):
        return type(value)(moved_by_roundings(item, rng) for item in value)
    if type(value) is dict:
        return {key: moved_by_roundings(item, rng) for key, item in value.items()}
    return value


def _first_difference(expected: np.ndarray, actual: np.ndarray, wrong: np.ndarray) -> str:
    index = tuple(int(i[0]) for i in np.nonzero(wrong)) if expected.shape else ()
    count = int(np.count_nonzero(wrong))
    return (
        f"{count} of {expected.size} differ, first at {index}: {actual[index]!r} instead of "
        f"{expected[index]!r}"
    )


def _name(value: Any) -> str:
    return type(value).__name__


def _short(value: Any) -> str:
    try:
        text = repr(value)
    except Exception:
        return "..."
    return text if len(text) <= 120 else f"{text[:117]}..."
