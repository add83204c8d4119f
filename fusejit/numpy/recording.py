"""Which operations are recorded, and what is known of their results before they run.

A result's dtype follows from the operands' dtypes (NumPy says which, once per combination), its
shape and strides from theirs. What is not certain to succeed is not recorded: NumPy runs it, and
raises its own error at the user's line.
"""

from __future__ import annotations

import functools
import itertools
import operator
import warnings
from types import FrameType
from typing import Any

import numpy
from numpy import ndarray
from numpy._core import umath

from fusejit.numpy.array import NUMBERS, Array, owner_of, path_of_item
from fusejit.numpy.programs import CLIP
from fusejit.numpy.settings import THRESHOLD
from fusejit.numpy.window import CURRENT, Paths, Window

# NumPy's settings for floating-point errors; without this name they are compared each time
_HOLDER: Any = getattr(umath, "_extobj_contextvar", None)

RECORDED = frozenset(
    f
    for f in vars(numpy).values()
    if type(f) is numpy.ufunc and f.signature is None and f.nout == 1 and f.nin <= 2
) | {CLIP}
"""The ufuncs that may be recorded."""

_WRITEABLE, _WARNS = 0x400, 1 << 31  # NPY_ARRAY_WRITEABLE, NPY_ARRAY_WARN_ON_WRITE
_OUT_BY_NAME = frozenset({numpy.maximum, numpy.minimum})  # a third argument is deprecated
_PYTHON_NUMBERS = frozenset((bool, int, float, complex))
_LARGEST_COPIED = 32 * 1024  # bytes of an ndarray that is copied to be read later
_LOOPS: dict[tuple[Any, ...], tuple[Any, bool] | None] = {}
_CAN_CAST: dict[tuple[Any, Any], bool] = {}


def loop_of(ufunc: numpy.ufunc, kinds: tuple[Any, ...]) -> tuple[Any, bool] | None:
    """Return the dtype of a result, and whether arrays among the operands are converted first.

    None if the ufunc is not to be recorded for operands of these dtypes and Python types.
    """
    key = (ufunc, *kinds)
    asked = [numpy.dtype(bool) if kind is bool else kind for kind in kinds]
    try:
        found: Any = ufunc.resolve_dtypes((*asked, None))
    except (TypeError, ValueError):
        found = None
    dtypes = [*(found or ()), *(kind for kind in asked if isinstance(kind, numpy.dtype))]
    if any(dtype.kind not in NUMBERS or not dtype.isnative for dtype in dtypes):
        found = None
    elif ufunc is numpy.power and found is not None and found[-1].kind in "biu":
        found = None  # raises for negative exponents
    loop = None
    if found is not None:
        of_arrays = zip(asked, found, strict=False)
        loop = (
            found[-1],
            any(isinstance(kind, numpy.dtype) and kind != computed for kind, computed in of_arrays),
        )
    _LOOPS[key] = loop
    return loop


def record_ufunc(
    frame: FrameType, ufunc: numpy.ufunc, inputs: tuple[Any, ...], out: Array | None = None
) -> Array | None:
    """Record a call of a ufunc on arrays and numbers; None if it has to run at once.

    ``frame`` is the caller's; ``out`` is the array to write, or None for a new one.
    """
    window = CURRENT.window
    if not window.most:
        return None
    window.arrive(frame)  # before there is memory for the result: others free some
    owners: list[Array] = []
    values: list[Any] = []
    kinds: list[Any] = []
    arrays: list[ndarray[Any, Any]] = []
    views: Paths = {}
    reads_foreign = False
    for value in inputs:
        kind = type(value)
        if kind is Array:
            owner = value._owner
            if owner is None:
                owner = value
            elif owner._path is not None:
                views[id(value._array)] = value._path
            if owner._is_foreign:
                reads_foreign = True
            else:
                owners.append(owner)
            value = value._array
            kinds.append(value.dtype)
            if value.ndim:
                arrays.append(value)
        elif kind in _PYTHON_NUMBERS:
            kinds.append(kind)
        elif issubclass(kind, numpy.generic):
            kinds.append(value.dtype)
        elif kind is ndarray:
            if value.nbytes <= _LARGEST_COPIED:
                value = value.copy("K")  # later stores do not reach it
            else:
                reads_foreign = True
            kinds.append(value.dtype)
            if value.ndim:
                arrays.append(value)
        else:
            return None
        values.append(value)
    if reads_foreign and (out is not None or not any(map(window.is_pending, owners))):
        return None
    key = (ufunc, *kinds)
    loop = _LOOPS[key] if key in _LOOPS else loop_of(ufunc, tuple(kinds))
    if loop is None or not arrays or (int in kinds and not _fits(values, kinds)):
        return None
    dtype, converts = loop
    first = arrays[0]
    shape, size = first.shape, first.size
    for array in arrays[1:]:
        if array.shape != shape:
            try:
                broadcast = numpy.broadcast(*arrays)
            except ValueError:
                return None
            shape, size = broadcast.shape, broadcast.size
            break
    if out is None:
        if not size or max(size * dtype.itemsize, first.nbytes) < THRESHOLD.get():
            return None  # masks of large arrays may be smaller
        made = _allocated(frame, arrays, shape, dtype, converts)
        if made is None:
            return None
        result = owner = Array(made)
    else:
        made, result = out._array, out
        owner = out
        if out._owner is not None:
            owner = out._owner
            if owner._path is not None:
                views[id(made)] = out._path
        if (
            owner._is_foreign
            or made.shape != shape
            or not is_writeable(made)
            or not _can_cast(dtype, made.dtype)
        ):
            return None
    owners.append(owner)
    if ufunc in _OUT_BY_NAME:
        call: tuple[Any, ...] = (functools.partial(ufunc, out=made), *values)
    else:
        call = (ufunc, *values, made)
    if not record(window, frame, call, made, ufunc.__name__, out is None, owners, views):
        return None
    if reads_foreign:  # its values may change as soon as this returns
        window.flush("others may write an operand")
    return result


def record(
    window: Window,
    frame: FrameType,
    call: tuple[Any, ...],
    out: ndarray[Any, Any],
    name: str,
    is_new: bool,
    owners: list[Array],
    views: Paths,
) -> bool:
    """Append an operation to the window; False if it has to run at once."""
    settings = _settings()
    if settings is None or warnings.filters is not window.filters:
        return False
    for owner in owners:
        if owner._window is not window and not window.claim(owner):
            return False
    window.record(frame, call, out, name, is_new, settings, owners, views)
    return True


def _fits(values: list[Any], kinds: list[Any]) -> bool:
    """Whether each Python integer has a value that the dtype of the other operand can hold."""
    others = [kind for kind in kinds if kind is not int]
    dtype = others[0] if others and isinstance(others[0], numpy.dtype) else numpy.dtype("i1")
    for value in values:
        if type(value) is int and not 0 <= value < 128:
            if dtype.kind in "bu" or (dtype.kind != "i" and dtype.itemsize < 4):
                return False
            if not -128 <= value < 128 and (dtype.itemsize < 4 or not -(2**31) <= value < 2**31):
                return False
    return True


def is_writeable(array: ndarray[Any, Any]) -> bool:
    """Whether NumPy writes an array without an error or a warning.

    ``flags.writeable`` would show the warning of results of `numpy.broadcast_arrays`.
    """
    return bool(array.flags.num & (_WRITEABLE | _WARNS) == _WRITEABLE)


def _can_cast(source: Any, target: Any) -> bool:
    if source is target:
        return True
    key = (source, target)
    found = _CAN_CAST.get(key)
    if found is None:
        found = _CAN_CAST[key] = (
            numpy.can_cast(source, target, "same_kind") and target.kind in NUMBERS
        )
    return found


def _allocated(
    frame: FrameType,
    arrays: list[ndarray[Any, Any]],
    shape: tuple[int, ...],
    dtype: Any,
    converts: bool,
) -> ndarray[Any, Any] | None:
    """Return memory in the layout that NumPy gives the result of an elementwise operation.

    ``converts``: an operand is converted to another dtype first. NumPy may do that in blocks or
    by a copy; where their layouts could differ this returns None.
    """
    c_order = f_order = True
    for array in arrays:
        if array.shape != shape:
            c_order = f_order = False
            break
        flags = array.flags
        if not flags.c_contiguous and not _is_in_c_order(array):
            c_order = False
        if f_order and not flags.f_contiguous:
            f_order = False
    if (c_order or f_order) and not (converts and 1 in shape):
        return memory_for(frame, shape, dtype) if c_order else numpy.empty(shape, dtype, "F")
    if converts:
        return None
    make: Any = numpy.nditer
    iterator = make(
        [*arrays, None],
        flags=["zerosize_ok"],
        op_flags=[*([["readonly"]] * len(arrays)), ["writeonly", "allocate"]],
        op_dtypes=[None] * len(arrays) + [dtype],
        order="K",
    )
    made: ndarray[Any, Any] = iterator.operands[-1]
    return made


def _is_in_c_order(array: ndarray[Any, Any]) -> bool:
    """Whether each axis has a longer stride than the next one, as in slices of C-ordered arrays."""
    strides = array.strides
    falling = all(one > other for one, other in itertools.pairwise(strides))
    return falling and strides[-1] > 0 and 1 not in array.shape


def memory_for(frame: FrameType, shape: tuple[int, ...], dtype: Any) -> ndarray[Any, Any]:
    """Return memory for a result, in the order of C."""
    return CURRENT.window.memory.new(shape, dtype, frame.f_code, frame.f_lasti)


_KNOWN: list[Any] = [None, None]  # the object that holds NumPy's settings, and what it says


def _settings() -> dict[str, str] | None:
    """Return the caller's ``numpy.geterr()``; None if it asks for exceptions or calls."""
    holder = _HOLDER.get() if _HOLDER is not None else numpy.geterr()
    if holder is not _KNOWN[0]:
        settings: Any = numpy.geterr()
        if not {"raise", "call", "print", "log"}.isdisjoint(settings.values()):
            settings = None
        _KNOWN[:] = holder, settings
        return settings  # type: ignore[no-any-return]
    return _KNOWN[1]  # type: ignore[no-any-return]


def record_call(
    frame: FrameType, ufunc: numpy.ufunc, inputs: tuple[Any, ...], kwargs: dict[str, Any]
) -> Array | None:
    """Record a call of a ufunc with its keyword arguments, if these are none or ``out``."""
    if ufunc not in RECORDED or len(inputs) != ufunc.nin:
        return None
    if not kwargs:
        return record_ufunc(frame, ufunc, inputs)
    out = kwargs.get("out", ())
    if len(kwargs) == len(out) == 1 and type(out[0]) is Array:
        return record_ufunc(frame, ufunc, inputs, out[0])
    return None


_POWERS = {2: numpy.square, 0.5: numpy.sqrt}


def record_power(
    frame: FrameType, ufunc: numpy.ufunc, inputs: tuple[Any, ...], out: Array | None
) -> Array | None:
    """Record ``x ** y``, for which NumPy has short forms if y is a number."""
    base, exponent = inputs
    kind = type(exponent)
    if kind in (int, float) and type(base) is Array:
        if base._array.dtype.kind in "fc" and exponent in _POWERS:
            return record_ufunc(frame, _POWERS[exponent], (base,), out)
        if exponent in (-1, 0, 1):
            return None
    elif kind is not Array:
        return None
    return record_ufunc(frame, ufunc, inputs, out)


def record_copy(frame: FrameType, array: Array, dtype: Any, order: str) -> Array | None:
    """Record a copy in a dtype; None if it runs at once."""
    window, owner, source = CURRENT.window, owner_of(array), array._array
    if (
        not window.most
        or owner._is_foreign
        or not source.ndim
        or source.dtype.kind not in NUMBERS
        or dtype.kind not in NUMBERS
        or (source.dtype.kind == "c" and dtype.kind not in "bc")
        or not source.size
        or source.size * dtype.itemsize < THRESHOLD.get()
    ):
        return None
    if source.flags.c_contiguous and order != "F":
        made = memory_for(frame, source.shape, dtype)
    else:
        made = numpy.empty_like(source, dtype, order=order)  # type: ignore[call-overload]
    result = Array(made)
    call = (operator.setitem, made, ..., source)
    views = path_of(array)
    done = record(window, frame, call, made, "cast", True, [owner, result], views)
    return result if done else None


def record_store(frame: FrameType, array: Array, index: Any, value: Any) -> bool:
    """Record ``array[index] = value``; False if it runs at once."""
    window = CURRENT.window
    owner = array if array._owner is None else array._owner
    if not window.most or owner._is_foreign or not is_writeable(array._array):
        return False
    target = array._array[index]
    if type(target) is not ndarray or target.dtype.kind not in NUMBERS:
        return False
    owners = [owner]
    path = None if owner._path is None else path_of_item(array, index)
    kind = type(value)
    if kind is Array and value._owner is owner and path is not None and value._path == path:
        return True  # what ``x[i] += y`` stores was written to x before
    views = {} if path is None else {id(target): path}
    if kind is Array:
        source = value._array
        of = value if value._owner is None else value._owner
        if (
            of._is_foreign
            or (source.shape != target.shape and source.ndim)
            or source.dtype.kind not in NUMBERS
            or (source.dtype.kind == "c" and target.dtype.kind not in "c")
        ):
            return False
        owners.append(of)
        views |= path_of(value)
    elif is_number(value):
        source = numpy.empty((), target.dtype)
        source[...] = value  # NumPy's errors, at the user's line
    else:
        return False
    call = (operator.setitem, target, ..., source)
    return record(window, frame, call, target, "cast", False, owners, views)


def path_of(array: Array) -> Paths:
    """The entry of a view for `Window.paths`."""
    owner = array._owner
    return {} if owner is None or owner._path is None else {id(array._array): array._path}


def is_number(value: Any) -> bool:
    """Whether a value is a number of Python's or of NumPy's own types."""
    return type(value) in _PYTHON_NUMBERS or isinstance(value, numpy.generic)


def is_basic(index: Any) -> bool:
    """Whether an index gives a view, or a number."""
    kind = type(index)
    if kind is tuple:
        return all(type(item) in _BASIC for item in index)
    return kind in _BASIC


_BASIC = frozenset((int, slice, type(None), type(...)))
