"""Constructors of generic ops that compute each element of one result for itself."""

from __future__ import annotations

from collections.abc import Sequence

from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.ops import GenericOp, Init, Operand
from fusejit.ir.payload import Payload
from fusejit.ir.source import UNKNOWN, Location
from fusejit.ir.types import IteratorType
from fusejit.ir.values import Value


def elementwise(
    result: Value,
    inputs: Sequence[Operand],
    payload: Payload,
    name: str,
    location: Location = UNKNOWN,
    *,
    is_materialized: bool = False,
) -> GenericOp:
    """The op over the axes of its result that writes each element at its own point."""
    rank = result.type.rank
    return GenericOp(
        results=(result,),
        location=location,
        domain=result.type.extents,
        iterators=(IteratorType.PARALLEL,) * rank,
        inputs=tuple(inputs),
        inits=(Init(IndexingMap.identity(rank)),),
        payload=payload,
        name=name,
        is_materialized=is_materialized,
    )
