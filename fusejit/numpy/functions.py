"""Functions of NumPy beside ufuncs that are recorded: reductions, `where`, `roll`, masked stores.

Each one is recorded as a `Form`. What is not certain to succeed is not recorded.
"""

from __future__ import annotations

import itertools
from types import FrameType
from typing import Any

import numpy
from numpy import ndarray

from fusejit.numpy.array import NUMBERS, Array, owner_of
from fusejit.numpy.programs import CLIP, Form
from fusejit.numpy.recording import (
    is_number,
    is_writeable,
    memory_for,
    path_of,
    record,
    record_ufunc,
)
from fusejit.numpy.settings import THRESHOLD
from fusejit.numpy.window import CURRENT, Paths


def record_form(
    frame: FrameType,
    form: Form,
    operands: tuple[Any, ...],
    out: ndarray[Any, Any],
    owner: Array | None = None,
) -> Array | None:
    """Record a form of arrays and numbers; None if it has to run at once.

    ``out`` is new memory, or a view of the memory of ``owner``.
    """
    owners: list[Array] = []
    views: Paths = {}
    values: list[Any] = []
    for operand in operands:
        if type(operand) is Array:
            if owner_of(operand)._is_foreign:
                return None
            owners.append(owner_of(operand))
            views |= path_of(operand)
            operand = operand._array
        values.append(operand)
    result = Array(out) if owner is None else owner
    owners.append(result)
    call = (form, *values, out)
    name = form.template.partition("(")[0]
    done = record(CURRENT.window, frame, call, out, name, owner is None, owners, views)
    return result if done else None


# -------------------------------------------------------------------------------------- reductions
REDUCTIONS = ("sum", "prod", "max", "min", "any", "all", "mean", "std", "var", "argmax", "argmin")
"""Names of methods that are recorded if the values that they reduce are pending."""

REDUCTION_OF: dict[Any, str] = {getattr(numpy, name): name for name in REDUCTIONS}
REDUCTION_OF |= {numpy.amax: "max", numpy.amin: "min"}

_OF_FLOATS = frozenset(("mean", "std", "var"))
_OF_ONE_AXIS = frozenset(("argmax", "argmin"))
_DTYPES: dict[tuple[Any, Any], Any] = {}


def reduced(
    frame: FrameType, name: str, array: Array, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Compute a reduction in one window with the pending operations that it reads.

    Returns
    -------
    result : object
        `NotImplemented` if nothing is pending, or NumPy has to compute it.
    """
    source, owner = array._array, owner_of(array)
    window = owner._window
    if (
        window is not CURRENT.window
        or window.epoch != owner._epoch
        or len(args) > 1
        or not kwargs.keys() <= {"axis", "keepdims"}
        or (args and "axis" in kwargs)
        or not source.size
        or not source.flags.c_contiguous
        or source.dtype.kind not in ("f" if name in _OF_FLOATS else "biuf")
        or (source.dtype.itemsize < 4 and source.dtype != bool)
    ):
        return NotImplemented
    axis = args[0] if args else kwargs.get("axis")
    keepdims = kwargs.get("keepdims", False)
    axes = _axes(axis, source.ndim)
    if axes is None or type(keepdims) is not bool:
        return NotImplemented
    if name in _OF_ONE_AXIS and (type(axis) is tuple or (axis is None and keepdims)):
        return NotImplemented
    numpy_function = getattr(numpy, name)
    key = name, source.dtype
    if key not in _DTYPES:
        _DTYPES[key] = numpy_function(numpy.zeros(1, source.dtype)).dtype
    kept = [1 if at in axes else n for at, n in enumerate(source.shape)]
    shape = tuple(n for at, n in enumerate(kept) if keepdims or at not in axes)
    out = numpy.empty(shape, _DTYPES[key])
    asked: Any = axis if name in _OF_ONE_AXIS else axes

    def function(a: Any, out: Any) -> None:
        numpy_function(a, axis=asked, out=out, keepdims=keepdims)

    options = f"axis={asked}" + (", keepdims=True" if keepdims else "")
    recorded = record_form(frame, Form(function, f"np.{name}({{0}}, {options})"), (array,), out)
    if recorded is None:
        return NotImplemented
    if shape and out.nbytes >= THRESHOLD.get():
        return recorded
    window.flush("a value is needed")
    return out if shape else out[()]


def _axes(axis: Any, rank: int) -> tuple[int, ...] | None:
    """The axes that are reduced; None if NumPy is to look at them."""
    if axis is None:
        return tuple(range(rank))
    items = axis if type(axis) is tuple else (axis,)
    if any(type(item) is not int or not -rank <= item < rank for item in items):
        return None
    axes = tuple(sorted(item % rank for item in items))
    return axes if len(set(axes)) == len(axes) else None


# --------------------------------------------------------------------------------- where and roll
def _where_into(condition: Any, x: Any, y: Any, out: Any) -> None:
    out[...] = numpy.where(condition, x, y)


_WHERE = Form(_where_into, "np.where({0}, {1}, {2})", True)


def record_where(frame: FrameType, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Array | None:
    """Record ``np.where(condition, x, y)`` of arrays of one shape, and numbers."""
    if kwargs or len(args) != 3 or not CURRENT.window.most:
        return None
    arrays = [arg._array for arg in args if type(arg) is Array]
    if not all(type(arg) is Array or is_number(arg) for arg in args) or not _are_alike(arrays):
        return None
    operands = [arg._array if type(arg) is Array else arg for arg in args[1:]]
    dtype = numpy.result_type(*operands)
    if arrays[0].nbytes == 0 or dtype.kind not in NUMBERS or _does_not_fit(operands, dtype):
        return None
    if max(arrays[0].size * dtype.itemsize, arrays[0].nbytes) < THRESHOLD.get():
        return None
    out = memory_for(frame, arrays[0].shape, dtype)
    return record_form(frame, _WHERE, args, out)


def _does_not_fit(operands: list[Any], dtype: Any) -> bool:
    """Whether NumPy would raise for a Python integer beside this dtype."""
    return dtype.kind in "iu" and any(
        type(o) is int and not numpy.iinfo(dtype).min <= o <= numpy.iinfo(dtype).max
        for o in operands
    )


def _are_alike(arrays: list[ndarray[Any, Any]]) -> bool:
    """Whether arrays are contiguous in the order of C and have one shape."""
    return bool(arrays) and all(
        a.ndim and a.shape == arrays[0].shape and a.flags.c_contiguous and a.dtype.kind in NUMBERS
        for a in arrays
    )


def record_roll(frame: FrameType, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Array | None:
    """Record ``np.roll(a, shift, axis)`` by integers. Without an axis the result is a view."""
    if not CURRENT.window.most or not kwargs.keys() <= {"shift", "axis"}:
        return None
    given = dict(zip(("a", "shift", "axis"), args, strict=False)) | kwargs
    array, shift, axis = given.get("a"), given.get("shift"), given.get("axis")
    items = [i for value in (shift, axis) for i in (value if type(value) is tuple else (value,))]
    if len(given) != len(args) + len(kwargs) or type(array) is not Array:
        return None
    source, is_basic = array._array, all(type(i) is int for i in items if i is not None)
    axes = _axes(axis, source.ndim)
    if shift is None or axis is None or not is_basic or axes is None or not _are_alike([source]):
        return None
    if type(shift) is tuple and (type(axis) is not tuple or len(axis) != len(shift)):
        return None
    if source.nbytes < THRESHOLD.get() or not source.nbytes:
        return None

    places = [at % source.ndim for at in (axis if type(axis) is tuple else (axis,))]
    shifts = dict(zip(places, shift if type(shift) is tuple else [shift] * len(axes), strict=True))

    def function(a: Any, out: Any) -> None:
        halves = []
        for at, n in enumerate(a.shape):
            k = shifts.get(at, 0) % n
            halves.append([(slice(k), slice(n - k, None)), (slice(k, None), slice(n - k))])
        for pieces in itertools.product(*halves):
            to, source = zip(*pieces, strict=True)
            out[to] = a[source]

    form = Form(function, f"np.roll({{0}}, {shift}, {axis})", 0 not in shifts)
    return record_form(frame, form, (array,), memory_for(frame, source.shape, source.dtype))


# ---------------------------------------------------------------------------------- masked stores
def _put_mask(mask: Any, value: Any, out: Any) -> None:
    numpy.putmask(out, mask, value)


_STORE = Form(_put_mask, "{out}[{0}] = {1}", True)


def record_masked_store(frame: FrameType, array: Array, mask: Array, value: Any) -> bool:
    """Record ``array[mask] = value`` of a number; False if it runs at once."""
    target, owner = array._array, owner_of(array)
    if (
        not CURRENT.window.most
        or owner._is_foreign
        or owner is owner_of(mask)
        or mask._array.dtype.kind != "b"
        or mask._array.shape != target.shape
        or not target.ndim
        or target.dtype.kind not in NUMBERS
        or not is_writeable(target)
        or not is_number(value)
    ):
        return False
    number = numpy.empty((), target.dtype)
    number[...] = value  # NumPy's errors, at the user's line
    if array._owner is not None:
        return False
    return record_form(frame, _STORE, (mask, number[()]), target, owner) is not None


def record_clip(frame: FrameType, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Array | None:
    """Record ``np.clip(a, lowest, highest)``."""
    if kwargs or len(args) != 3 or type(args[0]) is not Array:
        return None
    return record_ufunc(frame, CLIP, args)


FUNCTIONS = {numpy.where: record_where, numpy.roll: record_roll, numpy.clip: record_clip}
"""From functions of NumPy to how calls of them are recorded."""
