"""Reductions over nothing: combiners without a reduction dim, and reduction dims of plain writes.

Before and after, for ``np.sum`` of a 0-d array::

    %r = generic domain() ins(%x) outs(add) { yield in0 }
    %r = generic domain() ins(%x) { t0 = const 0.0; t1 = add t0, in0; yield t1 }
"""

from __future__ import annotations

from fusejit.dataclass import replace
from fusejit.ir.analysis.reduction_starts import reaches_every_element
from fusejit.ir.ops import GenericOp, Init, Operand
from fusejit.ir.payload import PayloadBuilder
from fusejit.ir.scalar_ops.combiners import COMBINERS
from fusejit.ir.types import IteratorType


def without_reductions(op: GenericOp) -> GenericOp:
    """The op without combiners, for one that has no reduction dim (a sum of a 0-d array).

    The sum starts from 0.0, so that of -0.0 is 0.0; a start value is combined last. It stays the
    start where the map leaves elements out.
    """
    if all(init.combiner is None for init in op.inits):
        return op
    starts = [i for i in op.inits if i.combiner is not None and i.start is not None]
    inputs = [*op.inputs, *(Operand(i.start, i.map) for i in starts if i.start is not None)]
    dtypes = [r.type.dtype for r in op.results]
    builder = PayloadBuilder([o.value.type.dtype for o in inputs], dtypes)
    refs = builder.inline(
        op.payload, [*range(len(op.inputs)), *(len(inputs) + i for i in range(len(dtypes)))]
    )
    results = []
    for init, ref, dtype in zip(op.inits, refs, dtypes, strict=True):
        if init.combiner is not None:
            row = COMBINERS[init.combiner]
            ref = builder.op(row.scalar_op, (builder.const(row.identity(dtype), dtype), ref), dtype)
            if init.start is not None:
                at = len(op.inputs) + starts.index(init)
                ref = builder.op(row.scalar_op, (ref, at), dtype)
        results.append(ref)
    inits = tuple(
        i
        if i.combiner is None
        else Init(i.map, start=None if reaches_every_element(op, k) else i.start)
        for k, i in enumerate(op.inits)
    )
    return replace(op, inputs=tuple(inputs), inits=inits, payload=builder.finish(results))


def without_idle_reduction_dims(op: GenericOp) -> GenericOp:
    """The op with parallel dims only, if it has reduction dims but only plain writes.

    A plain write reaches each element once, so its points are independent of each other. linalg
    accepts the iterator type all the same.
    """
    if any(init.combiner is not None for init in op.inits) or not op.reduction_dims:
        return op
    if IteratorType.SEQUENTIAL in op.iterators:
        return op
    return replace(op, iterators=(IteratorType.PARALLEL,) * len(op.iterators))
