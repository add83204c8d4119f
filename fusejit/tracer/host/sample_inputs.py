"""Small arrays that stand for traced ones while a host function is tried on them.

What a function returns may depend on dtype, rank, the order of axes in memory, and on whether the
array is contiguous (``flags.fnc``), but not on the elements.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fusejit.tracer.ops.axis_order import Order


def laid_out(
    array: np.ndarray, order: Order, *, has_gaps: bool, still: Sequence[int] = ()
) -> np.ndarray:
    """The array with its axes in an order in memory, outermost first, with gaps or without.

    Along the axes ``still`` it has stride 0: all indices are the element of the first one.
    """
    if not array.ndim:
        return array
    if still and array.size:
        first = tuple(slice(1) if a in still else slice(None) for a in range(array.ndim))
        whole = laid_out(array[first], order, has_gaps=has_gaps)
        return np.broadcast_to(whole, array.shape)
    axes = order or tuple(range(array.ndim))
    lined_up = np.ascontiguousarray(array.transpose(axes))
    if has_gaps:
        lined_up = np.repeat(lined_up, 2, axis=-1)[..., ::2]
    return lined_up.transpose(tuple(axes.index(axis) for axis in range(len(axes))))


def elements(shape: tuple[int, ...], dtype: np.dtype, run: int | None) -> np.ndarray:
    """Elements that most functions take: ascending and positive definite.

    Where extents depend on elements, the second ``run`` has zeros, so that another number of them
    is selected, or differs, whatever the size.
    """
    size = int(np.prod(shape))
    if run:
        return np.zeros(shape, dtype)
    if dtype.kind == "b":
        flags: np.ndarray = (np.arange(size) % 2 == 0).reshape(shape)
        return flags
    some_equal = 2 if run is not None and size > 3 else 1
    numbers = np.arange(size) // some_equal + (run is not None)
    return _of_dtype(numbers.reshape(shape), dtype, is_definite=run is None)


def other_elements(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Elements without a zero: where there are two numbers, they ascend from 1."""
    if dtype.kind == "b":
        return np.ones(shape, dtype)
    numbers = np.arange(1, int(np.prod(shape)) + 1)
    return _of_dtype(numbers.reshape(shape), dtype, is_definite=True)


def _of_dtype(numbers: np.ndarray, dtype: np.dtype, *, is_definite: bool) -> np.ndarray:
    """The numbers, or matrices that most functions take where ``is_definite`` asks for such."""
    shape = numbers.shape
    if is_definite and len(shape) >= 2 and shape[-1] == shape[-2] and dtype.kind in "fc":
        matrix = np.diag(np.arange(1.0, shape[-1] + 1)) + 0.01
        return np.broadcast_to(matrix, shape).astype(dtype)
    made: np.ndarray = (numbers % 120 if dtype.kind in "iu" else numbers).astype(dtype)
    return made
