"""Products without a sum or over given axes: ``outer``, ``kron``, ``cross``, ``tensordot``, ..."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from fusejit.tracer.builder.primitives import PRIMITIVES, primitive
from fusejit.tracer.indexing.creation import array_from, empty
from fusejit.tracer.indexing.reshape_functions import reshape_method
from fusejit.tracer.indexing.view_functions import (
    moveaxis,
    normalize_axis,
    permuted,
    swapaxes,
    with_leading_axes,
)
from fusejit.tracer.np.arrays.triangles import compared
from fusejit.tracer.np.elementwise.ufuncs import apply_ufunc, call_ufunc
from fusejit.tracer.np.reductions.contraction import dot, matmul
from fusejit.tracer.program.fallback import numpy_raises, numpy_warns
from fusejit.tracer.program.locations import unsupported
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.traced_primitives import primitive_of


def _flat(obj: Any) -> TracedArray:
    """The elements in C order, to be read at once: whether NumPy copies a vector does not show."""
    array = array_from(obj)
    if array.ndim == 1:
        return array
    result: TracedArray = PRIMITIVES[np.ravel](array)
    return result


@primitive_of("a b", np.outer, complex=True)
def outer(a: Any, b: Any, out: Any = None) -> Any:
    """``out[i, j] = a[i] * b[j]``."""
    return call_ufunc(np.multiply, _flat(a)[:, None], _flat(b)[None, :], out=out)


def _outer_of(ufunc: np.ufunc) -> None:
    @primitive_of("a b", ufunc.outer, complex=True)
    def outer_method(a: Any, b: Any, /, **kwargs: Any) -> Any:
        first, second = array_from(a), array_from(b)
        return call_ufunc(ufunc, first[(..., *(None,) * second.ndim)], second, **kwargs)


for _ufunc in {f for f in vars(np).values() if isinstance(f, np.ufunc)}:
    if _ufunc.nin == 2 and _ufunc.nout == 1 and not _ufunc.signature:
        _outer_of(_ufunc)


@primitive_of("x1 x2", np.linalg.outer, complex=True)
def linalg_outer(x1: Any, x2: Any, /) -> Any:
    """``np.linalg.outer``: of vectors only."""
    if array_from(x1).ndim != 1 or array_from(x2).ndim != 1:
        raise numpy_raises("ValueError: Input arrays must be one-dimensional")
    return outer(x1, x2)


@primitive_of("a b", np.vdot)
def vdot(a: Any, b: Any, /) -> Any:
    """``np.vdot``: the dot product of the flattened arrays."""
    return dot(_flat(a), _flat(b))


@primitive_of("a b", np.inner)
def inner(a: Any, b: Any, /) -> Any:
    """``out[i, j] = sum_k a[i, k] * b[j, k]`` for operands of rank 0, 1 and 2."""
    left, right = array_from(a), array_from(b)
    if not left.ndim or not right.ndim:
        return apply_ufunc(np.multiply, (left, right))
    if max(left.ndim, right.ndim) > 2:
        raise unsupported("np.inner of an array of rank 3 is not traced", "use np.tensordot")
    return dot(left, swapaxes(right, -1, -2) if right.ndim == 2 else right)


@primitive_of("x1 x2", np.vecdot)
def vecdot(x1: Any, x2: Any, **kwargs: Any) -> Any:
    """``out[..] = sum_k x1[.., k] * x2[.., k]``."""
    if kwargs:
        raise unsupported("np.vecdot with keyword arguments is not traced", "move the axis first")
    left, right = array_from(x1), array_from(x2)
    if not left.ndim or not right.ndim:
        raise numpy_raises("ValueError: vecdot: input operand has not enough dimensions")
    product = matmul(left[..., None, :], right[..., :, None])
    result: TracedArray = product[..., 0, 0]
    return result.as_owner() if result.ndim else result[()]


@primitive_of("a b", np.kron)
def kron(a: Any, b: Any) -> Any:
    """``np.kron``: each element of ``a`` times all of ``b``, as blocks."""
    left, right = array_from(a), array_from(b)
    if not left.ndim or not right.ndim:
        return apply_ufunc(np.multiply, (a, b))
    rank = max(left.ndim, right.ndim)
    left, right = (with_leading_axes(x, rank) for x in (left, right))
    index = [(slice(None), None), (None, slice(None))]
    product = apply_ufunc(np.multiply, (left[index[0] * rank], right[index[1] * rank]))
    sizes: list[Any] = list(right.shape)
    shape = tuple(x * y for x, y in zip(left.shape, sizes, strict=True))
    return reshape_method(product, shape)


@primitive_of("a b", np.cross)
def cross(
    a: Any, b: Any, axisa: Any = -1, axisb: Any = -1, axisc: Any = -1, axis: Any = None
) -> Any:
    """``np.cross`` of vectors of three elements."""
    if axis is not None:
        axisa = axisb = axisc = axis
    left, right = array_from(a), array_from(b)
    if not left.ndim or not right.ndim:
        raise numpy_raises("ValueError: At least one array has zero dimension")
    left, right = moveaxis(left, axisa, -1), moveaxis(right, axisb, -1)
    for array in (left, right):
        if not array.trace.decisions.equal(array.extents[-1], 3, "np.cross of three elements"):
            raise numpy_warns("np.cross of vectors of two elements")
    first = [left[..., k] for k in range(3)]
    second = [right[..., k] for k in range(3)]
    dtype = np.promote_types(left.dtype, right.dtype)
    parts = []
    for i, j in ((1, 2), (2, 0), (0, 1)):
        products = [
            apply_ufunc(np.multiply, pair)
            for pair in ((first[i], second[j]), (first[j], second[i]))
        ]
        parts.append(apply_ufunc(np.subtract, products))
    shape = parts[0].shape
    result = empty((*shape, 3), dtype)
    for k, part in enumerate(parts):
        result[..., k] = part
    at = normalize_axis(axisc, result.ndim)
    return moveaxis(result, -1, at)


@primitive(np.linalg.cross)
def linalg_cross(x1: Any, x2: Any, /, *, axis: Any = -1) -> Any:
    """``np.linalg.cross``: of vectors of three elements."""
    return cross(x1, x2, axis=axis)


@primitive_of("a b", np.tensordot)
def tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    """``np.tensordot``: axes permuted and merged, then one matrix product."""
    left, right = array_from(a), array_from(b)
    if isinstance(axes, list | tuple):
        first, second = (list(x) if isinstance(x, list | tuple) else [x] for x in axes)
    else:
        count = operator.index(axes)
        first, second = list(range(-count, 0)), list(range(count))
    if len(first) != len(second):
        raise numpy_raises("ValueError: shape-mismatch for sum")
    first = [normalize_axis(k, left.ndim) for k in first]
    second = [normalize_axis(k, right.ndim) for k in second]
    if len(set(first)) != len(first) or len(set(second)) != len(second):
        raise numpy_raises("ValueError: duplicate axes are not allowed in tensordot")
    for i, j in zip(first, second, strict=True):
        if not left.trace.decisions.equal(
            left.extents[i], right.extents[j], "np.tensordot sums axes of one length"
        ):
            raise numpy_raises("ValueError: shape-mismatch for sum")
    rows = [k for k in range(left.ndim) if k not in first]
    columns = [k for k in range(right.ndim) if k not in second]
    reshape = reshape_method

    def total(array: TracedArray, axes: list[int]) -> Any:
        size: Any = 1
        for k in axes:
            size = size * array.shape[k]
        return size

    depth = total(left, first)
    one = reshape(permuted(left, (*rows, *first)), (total(left, rows), depth))
    two = reshape(permuted(right, (*second, *columns)), (depth, total(right, columns)))
    shape = (*(left.shape[k] for k in rows), *(right.shape[k] for k in columns))
    return reshape(dot(one, two), shape)


@primitive_of("a", np.linalg.matrix_power)
def matrix_power(a: Any, n: Any) -> Any:
    """``np.linalg.matrix_power`` for ``n >= 0``: by repeated squares, in NumPy's order."""
    array = array_from(a)
    exponent = operator.index(n)
    if array.ndim < 2:
        raise numpy_raises("LinAlgError: at least two-dimensional")
    same = array.trace.decisions.equal(array.extents[-1], array.extents[-2], "a square matrix")
    if not same:
        raise numpy_raises("LinAlgError: Last 2 dimensions of the array must be square")
    if exponent < 0:
        raise unsupported("np.linalg.matrix_power of an inverse", "invert the matrix before")
    if exponent == 0:
        result = PRIMITIVES[np.empty_like](array)
        result[...] = compared("equal", array.shape[-2], None, 0, array.dtype, None)
        return result
    if exponent == 3:
        return matmul(matmul(array, array), array)
    square: Any = None
    power: Any = None
    while exponent:
        square = array if square is None else matmul(square, square)
        exponent, bit = divmod(exponent, 2)
        if bit:
            power = square if power is None else matmul(power, square)
    return power
