"""Splits of generic ops that one nest cannot compute in the written-out order."""

from __future__ import annotations

from collections.abc import Sequence

from fusejit.dataclass import replace
from fusejit.ir.affine import AffineExpr
from fusejit.ir.analysis.reduction_starts import read_starts_as_inputs
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.ops import GenericOp, Init, Operand
from fusejit.ir.payload import PayloadBuilder, identity_payload
from fusejit.ir.types import IteratorType, TensorType
from fusejit.ir.values import Value


def split_reduction(op: GenericOp) -> tuple[GenericOp, GenericOp]:
    """Reduce the last reduction dim into temporaries, then the other reduction dims.

    Before: ``out[i] = sum_jk f[i, j, k]``; after: ``t[i, j] = sum_k f[i, j, k]`` and
    ``out[i] = sum_j t[i, j]``.
    """
    last = op.reduction_dims[-1]
    kept = [d for d in range(len(op.domain)) if d != last]
    partial_map = IndexingMap.select(len(op.domain), kept)
    extents = tuple(op.domain[d] for d in kept)
    partials = tuple(
        Value(f"{r.name}_partial", TensorType(r.type.dtype, extents)) for r in op.results
    )
    first = GenericOp(
        results=partials,
        location=op.location,
        domain=op.domain,
        iterators=tuple(
            IteratorType.REDUCTION if d == last else IteratorType.PARALLEL
            for d in range(len(op.domain))
        ),
        inputs=op.inputs,
        inits=tuple(Init(partial_map, i.combiner) for i in op.inits),
        payload=op.payload,
        name=op.name,
        absorbed=op.absorbed,
    )
    iterators = [op.iterators[d] for d in kept]
    return first, combining(op, partials, kept, iterators, op.name)


def combining(
    op: GenericOp,
    partials: Sequence[Value],
    kept: Sequence[int],
    iterators: Sequence[IteratorType],
    name: str,
) -> GenericOp:
    """The op that combines partial results of an op; their first axes are dims of it."""
    rank = len(iterators)
    dims = {d: AffineExpr.dim(at) for at, d in enumerate(kept)}
    return GenericOp(
        results=op.results,
        location=op.location,
        domain=partials[0].type.extents,
        iterators=tuple(iterators),
        inputs=tuple(Operand(p, IndexingMap.identity(rank)) for p in partials),
        inits=tuple(replace(i, map=i.map.over(rank, dims)) for i in op.inits),
        payload=identity_payload(*(p.type.dtype for p in partials)),
        name=name,
    )


def one_result_each(op: GenericOp) -> list[GenericOp]:
    """The op once per init, for inits that cannot share a nest. Starts that are read are inputs."""
    op = read_starts_as_inputs(op)
    payload, n = op.payload, len(op.inputs)
    ops = []
    for at, init in enumerate(op.inits):
        builder = PayloadBuilder(payload.arguments[:n], [payload.arguments[n + at]])
        arguments = [*range(n), *(n if k == at else None for k in range(len(op.inits)))]
        yielded = builder.inline(payload, arguments)[at]
        ops.append(
            replace(
                op,
                results=(op.results[at],),
                iterators=op.iterators
                if init.combiner is not None
                else (IteratorType.PARALLEL,) * len(op.iterators),
                inits=(init,),
                payload=builder.finish([yielded]),
            )
        )
    return ops
