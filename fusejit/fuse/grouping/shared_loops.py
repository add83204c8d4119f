"""Shared loops: which dims of ops may be shared outer loops, and how they correspond."""

from __future__ import annotations

from collections.abc import Sequence

from fusejit.ir.affine import AffineExpr
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.ops import GenericOp
from fusejit.ir.types import IteratorType


def may_be_shared(op: GenericOp, dim: int) -> bool:
    """Whether a dim is parallel and a plain axis of every result."""
    return op.iterators[dim] is IteratorType.PARALLEL and all(
        any(r.as_dim() == dim for r in init.map.results) for init in op.inits
    )


def same_axis(written: IndexingMap, dim: int, read: IndexingMap) -> tuple[int, int] | None:
    """The reader's dim on the axis that the writer's ``dim`` runs along, and how far it is shifted.

    ``(1, 2)`` if the writer's element ``d`` is the reader's ``d1 + 2``; None if there is no such
    dim.
    """
    for axis, result in enumerate(written.results):
        if result.as_dim() == dim:
            index = read.results[axis]
            plain = (index - index.constant).as_dim()
            return None if plain is None else (plain, index.constant)
    return None


def is_linear(index: AffineExpr, dim: int) -> bool:
    """Whether the index is ``c * dim + constant``: another one for each value of the dim."""
    return index.is_linear and index.dims() == {dim}


def real_rank(extents: Sequence[object]) -> int:
    """The number of extents other than 1."""
    return sum(str(extent) != "1" for extent in extents)
