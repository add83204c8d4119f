"""Fresh arrays that are put together from parts: one buffer, one store for each part.

A part is stored straight into its place, so what computes it needs no memory of its own, and a part
that is itself a view of another array is copied once.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from fusejit.dataclass import dataclass
from fusejit.ir.affine import AffineExpr
from fusejit.ir.indexing_map import IndexingMap
from fusejit.tracer.builder.shapes import Extents
from fusejit.tracer.builder.trace import current_trace
from fusejit.tracer.indexing.creation import uninitialised
from fusejit.tracer.ops.axis_order import Order
from fusejit.tracer.ops.stores import assign_operand
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.operand_types import Operand, operand_of

ZERO = AffineExpr.const(0)


def new_array(extents: Extents, dtype: np.dtype, order: Order = None) -> TracedArray:
    """Memory for an array whose parts are stored one by one."""
    canonical = current_trace().decisions.canonical
    result = uninitialised(tuple(map(canonical, extents)), dtype, order)
    result.storage.to_buffer()
    return result


def section(
    array: TracedArray,
    axis: int,
    start: AffineExpr | int,
    extent: AffineExpr | int,
    step: int = 1,
) -> TracedArray:
    """``array[start], array[start + step], ..``, ``extent`` of them, along an axis.

    The caller knows that they lie inside.
    """
    canonical = array.trace.decisions.canonical
    results = [AffineExpr.dim(k) for k in range(array.ndim)]
    results[axis] = results[axis] * step + canonical(AffineExpr.of(start))
    extents = list(array.extents)
    extents[axis] = canonical(AffineExpr.of(extent))
    return array.view(IndexingMap(array.ndim, tuple(results)), tuple(extents))


@dataclass(frozen=True, slots=True)
class Partition:
    """``extent`` elements at ``place``: those of the array from ``source`` on, ``step`` apart."""

    place: AffineExpr
    extent: AffineExpr
    source: AffineExpr
    step: int = 1


def store_partitions(
    result: TracedArray, array: TracedArray, partitions: Sequence[Sequence[Partition]]
) -> TracedArray:
    """Store all of ``result``, which along each axis has these partitions of ``array``."""
    for chosen in itertools.product(*partitions):
        source, target = array, result
        for k, partition in enumerate(chosen):
            source = section(source, k, partition.source, partition.extent, partition.step)
            target = section(target, k, partition.place, partition.extent)
        store(target, source)
    return result


def store(target: TracedArray, value: Any) -> None:
    """``target[...] = value``; nothing where the target is known to be empty."""
    constant = target.trace.decisions.constant
    if not any(constant(e) == 0 for e in target.extents):
        assign_operand(target, value if isinstance(value, Operand) else operand_of(value))
