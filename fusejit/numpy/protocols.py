"""The protocols through which Python, NumPy and libraries use an `Array`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy

from fusejit.numpy.array import (
    Array,
    call,
    flush_pending,
    forget_path,
    give_away,
    may_keep_arrays,
    shows_no_values,
    unwrapped,
    wrapped,
)
from fusejit.numpy.flat import Flags, Flat
from fusejit.numpy.functions import FUNCTIONS, REDUCTION_OF, reduced
from fusejit.numpy.recording import record_call
from fusejit.numpy.report import REPORT

_OF_SHAPES = (
    "array_split atleast_1d atleast_2d atleast_3d broadcast_to diagonal dsplit expand_dims flip "
    "fliplr flipud hsplit iscomplexobj isrealobj matrix_transpose may_share_memory moveaxis ndim "
    "permute_dims ravel real reshape result_type rollaxis shape shares_memory size split squeeze "
    "swapaxes transpose unstack vsplit"
)
OF_SHAPES = frozenset(getattr(numpy, name) for name in _OF_SHAPES.split() if hasattr(numpy, name))
"""Functions that need no values if they return views or facts of shapes."""

CALLS_BACK = frozenset({numpy.apply_along_axis, numpy.apply_over_axes, numpy.piecewise})
"""Functions that hand arrays to functions of the caller, which may keep them."""


def _array_ufunc(self: Array, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
    """Run or record a call of a ufunc with an `Array` among its arguments."""
    if method == "__call__":
        recorded = record_call(sys._getframe(1), ufunc, inputs, kwargs)
        if recorded is not None:
            return recorded
    return call(getattr(ufunc, method), inputs, kwargs, ufunc.__name__)


def _array_function(self: Array, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
    """Run a function of NumPy with an `Array` among its arguments."""
    if func in FUNCTIONS:
        recorded = FUNCTIONS[func](sys._getframe(1), args, kwargs)
        if recorded is not None:
            return recorded
    elif func in REDUCTION_OF and type(args[0] if args else None) is Array:
        result = reduced(sys._getframe(1), REDUCTION_OF[func], args[0], args[1:], kwargs)
        if result is not NotImplemented:
            return result
    if func in OF_SHAPES:
        operands: list[Array] = []
        ndarrays, keywords = unwrapped((args, kwargs), operands, flushes=False)
        result = wrapped(func(*ndarrays, **keywords), operands)
        if shows_no_values(result, operands):
            return result
    operands = []
    args, kwargs = unwrapped((args, kwargs), operands)
    is_numpys = str(getattr(func, "__module__", "")).startswith("numpy")
    if func in CALLS_BACK or not is_numpys or may_keep_arrays((*args, *kwargs.values())):
        give_away(operands)
    if not (set(types) - {Array, numpy.ndarray}):
        func = getattr(func, "_implementation", func)  # no second search for overrides
    elif not operands:
        return NotImplemented
    else:
        give_away(operands)
    REPORT.count(getattr(func, "__name__", "function"))
    return wrapped(func(*args, **kwargs), operands)


def _fuse_jit_call(function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """Call a function that `fuse_jit` decorates on NumPy's own arrays and generators."""
    operands: list[Array] = []
    args = tuple(getattr(arg, "_numpy_generator", arg) for arg in args)
    args = unwrapped(args, operands)
    give_away(operands)
    REPORT.count(function.__name__)
    return wrapped(function(*args), operands)


def _iterate(self: Array) -> Any:
    """Iterate over the first axis: numbers of a 1-d array, views of others."""
    if self._array.ndim <= 1:
        give_away([self])
        return iter(self._array)  # NumPy's error without an axis
    rows: Any = self
    return (rows[i] for i in range(len(self._array)))


def _base(self: Array) -> Any:
    """The `Array` that owns the memory, or None."""
    return self._owner


def _flags(self: Array) -> Flags:
    """Facts of the memory's layout, and whether it may be written."""
    return Flags(self)


def _flat(self: Array) -> Flat:
    """An iterator over the elements; assigning it assigns the elements."""
    return Flat(self)


def _set_flat(self: Array, value: Any) -> None:
    flush_pending(self)
    self._array.flat = unwrapped(value, [])  # type: ignore[misc]


def _as_ndarray(self: Array, dtype: Any = None, *, copy: bool | None = None) -> Any:
    """Return the values as an ndarray; without a copy it shares the memory."""
    give_away([self])
    return numpy.array(self._array, dtype=dtype, copy=copy)


def _namespace(self: Array, *, api_version: Any = None) -> Any:
    """Return `fusejit.numpy`, the namespace of the array API standard."""
    self._array.__array_namespace__(api_version=api_version)  # NumPy's error for other versions
    return sys.modules["fusejit.numpy"]


_REFCHECK_MESSAGE = (
    "cannot resize an array that references or is referenced\n"
    "by another array in this way.\n"
    "Use the np.resize function or refcheck=False"
)
_RESIZE_REFERENCES = 0  # measured below


def _resize(self: Array, *new_shape: Any, refcheck: bool = True) -> None:
    """Change the shape and size in place, as ``ndarray.resize`` does."""
    global _RESIZE_REFERENCES
    if not _RESIZE_REFERENCES:
        _RESIZE_REFERENCES = sys.getrefcount(self)
        return
    flush_pending(self)
    REPORT.count("resize")
    if refcheck and sys.getrefcount(self) > _RESIZE_REFERENCES:
        sized = tuple(new_shape[0]) if len(new_shape) == 1 and _is_shape(new_shape[0]) else ()
        if (sized or new_shape) != self._array.shape:
            raise ValueError(_REFCHECK_MESSAGE)
    forget_path(self)
    self._array.resize(*new_shape, refcheck=refcheck)


def _is_shape(value: Any) -> bool:
    return isinstance(value, tuple | list)


def _buffer(self: Array, flags: int) -> memoryview:
    """Return a buffer of the memory (Python 3.12 and newer)."""
    give_away([self])
    view: memoryview = self._array.__buffer__(flags)  # type: ignore[attr-defined]
    return view


PROTOCOLS: dict[str, Any] = {
    "__array_ufunc__": _array_ufunc,
    "__array_function__": _array_function,
    "__fuse_jit_call__": staticmethod(_fuse_jit_call),
    "__iter__": _iterate,
    "__array__": _as_ndarray,
    "__array_namespace__": _namespace,
    "resize": _resize,
    "base": property(_base),
    "flags": property(_flags),
    "flat": property(_flat, _set_flat),
}
if sys.version_info >= (3, 12):
    PROTOCOLS["__buffer__"] = _buffer


def _measure_references() -> None:
    class Plain(Array):
        __slots__ = ()
        resize = _resize

    array: Any = Plain(numpy.empty(1))
    array.resize(1)


_measure_references()
