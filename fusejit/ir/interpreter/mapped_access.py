"""How the interpreter reads and writes through maps: by arrays of checked indices."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from fusejit.errors import InternalError
from fusejit.ir.affine import AffineExpr, Dim
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.reassociation import Reassociation
from fusejit.ir.write_access import strided

Symbols = Mapping[str, int]


def evaluate_on_grid(expr: AffineExpr, shape: Sequence[int], symbols: Symbols) -> np.ndarray:
    """The value of an affine expression at every point of a domain, int64 of that shape."""
    value = np.asarray(expr.evaluate(_coordinates(tuple(shape)), symbols), np.int64)
    return np.array(value) if value.shape == tuple(shape) else np.full(tuple(shape), value)


@functools.lru_cache(maxsize=256)
def _coordinates(shape: tuple[int, ...]) -> list[Any]:
    """The index along each axis at every point of a domain."""
    return list(np.indices(shape, dtype=np.int64))


def grid_indices(
    indexing_map: IndexingMap, grid: Sequence[int], shape: Sequence[int], symbols: Symbols
) -> tuple[np.ndarray, ...]:
    """The element of an array of ``shape`` that belongs to each point of ``grid``, per axis."""
    indices = tuple(evaluate_on_grid(r, grid, symbols) for r in indexing_map.results)
    check_bounds(indices, shape, str(indexing_map))
    return indices


def check_bounds(indices: Sequence[np.ndarray], shape: Sequence[int], what: str) -> None:
    """Raise if an index leaves the array; NumPy would take a negative one from the end."""
    for axis, index in enumerate(indices):
        if index.size and (index.min() < 0 or index.max() >= shape[axis]):
            raise InternalError(
                f"{what} reaches {index.min()} .. {index.max()} on axis {axis} of extent "
                f"{shape[axis]}"
            )


def gather(
    array: np.ndarray, indexing_map: IndexingMap, grid: Sequence[int], symbols: Symbols
) -> np.ndarray:
    """A copy of the elements of ``array`` that a map reaches from every point of ``grid``."""
    indices = grid_indices(indexing_map, grid, array.shape, symbols)
    return np.array(np.broadcast_to(array[indices], tuple(grid)))


def scatter(
    target: np.ndarray, indexing_map: IndexingMap, values: np.ndarray, symbols: Symbols
) -> None:
    """Write ``values`` to the elements of ``target`` that a map reaches from their indices."""
    indices = grid_indices(indexing_map, values.shape, target.shape, symbols)
    if values.size:  # no index of a target of rank 0 reaches nothing
        target[indices] = values.reshape(np.shape(target[indices]))


def real_view(array: np.ndarray, indexing_map: IndexingMap, shape: Sequence[int]) -> np.ndarray:
    """The part of ``array`` that a linear map without symbols reaches, sharing its memory."""
    shape = tuple(shape)
    if not all(r.is_linear for r in indexing_map.results):
        raise InternalError(f"no strided view has the map {indexing_map}")
    grid_indices(indexing_map, shape, array.shape, {})
    dims = range(indexing_map.num_dims)
    steps = [[r.coefficient(Dim(d)) for r in indexing_map.results] for d in dims]
    strides = tuple(sum(n * s for n, s in zip(step, array.strides, strict=True)) for step in steps)
    corner = indexing_map.evaluate([0] * len(shape)) if 0 not in shape else ()
    return strided(array, shape, strides, corner)


def reshaped(array: np.ndarray, reassociation: Reassociation, shape: tuple[int, ...]) -> np.ndarray:
    """``array`` with axes split or merged, each group for itself; a view where NumPy makes one."""
    fine, coarse = (shape, array.shape) if reassociation.expands else (array.shape, shape)
    for group, extent in zip(reassociation.groups, coarse, strict=True):
        product = math.prod(fine[axis] for axis in group)
        if product != extent:
            raise InternalError(f"{reassociation} does not make {shape} of {array.shape}")
    return array.reshape(shape)


def in_order(array: np.ndarray, order: Sequence[int] | None) -> np.ndarray:
    """A copy whose axes lie in memory from the outermost to the innermost as ``order`` lists."""
    if order is None:
        return np.array(array, order="C")
    fresh = np.empty([array.shape[axis] for axis in order], array.dtype)
    fresh = fresh.transpose(np.argsort(order))
    fresh[...] = array
    return fresh


def copy_that_lies_like(model: np.ndarray, array: np.ndarray) -> np.ndarray:
    """A copy of ``array`` with the strides of ``model``, those of axes of length 1 too."""
    low, high = np.lib.array_utils.byte_bounds(model)
    offset = model.ctypes.data - low if array.size else 0
    fresh = np.ndarray(array.shape, array.dtype, bytearray(high - low), offset, model.strides)
    fresh[...] = array
    return fresh


def uninitialised(shape: Sequence[int], dtype: np.dtype) -> np.ndarray:
    """What fresh memory holds: NaN, or the byte 0x5A repeated, so that reading it shows."""
    if dtype.kind in "fc":
        return np.full(tuple(shape), np.nan, dtype)
    if dtype.kind == "b":
        return np.ones(tuple(shape), dtype)
    pattern = np.frombuffer(b"\x5a" * dtype.itemsize, dtype)[0]
    return np.full(tuple(shape), pattern, dtype)
