"""Reductions that leave out NaN: a choice, then the reduction.

NumPy warns of slices in which everything is NaN; that is known only when the kernel runs, so here
the result is the same without the warning.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fusejit.tracer.builder.primitives import PRIMITIVES, primitive
from fusejit.tracer.indexing.creation import array_from
from fusejit.tracer.np.arrays.conversions import astype
from fusejit.tracer.np.elementwise.ufuncs import apply_ufunc, call_ufunc, where
from fusejit.tracer.np.reductions.over_axes import (
    NO_VALUE,
    all_of,
    arguments,
    count_of_elements,
    into,
    is_true,
    max_of,
    mean_of,
    min_of,
    sum_of,
)
from fusejit.tracer.np.reductions.statistics import count_above, degrees_lost, variance
from fusejit.tracer.ops.elementwise_op import copy_of
from fusejit.tracer.program.fallback import numpy_raises
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.operand_types import I64, contains_traced, dtype_argument
from fusejit.tracer.values.traced_primitives import primitive_of


def chosen(array: TracedArray, number: float) -> tuple[TracedArray, TracedArray]:
    """A copy of the array with ``number`` in place of NaN, and where NaN stands."""
    if array.ndim > 1:
        array = copy_of(array, array.dtype, array.sorted_order(), "copy", array.kind)
    missing = call_ufunc(np.isnan, array)
    return where(missing, array.dtype.type(number), array), missing


@primitive_of("a", np.nansum)
def nansum(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = NO_VALUE,
    initial: Any = NO_VALUE,
    where: Any = NO_VALUE,
) -> Any:
    """``np.nansum``: the sum of what is not NaN."""
    array = arguments("nansum", a, {"initial": initial, "where": where})
    if array.dtype.kind == "f":
        array, _ = chosen(array, 0)
    return sum_of(array, axis, dtype, out, keepdims)


def _extremum(name: str, function: Any, neutral: float) -> Any:
    def reduce(
        a: Any,
        axis: Any = None,
        out: Any = None,
        keepdims: Any = NO_VALUE,
        initial: Any = NO_VALUE,
        where: Any = NO_VALUE,
    ) -> Any:
        if not contains_traced(a):
            return NotImplemented
        array = arguments(name, a, {"initial": initial, "where": where})
        if array.dtype.kind != "f":
            return function(array, axis, out, keepdims)
        filled, missing = chosen(array, neutral)
        found = function(filled, axis, None, keepdims)
        nothing = all_of(missing, axis, None, keepdims)
        result = PRIMITIVES[np.where](nothing, array.dtype.type(np.nan), found)
        return into(result if result.ndim else result[()], out)

    reduce.__name__ = name
    return reduce


nanmax = primitive(np.nanmax)(_extremum("nanmax", max_of, -np.inf))
nanmin = primitive(np.nanmin)(_extremum("nanmin", min_of, np.inf))
nanmax.__doc__ = "``np.nanmax``: the largest of what is not NaN."
nanmin.__doc__ = "``np.nanmin``: the smallest of what is not NaN."


def _float_dtype(array: TracedArray, dtype: Any) -> np.dtype:
    wanted = array.dtype if dtype is None else dtype_argument(dtype)
    if wanted.kind != "f":
        raise numpy_raises("TypeError: If a is inexact, then dtype must be inexact")
    return wanted


def _count(missing: TracedArray, axis: Any, keepdims: Any) -> TracedArray:
    """How many elements are not NaN."""
    return sum_of(call_ufunc(np.logical_not, missing), axis, I64, None, keepdims)


def divided(total: TracedArray, count: Any) -> TracedArray:
    """``total / count`` in the dtype of ``total``, as NumPy divides in place."""
    result = apply_ufunc(np.true_divide, (total, count))
    return result if result.dtype == total.dtype else astype(result, total.dtype)


@primitive_of("a", np.nanmean)
def nanmean(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = NO_VALUE,
    *,
    where: Any = NO_VALUE,
) -> Any:
    """``np.nanmean``: the sum of what is not NaN over its number."""
    array = arguments("nanmean", a, {"where": where})
    if array.dtype.kind != "f":
        return mean_of(array, axis, dtype, out, keepdims)
    count_of_elements(array, axis, "nanmean")  # NumPy warns of an empty slice
    wanted = _float_dtype(array, dtype)
    filled, missing = chosen(array, 0)
    total = sum_of(filled, axis, wanted, None, keepdims)
    return into(divided(total, _count(missing, axis, keepdims)), out)


@primitive_of("a", np.nanvar)
def nanvar(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: Any = 0,
    keepdims: Any = NO_VALUE,
    *,
    where: Any = NO_VALUE,
    mean: Any = NO_VALUE,
    correction: Any = NO_VALUE,
) -> Any:
    """``np.nanvar``: the variance of what is not NaN, in two passes as NumPy does.

    Source: ``numpy.lib._nanfunctions_impl.nanvar``.
    """
    array = arguments("nanvar", a, {"where": where, "mean": mean})
    if array.dtype.kind != "f":
        return variance(array, axis, dtype, out, ddof, keepdims, correction=correction)
    ddof = degrees_lost(ddof, correction)
    count_above(array, axis, "nanvar", ddof)
    wanted = _float_dtype(array, dtype)
    filled, missing = chosen(array, 0)
    counts = _count(missing, axis, True)
    average = divided(sum_of(filled, axis, wanted, None, True), counts)
    distance = apply_ufunc(np.subtract, (filled, average))
    if distance.dtype != array.dtype:
        distance = astype(distance, array.dtype)
    distance = PRIMITIVES[np.where](missing, distance.dtype.type(0), distance)
    squares = apply_ufunc(np.multiply, (distance, distance))
    total = sum_of(squares, axis, wanted, None, keepdims)
    count = counts if is_true(keepdims) else _count(missing, axis, keepdims)
    degrees = apply_ufunc(np.subtract, (count, ddof))
    result = divided(total, degrees)
    bad = apply_ufunc(np.less_equal, (degrees, 0))
    result = PRIMITIVES[np.where](bad, result.dtype.type(np.nan), result)
    return into(result if result.ndim else result[()], out)


@primitive_of("a", np.nanstd)
def nanstd(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: Any = 0,
    keepdims: Any = NO_VALUE,
    **others: Any,
) -> Any:
    """``np.nanstd``: the square root of ``np.nanvar``."""
    array = array_from(a)
    return into(
        apply_ufunc(np.sqrt, (nanvar(array, axis, dtype, None, ddof, keepdims, **others),)), out
    )
