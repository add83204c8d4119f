"""Reductions of elements under a mask: ``x[m].mean()`` adds zeros where ``m`` is false.

How many elements there are is a number of the kernel: ``len(x[m])``. The largest of none is an
error that only the kernel can notice (`Assert`).

Numerics: NumPy sums the selected elements one after the other, or by its pairwise scheme; here they
keep their places among the zeros, in the order of `fusejit.ir.interpreter.summation`. The mean of
no elements is NaN without NumPy's warning.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from fusejit.errors import UnsupportedError
from fusejit.ir.ops import Assert
from fusejit.ir.scalar_ops.combiners import COMBINERS
from fusejit.ir.types import Kind
from fusejit.tracer.builder.primitives import PRIMITIVES, primitive
from fusejit.tracer.indexing.view_functions import normalize_axes
from fusejit.tracer.np.elementwise.ufuncs import apply_ufunc
from fusejit.tracer.np.numbers.builtin_functions import length, shape_of, size_of
from fusejit.tracer.np.reductions.over_axes import (
    NO_VALUE,
    all_of,
    any_of,
    into,
    is_true,
    max_of,
    mean_dtype,
    mean_of,
    min_of,
    quotient,
    sum_of,
)
from fusejit.tracer.np.reductions.statistics import (
    count_nonzero,
    product,
    standard_deviation,
    variance,
)
from fusejit.tracer.ops.kernel_numbers import as_kernel_number
from fusejit.tracer.program.locations import MOVE_OUTSIDE, unsupported
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.masked import (
    ELEMENT_METHODS,
    METHODS_OF_ELEMENTS,
    REDUCTIONS_OF_ELEMENTS,
    MaskedElements,
    as_array,
    with_trailing_axes,
)
from fusejit.tracer.values.operand_types import F64, I64


def _reduced_axes(elements: MaskedElements, axis: Any) -> tuple[tuple[int, ...], bool]:
    """The axes of the whole array that an axis of ``x[m]`` means; whether the selected one is in.

    The first axis of ``x[m]`` stands for all axes of the mask, which may have none.
    """
    rank = elements.mask.type.rank
    axes: list[int] = []
    reduced = normalize_axes(axis, elements.ndim)
    for a in reduced:
        axes += range(rank) if a == 0 else [a + rank - 1]
    return tuple(axes), 0 in reduced


def _mask(elements: MaskedElements) -> TracedArray:
    trace, rank = elements.array.trace, elements.array.ndim
    mask = TracedArray.of_value(trace, elements.mask)
    return with_trailing_axes(mask, rank - elements.mask.type.rank)


def _filled(elements: MaskedElements, array: TracedArray, neutral: Any) -> TracedArray:
    """The whole array with a neutral element where the mask is false."""
    chosen: TracedArray = PRIMITIVES[np.where](_mask(elements), array, array.dtype.type(neutral))
    return chosen


def _keeps(elements: MaskedElements, keepdims: Any, has_selected: bool) -> bool:
    if is_true(keepdims) and has_selected and elements.mask.type.rank != 1:
        what = "a reduction with keepdims=True of elements under a mask of no or several axes"
        raise unsupported(f"{what} is not traced", MOVE_OUTSIDE)
    return is_true(keepdims)


def _not_traced() -> UnsupportedError:
    return unsupported("a reduction of elements under a mask with these options", MOVE_OUTSIDE)


def _neutral(name: str, dtype: np.dtype) -> Any:
    if name in ("max", "min"):
        return COMBINERS[name].identity(dtype)
    return {"sum": 0, "prod": 1, "any": 0, "all": 1}[name]


def _count(elements: MaskedElements) -> TracedArray:
    """How many rows of the first axes are selected, as np.intp."""
    mask = TracedArray.of_value(elements.array.trace, elements.mask)
    return sum_of(mask, None, np.intp)


def _reduction(name: str, function: Callable[..., Any], has_dtype: bool) -> Callable[..., Any]:
    def reduce(
        elements: MaskedElements,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        keepdims: Any = NO_VALUE,
    ) -> Any:
        axes, has_selected = _reduced_axes(elements, axis)
        options = {"dtype": dtype} if has_dtype else {}
        options["keepdims"] = _keeps(elements, keepdims, has_selected)
        if not has_selected:
            if out is not None:
                raise _not_traced()
            return elements.like(function(elements.array, axis=axes, **options))
        if name == "mean":
            return _mean(elements, axes, dtype, out, options["keepdims"])
        if name in ("max", "min"):
            some = any_of(TracedArray.of_value(elements.array.trace, elements.mask)).value()
            reason = f"the {name} of the elements that a mask selects"
            elements.array.trace.emit(Assert(condition=some, reason=reason, error=f"no {name}"))
        filled = _filled(elements, elements.array, _neutral(name, elements.dtype))
        return into(function(filled, axis=axes, **options), out)

    reduce.__name__ = reduce.__qualname__ = name
    return reduce


def _mean(
    elements: MaskedElements, axes: tuple[int, ...], dtype: Any, out: Any, keeps: bool
) -> Any:
    """``sum / count`` of the selected elements."""
    wanted = mean_dtype(elements.array, dtype, "mean")
    total = sum_of(_filled(elements, elements.array, 0), axes, wanted, None, keeps)
    return into(quotient(total, _count_over(elements, axes), "mean", F64), out)


def _count_over(elements: MaskedElements, axes: tuple[int, ...]) -> Any:
    count: Any = _count(elements)
    for a in axes:
        if a >= elements.mask.type.rank:
            count = count * elements.array.shape[a]
    return count


def _variance(name: str) -> Callable[..., Any]:
    def reduce(
        elements: MaskedElements,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        ddof: Any = 0,
        keepdims: Any = NO_VALUE,
    ) -> Any:
        axes, has_selected = _reduced_axes(elements, axis)
        keeps = _keeps(elements, keepdims, has_selected)
        if not has_selected or not isinstance(ddof, int):
            raise _not_traced()
        wanted = mean_dtype(elements.array, dtype, name)
        count = _count_over(elements, axes)
        total = sum_of(_filled(elements, elements.array, 0), axes, wanted, None, True)
        distance = apply_ufunc(
            np.subtract, (elements.array, quotient(total, count, f"{name}.mean", F64))
        )
        squares = _filled(elements, apply_ufunc(np.square, (distance,)), 0)
        total = sum_of(squares, axes, wanted, None, keeps)
        found = quotient(total, count - ddof if ddof else count, name, F64)
        return into(found if name == "var" else apply_ufunc(np.sqrt, (found,)), out)

    return reduce


def number_of_rows(elements: MaskedElements) -> TracedArray:
    """``len(x[m])``: how many elements of the mask are true."""
    return as_kernel_number(_count(elements), Kind.PYTHON, I64)


def number_of_elements(elements: MaskedElements) -> Any:
    """``x[m].size``."""
    size: Any = number_of_rows(elements)
    for extent in elements.array.shape[elements.mask.type.rank :]:
        size = size * extent
    return size


def _count_nonzero(elements: MaskedElements, axis: Any = None, *, keepdims: Any = False) -> Any:
    truth = elements.like(apply_ufunc(np.not_equal, (elements.array, 0)))
    return ELEMENT_METHODS["sum"](truth, axis, np.intp, None, keepdims)


REDUCTIONS: dict[Any, Callable[..., Any]] = {}
"""NumPy's reductions, of arrays and of elements under a mask."""


def _register(function: Any, plain: Any, of_elements: Callable[..., Any]) -> None:
    """``function`` of elements under a mask; of anything else it is as before."""

    @functools.wraps(plain)
    def call(a: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(a, MaskedElements) and not a.is_selected:
            return of_elements(a, *args, **kwargs)
        return plain(a, *args, **kwargs)

    REDUCTIONS[function] = primitive(function)(call)
    REDUCTIONS_OF_ELEMENTS.add(function)


def _without_dtype(function: Callable[..., Any]) -> Callable[..., Any]:
    """The parameters of ``np.max``: no dtype."""

    def call(
        elements: MaskedElements, axis: Any = None, out: Any = None, keepdims: Any = NO_VALUE
    ) -> Any:
        return function(elements, axis, None, out, keepdims)

    return call


_SUMS = {"sum": sum_of, "prod": product, "mean": mean_of}
_PICKS = {"max": max_of, "min": min_of, "any": any_of, "all": all_of}
_OF_ELEMENTS: dict[str, Callable[..., Any]] = {
    **{name: _reduction(name, plain, True) for name, plain in _SUMS.items()},
    **{name: _without_dtype(_reduction(name, f, False)) for name, f in _PICKS.items()},
    "var": _variance("var"),
    "std": _variance("std"),
}
_PLAIN = {**_SUMS, **_PICKS, "var": variance, "std": standard_deviation}


def _or_of_an_array(name: str) -> Callable[..., Any]:
    """With ``initial=`` or ``where=`` the elements are an array of their own."""

    def call(elements: MaskedElements, *args: Any, **kwargs: Any) -> Any:
        if "initial" in kwargs or "where" in kwargs:
            options = {key: as_array(value) for key, value in kwargs.items()}
            return PRIMITIVES[getattr(np, name)](elements.selected(), *args, **options)
        return _OF_ELEMENTS[name](elements, *args, **kwargs)

    return call


for _name in METHODS_OF_ELEMENTS:
    ELEMENT_METHODS[_name] = _or_of_an_array(_name)
    _register(getattr(np, _name), _PLAIN[_name], ELEMENT_METHODS[_name])
primitive(np.amax)(REDUCTIONS[np.max])
primitive(np.amin)(REDUCTIONS[np.min])
_register(np.count_nonzero, count_nonzero, _count_nonzero)


def _register_number(
    function: Any, plain: Callable[..., Any], of_elements: Callable[..., Any]
) -> None:
    """The kernel counts what stays in it; of other elements NumPy makes an array, with a size."""

    @functools.wraps(plain)
    def call(a: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(a, MaskedElements) and not a.is_selected and a.stays_in_kernel:
            return of_elements(a, *args, **kwargs)
        return plain(as_array(a), *args, **kwargs)

    primitive(function)(call)


def shape_of_elements(elements: MaskedElements) -> tuple[Any, ...]:
    """``x[m].shape``."""
    return (number_of_rows(elements), *elements.array.shape[elements.mask.type.rank :])


ELEMENT_METHODS.update(size=number_of_elements, shape=shape_of_elements)
_length: Any = len
_register_number(_length, length, number_of_rows)
_register_number(np.size, size_of, number_of_elements)
_register_number(np.shape, shape_of, shape_of_elements)
