"""Constructors of generic ops that compute each element of one result for itself."""

from __future__ import annotations

from collections.abc import Sequence

from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.ops import Bind, GenericOp, Init, Op, Operand
from fusejit.ir.payload import I64, Payload
from fusejit.ir.source import UNKNOWN, Location
from fusejit.ir.types import IteratorType, Kind, TensorType
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


def bound_number(symbol: str, payload: Payload, hint: str, name: str) -> list[Op]:
    """A symbol for an integer that the kernel computes of other symbols."""
    number = elementwise(Value(hint, TensorType(I64), Kind.PYTHON), (), payload, name)
    return [number, Bind(symbol=symbol, value=number.results[0])]
