"""What the results of a generic op start from, and whether that is seen.

Before and after `read_starts_as_inputs`::

    %q, %r = generic ins(%m) outs(write from %s, add) { t0 = add in0, out0; yield t0, in0 }
    %q, %r = generic ins(%m, %s) outs(write from %s, add) { t0 = add in0, in1; yield t0, in0 }
"""

from __future__ import annotations

from collections.abc import Sequence

from fusejit.dataclass import replace
from fusejit.ir.affine import AffineExpr
from fusejit.ir.ops import GenericOp, Init, Operand
from fusejit.ir.payload import PayloadBuilder
from fusejit.ir.types import IteratorType, TensorType


def writes_every_element(init: Init, domain: Sequence[AffineExpr], type_: TensorType) -> bool:
    """Whether a plain write through ``init`` fills a result of type ``type_``, each element once.

    The map is a permutation and each axis has the extent of its dim: ``(d0) -> (d0)`` over a domain
    of ``s0 - 1`` leaves the last element of ``s0`` unwritten. Axes of length 1 may be at 0.
    """
    return init.map.is_padded_permutation and _has_extents_of_its_dims(init, domain, type_)


def reaches_every_element(op: GenericOp, number: int) -> bool:
    """Whether each element of result ``number`` is written or merged by some point of the domain.

    ``(d0, d1) -> (2 * d0)`` leaves out every other element, which stays as it was at the start.
    """
    init = op.inits[number]
    moving = [r for r in init.map.results if r.as_constant() != 0]
    dims = [r.as_dim() for r in moving]
    if None in dims or len({*dims}) < len(dims):
        return False
    return _has_extents_of_its_dims(init, op.domain, op.results[number].type)


def _has_extents_of_its_dims(init: Init, domain: Sequence[AffineExpr], type_: TensorType) -> bool:
    one = AffineExpr.const(1)
    dims = [r.as_dim() for r in init.map.results]
    return all(
        extent == (one if d is None else domain[d])
        for d, extent in zip(dims, type_.extents, strict=True)
    )


def is_overwritten(op: GenericOp, number: int) -> bool:
    """Whether every element of result ``number`` is written, whatever it starts from."""
    init = op.inits[number]
    if init.combiner is not None or op.payload.reads_init(number):
        return False
    return writes_every_element(init, op.domain, op.results[number].type)


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
    builder = PayloadBuilder([o.value.type.dtype for o in inputs], payload.inits)
    arguments = [
        *range(payload.num_inputs),
        *(
            payload.num_inputs + read.index(k) if k in read else len(inputs) + k
            for k in range(len(op.inits))
        ),
    ]
    results = builder.inline(payload, arguments)
    return replace(op, inputs=inputs, payload=builder.finish(results))
