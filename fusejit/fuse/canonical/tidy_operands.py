"""Operands of a generic op: equal ones merged, dead ones dropped, results cut.

Before and after `tidy`::

    generic ins(%a [(d0) -> (d0)], %b [(d0) -> (d0)], %a [(d0) -> (d0)]) { yield in0 * in2 }
    generic ins(%a [(d0) -> (d0)]) { yield in0 * in0 }
"""

from __future__ import annotations

from collections.abc import Sequence

from fusejit.dataclass import replace
from fusejit.ir.ops import GenericOp, Operand
from fusejit.ir.payload import Instr, Payload, PayloadBuilder
from fusejit.ir.values import Value


def gathered_inputs(payload: Payload) -> frozenset[int]:
    """The inputs that the payload reads by computed subscripts."""
    return frozenset(i.attr for i in payload.instrs if i.op == "extract")


def merge_operands(operands: Sequence[Operand]) -> tuple[tuple[Operand, ...], list[int]]:
    """Each operand once, in order of appearance, and where each of the old ones is now."""
    place: dict[Operand, int] = {}
    for operand in operands:
        place.setdefault(operand, len(place))
    return tuple(place), [place[o] for o in operands]


def renumber_extract(instr: Instr, new_input: Sequence[int]) -> Instr:
    """The instruction, with the input of an ``extract`` renumbered."""
    return replace(instr, attr=new_input[instr.attr]) if instr.op == "extract" else instr


def tidy(op: GenericOp) -> GenericOp:
    """Merge inputs with equal value and map, and drop those the payload does not read."""
    payload = op.payload
    used = payload.used_arguments()
    live = [i for i in range(payload.num_inputs) if i in used]
    inputs, place = merge_operands([op.inputs[i] for i in live])
    if len(inputs) == payload.num_inputs or op.library_call is not None:
        return op
    new_input = [-1] * payload.num_inputs
    for old, new in zip(live, place, strict=True):
        new_input[old] = new
    inits = payload.arguments[payload.num_inputs :]
    builder = PayloadBuilder([o.value.type.dtype for o in inputs], inits)
    arguments: list[int | None] = [i if i >= 0 else None for i in new_input]
    arguments += range(len(inputs), len(inputs) + len(inits))
    results = builder.inline(payload, arguments, lambda i: renumber_extract(i, new_input))
    return replace(op, inputs=inputs, payload=builder.finish(results))


def keep_results(op: GenericOp, live: frozenset[Value]) -> GenericOp:
    """The op without the results that are not in ``live``; one whose init is read stays."""
    payload = op.payload
    kept = [i for i, r in enumerate(op.results) if r in live or payload.reads_init(i)]
    if len(kept) == len(op.results) or not kept or op.library_call is not None:
        return op
    num_inputs = payload.num_inputs
    inits = payload.arguments[num_inputs:]
    builder = PayloadBuilder(payload.arguments[:num_inputs], [inits[i] for i in kept])
    place = {old: num_inputs + new for new, old in enumerate(kept)}
    arguments: list[int | None] = [*range(num_inputs), *(place.get(i) for i in range(len(inits)))]
    results = builder.inline(payload, arguments)
    return tidy(
        replace(
            op,
            results=tuple(op.results[i] for i in kept),
            inits=tuple(op.inits[i] for i in kept),
            payload=builder.finish([results[i] for i in kept]),
        )
    )
