"""What the results of a generic op start from, and whether that is seen.

Before and after `read_starts_as_inputs`::

    %q, %r = generic ins(%m) outs(write from %s, add) { t0 = add in0, out0; yield t0, in0 }
    %q, %r = generic ins(%m, %s) outs(write from %s, add) { t0 = add in0, in1; yield t0, in0 }
"""

from __future__ import annotations

from dataclasses import replace

from fusejit.ir.graph import GenericOp, Operand
from fusejit.ir.payload import PayloadBuilder
from fusejit.ir.types import IteratorType


def is_overwritten(op: GenericOp, number: int) -> bool:
    """Whether every element of result ``number`` is written, whatever it starts from."""
    init, extents = op.inits[number], op.results[number].type.extents
    if init.combiner is not None or op.payload.reads_init(number) or not init.map.is_permutation:
        return False
    return all(
        op.domain[dim] == extent
        for expr, extent in zip(init.map.results, extents, strict=True)
        if (dim := expr.as_dim()) is not None
    )


def read_starts_as_inputs(op: GenericOp) -> GenericOp:
    """The op with an input in place of each start that its payload reads.

    A plain write reaches each element once, so what it reads there is what was there before. Only
    dims that run in sequence see what other points wrote; such an op stays as it is.
    """
    payload = op.payload
    read = [k for k in range(len(op.inits)) if payload.reads_init(k)]
    if not read or IteratorType.SEQUENTIAL in op.iterators:
        return op
    operands = [Operand(s, op.inits[k].map) for k in read if (s := op.inits[k].start) is not None]
    inputs = (*op.inputs, *operands)
    builder = PayloadBuilder(
        [o.value.type.dtype for o in inputs], payload.arguments[payload.num_inputs :]
    )
    arguments = [
        *range(payload.num_inputs),
        *(
            payload.num_inputs + read.index(k) if k in read else len(inputs) + k
            for k in range(len(op.inits))
        ),
    ]
    results = builder.inline(payload, arguments)
    return replace(op, inputs=inputs, payload=builder.finish(results))
