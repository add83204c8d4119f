"""Reductions made of several ops: var, std, ptp, count_nonzero; and products."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fusejit.tracer.builder.primitives import primitive
from fusejit.tracer.indexing.creation import array_from
from fusejit.tracer.np.elementwise.ufuncs import apply_ufunc
from fusejit.tracer.np.reductions.over_axes import (
    NO_VALUE,
    accumulate_dtype,
    arguments,
    count_of_elements,
    into,
    is_true,
    max_of,
    mean_dtype,
    min_of,
    of_out,
    quotient,
    reduce_array,
    register_reduce,
    sum_of,
)
from fusejit.tracer.ops.elementwise_op import copy_of
from fusejit.tracer.program.fallback import numpy_raises, numpy_warns
from fusejit.tracer.program.locations import MOVE_OUTSIDE, unsupported
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.operand_types import BOOL, contains_traced, dtype_argument
from fusejit.tracer.values.symbolic_number import SymbolicNumber, is_host_number


def _spread(function: Any) -> Callable[..., TracedArray]:
    """``np.var``, or its root ``np.std``; the method is the same without ``correction=``."""
    name = function.__name__

    @primitive(function)
    def spread(
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
    ) -> TracedArray:
        array = arguments(name, a, {"where": where, "mean": mean})
        lost = degrees_lost(ddof, correction)
        found = _variance(array, name, axis, dtype, lost, keepdims, out)
        return into(found if name == "var" else apply_ufunc(np.sqrt, (found,)), out)

    @primitive(getattr(np.ndarray, name))
    def method(
        a: Any,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        ddof: Any = 0,
        keepdims: Any = False,
        **others: Any,
    ) -> TracedArray:
        if not {"where", "mean"}.issuperset(others):
            raise numpy_raises(f"TypeError: unexpected keyword arguments of {name}")
        return spread(a, axis, dtype, out, ddof, keepdims, **others)

    for made in (spread, method):
        made.__name__ = made.__qualname__ = name
    return spread


variance, standard_deviation = _spread(np.var), _spread(np.std)


def degrees_lost(ddof: Any, correction: Any) -> Any:
    """``ddof=``, or ``correction=`` if that is given instead."""
    if correction is not NO_VALUE:
        if ddof != 0:
            raise numpy_raises("ValueError: ddof and correction can't be provided simultaneously")
        ddof = correction
    if not is_host_number(ddof):
        raise unsupported("ddof= that is not a number is not traced", MOVE_OUTSIDE)
    return ddof


def count_above(array: TracedArray, axis: Any, name: str, ddof: Any) -> Any:
    """How many elements a variance is taken over; falls back where NumPy warns of too few.

    Where the number differs between iterations of a loop, the result is NumPy's, unwarned.
    """
    count = count_of_elements(array, axis, name)
    is_known = type(ddof) is int and ddof <= 0  # no guard: there is at least one element
    if not is_known and not _varies(count) and not count > ddof:
        raise numpy_warns("degrees of freedom <= 0")
    return count


def _varies(count: Any) -> bool:
    """Whether only the kernel knows a number."""
    return isinstance(count, TracedArray) or (isinstance(count, SymbolicNumber) and count.is_local)


def _degrees(count: Any, ddof: Any) -> Any:
    """The degrees of freedom, which are not negative: ``numpy._core._methods._var``."""
    left = count - ddof
    return apply_ufunc(np.maximum, (left, 0)) if _varies(left) else left


def _variance(
    array: TracedArray,
    name: str,
    axis: Any,
    dtype: Any,
    ddof: Any,
    keepdims: Any,
    out: Any,
) -> TracedArray:
    """``sum((a - mean(a)) ** 2) / (count - ddof)``, in two passes as NumPy does.

    Source: ``numpy._core._methods._var``.
    """
    count = count_above(array, axis, name, ddof)
    wanted = mean_dtype(array, dtype, name)
    total = reduce_array(array, f"{name}.mean", "add", axis, True, wanted, True)
    distance = apply_ufunc(np.subtract, (array, quotient(total, count, f"{name}.mean")))
    square = apply_ufunc(np.square, (distance,))
    if array.dtype.kind == "f":
        wanted = of_out(wanted, dtype, out)
    total = reduce_array(square, name, "add", axis, is_true(keepdims), wanted, True)
    return quotient(total, _degrees(count, ddof), name)


@primitive(np.ptp)
def peak_to_peak(
    a: Any, axis: Any = None, out: Any = None, keepdims: Any = NO_VALUE
) -> TracedArray:
    """``max(a) - min(a)``."""
    largest = max_of(a, axis, None, keepdims)
    if isinstance(out, TracedArray) and out.ndim != largest.ndim:
        raise numpy_raises("ValueError: output parameter has the wrong number of dimensions")
    return apply_ufunc(np.subtract, (largest, min_of(a, axis, None, keepdims)), out)


@primitive(np.count_nonzero)
def count_nonzero(a: Any, axis: Any = None, *, keepdims: Any = False) -> Any:
    """How many elements are not zero, as np.intp."""
    if not contains_traced(a) and not isinstance(a, np.ndarray):
        return NotImplemented
    array = array_from(a)
    truth = array if array.dtype == BOOL else copy_of(array, BOOL, array.sorted_order(), "astype")
    return sum_of(truth, axis, np.intp, None, keepdims)


@primitive(np.prod)
def product(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = NO_VALUE,
    initial: Any = NO_VALUE,
    where: Any = NO_VALUE,
) -> TracedArray:
    """``out[i] = prod_k a[i, k]`` in NumPy's accumulation dtype."""
    array = arguments("prod", a, {"initial": initial, "where": where})
    wanted = accumulate_dtype(array.dtype) if dtype is None else dtype_argument(dtype)
    wanted = of_out(wanted, dtype, out)
    combiner = "and" if wanted == BOOL else "multiply"
    return into(reduce_array(array, "prod", combiner, axis, is_true(keepdims), wanted, True), out)


register_reduce(np.multiply, product, True, None)
