"""Equality of results down to the last bit, strides and kind included."""

from __future__ import annotations

import copy
import ctypes
import itertools
import math
import operator
import pickle
import sys
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np

from fusejit.ir.interpreter.summation import ACCUMULATORS, ROUNDS
from fusejit.ir.write_access import WriteAccess, mark


def difference(actual: Any, expected: Any) -> str | None:
    """How two results differ, or None: type, dtype, shape and bits; all NaNs are one."""
    if type(actual) is not type(expected):
        return f"{type(actual).__name__} instead of {type(expected).__name__}"
    a, b = np.asarray(actual), np.asarray(expected)
    if a.dtype != b.dtype or a.shape != b.shape:
        return f"{a.dtype} of {a.shape} instead of {b.dtype} of {b.shape}"
    if a.dtype.kind == "c":
        return difference(a.real, b.real) or difference(a.imag, b.imag)
    same = a == b
    if a.dtype.kind == "f":
        same = (same & (np.signbit(a) == np.signbit(b))) | (np.isnan(a) & np.isnan(b))
    if np.all(same):
        return None
    where = tuple(int(i[0]) for i in np.nonzero(np.atleast_1d(~same)))
    return f"at {where}: {np.atleast_1d(a)[where]!r} instead of {np.atleast_1d(b)[where]!r}"


def assert_same_results(actual: Sequence[Any], expected: Sequence[Any], what: str = "") -> None:
    """Raise AssertionError naming the first result that differs."""
    assert len(actual) == len(expected), f"{what}{len(actual)} results, not {len(expected)}"
    for number, (a, b) in enumerate(zip(actual, expected, strict=True)):
        message = difference(a, b)
        assert message is None, f"{what}result {number}: {message}"


def copy_keeping_strides(array: np.ndarray) -> np.ndarray:
    """A copy with the strides of ``array``, with a copy of all memory around it as well."""
    base = array if array.base is None else array.base
    if not isinstance(base, np.ndarray) or not (base.flags.c_contiguous or base.flags.f_contiguous):
        raise ValueError(
            "the array does not own dense memory, nor is it a view of an array that does"
        )
    memory = base.copy(order="K").reshape(-1, order="A").view(np.uint8)
    offset = array.ctypes.data - base.ctypes.data
    return np.ndarray(array.shape, array.dtype, memory, offset, array.strides)


def copy_arguments(arguments: dict[str, Any]) -> dict[str, Any]:
    """Fresh arguments for another run: arrays are copied with their strides."""
    return {
        name: copy_keeping_strides(a) if isinstance(a, np.ndarray) else a
        for name, a in arguments.items()
    }


# ------------------------------------------------------------------- results of whole functions
@dataclass(frozen=True, slots=True)
class Bound:
    """How far floats may be apart: ``ulps`` of the expected number, plus ``absolute``.

    ``absolute`` is a number, or an array of the shape of the one result it belongs to. With
    ``zero_sign`` False the sign of a zero is not looked at (`np.max`, `np.maximum`: NumPy hands
    out either, depending on where in the array the zeros are). With ``order`` False strides are
    not: sums along an axis of length 0 have the order of an argument's strides in NumPy, which
    move along nothing.
    """

    ulps: float = 0.0
    absolute: Any = 0.0
    zero_sign: bool = True
    order: bool = True


EXACT = Bound()
GENERATORS = (np.random.Generator, np.random.RandomState)


def assert_same(expected: Any, actual: Any, bound: Bound = EXACT, where: str = "result") -> None:
    """Raise AssertionError unless ``actual`` is what NumPy would hand out in place of ``expected``.

    Compared are the exact type (array, NumPy scalar, Python number, container), dtype, shape,
    strides (of axes longer than 1, in arrays that are not empty), writeability and bits; all NaNs
    are one. Containers are gone through; dicts keep the order of their keys.
    """
    assert type(expected) is type(actual), (
        f"{where}: {type(actual).__name__} {actual!r} instead of {type(expected).__name__} "
        f"{expected!r}"
    )
    if isinstance(expected, list | tuple | deque):
        assert len(expected) == len(actual), f"{where}: {len(actual)} items, not {len(expected)}"
        for at, (e, a) in enumerate(zip(expected, actual, strict=True)):
            assert_same(e, a, bound, f"{where}[{at}]")
    elif isinstance(expected, dict):
        assert list(expected) == list(actual), f"{where}: keys {list(actual)}, not {list(expected)}"
        for key in expected:
            assert_same(expected[key], actual[key], bound, f"{where}[{key!r}]")
    elif isinstance(expected, set | frozenset):
        keys, own = (sorted(map(repr, one)) for one in (expected, actual))  # all NaNs are one
        assert keys == own, f"{where}: {actual!r} instead of {expected!r}"
    elif isinstance(expected, GENERATORS):
        e, a = (pickle.dumps(rng) for rng in (expected, actual))
        assert e == a, f"{where}: not as many numbers were drawn"
    elif isinstance(expected, np.ndarray | np.generic | float):
        _assert_same_array(expected, actual, bound, where)
    elif has_state(expected):
        assert_same(vars(expected), vars(actual), bound, where)
    elif expected is not actual:
        assert expected == actual, f"{where}: {actual!r} instead of {expected!r}"


def _assert_same_array(expected: Any, actual: Any, bound: Bound, where: str) -> None:
    e, a = np.asarray(expected), np.asarray(actual)
    assert e.dtype == a.dtype, f"{where}: dtype {a.dtype}, not {e.dtype}"
    assert e.dtype.isnative == a.dtype.isnative, f"{where}: byte order {a.dtype.byteorder}"
    assert e.shape == a.shape, f"{where}: shape {a.shape}, not {e.shape}"
    if isinstance(expected, np.ndarray):
        assert not bound.order or relevant_strides(e) == relevant_strides(a), (
            f"{where}: strides {a.strides}, not {e.strides} (shape {e.shape}, {e.dtype})"
        )
        assert WriteAccess.of(e) == WriteAccess.of(a), f"{where}: {WriteAccess.of(a)!r}"
    wrong = different(e, a, bound)
    if np.any(wrong):
        index = tuple(int(i[0]) for i in np.nonzero(wrong)) if e.shape else ()
        raise AssertionError(
            f"{where}: {np.count_nonzero(wrong)} of {e.size} elements differ, first at {index}: "
            f"{a[index]!r} instead of {e[index]!r}"
        )


def different(expected: np.ndarray, actual: np.ndarray, bound: Bound) -> np.ndarray:
    """Where two arrays of one dtype and shape differ by more than the bound."""
    if expected.dtype.kind == "c":
        return different_complex(expected, actual, bound)
    if expected.dtype.kind != "f":
        return np.asarray(expected != actual)
    with np.errstate(all="ignore"):
        same = np.asarray(expected == actual)
        if bound.zero_sign:
            same &= np.signbit(expected) == np.signbit(actual)
        same |= np.isnan(expected) & np.isnan(actual)
        if bound.ulps or np.any(bound.absolute):
            largest = np.finfo(expected.dtype).max
            below = np.nextafter(largest, 0, dtype=expected.dtype)  # the largest has spacing inf
            size = np.maximum(np.abs(expected), np.abs(actual))
            ulp = np.spacing(np.minimum(size, below)).astype(np.float64)
            room = bound.ulps * ulp + bound.absolute
            distance = np.abs(expected.astype(np.float64) - actual.astype(np.float64))
            same |= np.isfinite(size) & (distance <= room)
            # an infinity beside the largest number
            clipped = np.clip([expected, actual], -largest, largest).astype(np.float64)
            near = np.abs(clipped[0] - clipped[1]) <= bound.ulps * np.float64(np.spacing(below))
            same |= (np.isinf(expected) != np.isinf(actual)) & near
    return ~same


def different_complex(expected: np.ndarray, actual: np.ndarray, bound: Bound) -> np.ndarray:
    """The same of complex numbers: ulps are those of the absolute value."""
    exact = Bound(zero_sign=bound.zero_sign)
    parts = ((expected.real, actual.real), (expected.imag, actual.imag))
    differ = [different(*pair, exact) for pair in parts]
    wrong = np.asarray(differ[0] | differ[1])
    if bound.ulps or np.any(bound.absolute):
        with np.errstate(all="ignore"):
            room = bound.absolute
            if bound.ulps:
                room = room + bound.ulps * np.spacing(np.abs(expected))
            # an infinity in one part says nothing of the other one
            pairs = zip(differ, parts, strict=True)
            gaps = [np.where(differs, np.abs(e - a), 0) for differs, (e, a) in pairs]
            wrong &= ~(np.hypot(*gaps) <= room)
    return wrong


def relevant_strides(array: np.ndarray) -> list[int]:
    """Strides of the axes longer than 1; nothing for an empty array."""
    if not array.size:
        return []
    return [s for s, n in zip(array.strides, array.shape, strict=True) if n != 1]


def arrays_in(obj: Any) -> list[np.ndarray]:
    """The arrays of nested containers, in order."""
    if isinstance(obj, np.ndarray):
        return [obj]
    if isinstance(obj, dict):
        return [a for v in obj.values() for a in arrays_in(v)]
    if isinstance(obj, list | tuple):
        return [a for v in obj for a in arrays_in(v)]
    return []


def assert_same_aliasing(expected: Any, actual: Any, where: str = "") -> None:
    """The same pairs of arrays are one object, or share memory."""
    theirs, ours = arrays_in(expected), arrays_in(actual)
    for i, j in itertools.combinations(range(len(theirs)), 2):
        for what, ask in (("be one object", operator.is_), ("share memory", np.shares_memory)):
            e, a = ask(theirs[i], theirs[j]), ask(ours[i], ours[j])
            assert e == a, f"{where}arrays {i} and {j} should {'' if e else 'not '}{what}"


class PythonsList(list[Any]):
    """A list that no kernel works on: what is done to it Python does."""


def clone(obj: Any, memo: dict[int, Any] | None = None) -> Any:
    """Fresh arrays of the same contents, strides, flags and overlaps, in the same containers."""
    memo = {} if memo is None else memo
    if id(obj) in memo:
        return memo[id(obj)]
    result: Any = obj
    if type(obj) is np.ndarray:
        memo[id(obj)] = result = _clone_array(obj, memo)
    elif isinstance(obj, (np.ndarray, *GENERATORS)):  # a subclass promises nothing about memory
        memo[id(obj)] = result = copy.deepcopy(obj)
    elif isinstance(obj, list | tuple):
        make = getattr(type(obj), "_make", type(obj))  # a named tuple
        memo[id(obj)] = result = make(clone(item, memo) for item in obj)
    elif isinstance(obj, dict):
        memo[id(obj)] = result = {key: clone(value, memo) for key, value in obj.items()}
    elif isinstance(obj, set | deque):
        memo[id(obj)] = result = copy.copy(obj)
    elif has_state(obj):
        memo[id(obj)] = result = copy.copy(obj)
        vars(result).update(clone(vars(obj), memo))
    return result


def has_state(obj: Any) -> bool:
    """Whether it is an instance of a class of the test's."""
    if not hasattr(obj, "__dict__") or isinstance(obj, type) or callable(obj):
        return False
    module = type(obj).__module__.partition(".")[0]
    return type(obj) is SimpleNamespace or module not in sys.stdlib_module_names | {"numpy"}


def _clone_array(array: np.ndarray, memo: dict[int, Any]) -> np.ndarray:
    if array.base is not None:
        return clone_memory(array, memo)
    fresh = array.copy(order="K")
    mark(fresh, WriteAccess.of(array))
    return fresh


def clone_memory(array: np.ndarray, memo: dict[Any, Any]) -> np.ndarray:
    """A plain array like ``array``, within a copy of all the memory that it is a view of."""
    base = owner(array)
    if id(base) not in memo and type(base) is np.ndarray and base.base is None:
        memo[id(base)] = clone(base)
    low, high = np.lib.array_utils.byte_bounds(base)
    key = "memory", id(base)
    if key not in memo:
        inwards = _inwards(memo[id(base)]) if id(base) in memo else None
        if inwards is not None and inwards.nbytes == high - low and base.size:
            memo[key] = inwards.reshape(-1).view(np.uint8)
        else:
            memo[key] = np.frombuffer(bytearray(ctypes.string_at(low, high - low)), np.uint8)
    first, last = np.lib.array_utils.byte_bounds(array)
    if not base.size or array.dtype.hasobject or first < low or last > high:
        result = _plain(array).copy(order="K")
    else:
        offset = array.ctypes.data - low
        result = np.ndarray(array.shape, array.dtype, memo[key], offset, array.strides)
    mark(result, WriteAccess.of(array))
    return result


def owner(array: np.ndarray) -> np.ndarray:
    """The array in whose memory another one lies, through what stands for arrays as well."""
    while array.base is not None:
        base = array.base
        if not isinstance(base, np.ndarray):  # `as_strided` puts an object between
            base = getattr(base, "base", None)
        if not isinstance(base, np.ndarray):
            break
        array = base
    return array


def _inwards(array: np.ndarray) -> np.ndarray | None:
    """A dense array with its axes in the order of memory; None for one that is not dense."""
    turned = array.transpose(np.argsort(array.strides, kind="stable")[::-1])
    return turned if turned.flags.c_contiguous else None


def _plain(array: np.ndarray) -> np.ndarray:
    """An array of a subclass as an array of none."""
    return np.ndarray.view(array, np.ndarray)


# ----------------------------------------------------------------------- bounds, from the problem
def gamma(roundings: int, dtype: np.dtype) -> float:
    """``k u / (1 - k u)``: the relative error of ``k`` roundings (Higham, section 3.1)."""
    unit = float(np.finfo(dtype).eps) / 2
    return roundings * unit / (1 - roundings * unit)


def sum_roundings(n: int) -> int:
    """Roundings on the longest path of `ir.interpreter.summation.pairwise_sum` of ``n`` numbers."""
    in_leaf = ROUNDS + math.ceil(math.log2(ACCUMULATORS)) + ACCUMULATORS
    return in_leaf + math.ceil(math.log2(max(1, 2 * n / (ROUNDS * ACCUMULATORS))))


def sum_bound(values: np.ndarray, axis: Any = None, dtype: Any = None) -> Any:
    """How far our sum and NumPy's may be apart: both roundings times the sum of magnitudes.

    NumPy adds along other axes than the innermost one after the other: ``n`` roundings.
    """
    dtype = np.dtype(values.dtype if dtype is None else dtype)
    axes = range(values.ndim) if axis is None else np.atleast_1d(axis)
    count = math.prod(values.shape[a] for a in axes)
    ours = sum(sum_roundings(values.shape[a]) for a in axes)
    size = np.abs(values.astype(np.float64)).sum(axis=axis)
    return (gamma(ours, dtype) + gamma(count, dtype)) * size


def matmul_bound(a: np.ndarray, b: np.ndarray) -> Any:
    """How far two matrix products may be apart, in any order of summation, with or without FMA."""
    dtype = np.result_type(a, b)
    return 2 * gamma(a.shape[-1], dtype) * (np.abs(a).astype(float) @ np.abs(b).astype(float))


def assert_same_ownership(expected: Any, actual: Any, where: str = "result") -> None:
    """The same arrays own their memory, the others are views of one that does.

    The interpreter, which hands out what it has, is not compared so.
    """
    pairs = zip(arrays_in(expected), arrays_in(actual), strict=True)
    for at, (e, a) in enumerate(pairs):
        for what, of in (("owndata", _owns_data), ("base", _has_base)):
            assert of(e) == of(a), f"{where}, array {at}: {what} is {of(a)}, not {of(e)}"


def _owns_data(array: np.ndarray) -> bool:
    return array.flags.owndata


def _has_base(array: np.ndarray) -> bool:
    return array.base is not None
