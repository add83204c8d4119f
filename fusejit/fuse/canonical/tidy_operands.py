"""Operands of a generic op: equal ones merged, dead ones dropped, results cut.

Before and after `tidy`::

    generic ins(%a [(d0) -> (d0)], %b [(d0) -> (d0)], %a [(d0) -> (d0)]) { yield in0 * in2 }
    generic ins(%a [(d0) -> (d0)]) { yield in0 * in0 }
"""

from __future__ import annotations

from collections.abc import Sequence

from fusejit.dataclass import replace
from fusejit.ir.ops import GenericOp, Operand
from fusejit.ir.payload import PayloadBuilder
from fusejit.ir.values import Value


def merge_operands(operands: Sequence[Operand]) -> tuple[tuple[Operand, ...], list[int]]:
    """Each operand once, in order of appearance, and where each of the old ones is now."""
    place: dict[Operand, int] = {}
    for operand in operands:
        place.setdefault(operand, len(place))
    return tuple(place), [place[o] for o in operands]


def tidy(op: GenericOp) -> GenericOp:
    """Merge inputs with equal value and map, and drop those the payload does not read."""
    payload = op.payload
    used = payload.used_arguments()
    live = [i for i in range(payload.num_inputs) if i in used]
    inputs, place = merge_operands([op.inputs[i] for i in live])
    if len(inputs) == payload.num_inputs or op.library_call is not None:
        return op
    builder = PayloadBuilder([o.value.type.dtype for o in inputs], payload.inits)
    new_input = dict(zip(live, place, strict=True))
    arguments: list[int | None] = [new_input.get(k) for k in range(payload.num_inputs)]
    arguments += range(len(inputs), len(inputs) + len(op.inits))
    results = builder.inline(payload, arguments)
    return replace(op, inputs=inputs, payload=builder.finish(results))


def keep_results(op: GenericOp, live: frozenset[Value]) -> GenericOp:
    """The op without the results that are not in ``live``; one whose init is read stays."""
    payload = op.payload
    kept = [i for i, r in enumerate(op.results) if r in live or payload.reads_init(i)]
    if len(kept) == len(op.results) or not kept or op.library_call is not None:
        return op
    num_inputs = payload.num_inputs
    builder = PayloadBuilder(payload.arguments[:num_inputs], [payload.inits[i] for i in kept])
    place = {old: num_inputs + new for new, old in enumerate(kept)}
    arguments: list[int | None] = [*range(num_inputs), *map(place.get, range(len(op.inits)))]
    results = builder.inline(payload, arguments)
    return tidy(
        replace(
            op,
            results=tuple(op.results[i] for i in kept),
            inits=tuple(op.inits[i] for i in kept),
            payload=builder.finish([results[i] for i in kept]),
        )
    )
