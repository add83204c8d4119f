"""Memory layout of concrete arrays, in the terms of `ArrayClass`."""

from __future__ import annotations

import numpy as np

from fusejit.ir.values import Layout


def classify(array: np.ndarray) -> tuple[tuple[int, ...], Layout]:
    """Axis order from the outermost to the innermost, and what the strides are within it.

    Axes of length 1 have no say. An array that is both C and F contiguous counts as C contiguous.
    """
    rank = array.ndim
    if array.flags.c_contiguous:
        return tuple(range(rank)), Layout.CONTIGUOUS
    if array.flags.f_contiguous:
        return tuple(range(rank))[::-1], Layout.CONTIGUOUS
    axes = [a for a in range(rank) if array.shape[a] != 1]
    axes.sort(key=lambda a: -abs(array.strides[a]))  # stable: C order on ties
    expected = array.itemsize
    dense = True
    for axis in reversed(axes):
        dense = dense and array.strides[axis] == expected
        expected *= array.shape[axis]
    unit = array.strides[axes[-1]] == array.itemsize
    layout = Layout.CONTIGUOUS if dense else Layout.UNIT if unit else Layout.STRIDED
    return arrange(axes, rank), layout


def arrange(axes: list[int], rank: int) -> tuple[int, ...]:
    """The order of all axes, given that of the axes longer than 1: C order where they agree."""
    if axes == sorted(axes):
        return tuple(range(rank))
    return (*(a for a in range(rank) if a not in axes), *axes)
