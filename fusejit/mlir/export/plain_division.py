"""Quotients, remainders and shifts by constants, in the operations that MLIR defines for these.

MLIR leaves open a division by 0, one of the lowest number by -1, and shifts by more bits than there
are. NumPy has numbers for all::

    x // 0   0                x % 0    0              x << 99   0
    x // -1  0 - x            x % -1   0              x >> 99   x >> 63, or 0
"""

from __future__ import annotations

import numpy as np

from fusejit.dataclass import replace
from fusejit.ir.graph import Graph
from fusejit.ir.ops import Block, GenericOp, Op
from fusejit.ir.payload import Instr, Payload, PayloadBuilder
from fusejit.ir.scalar_ops.scalar_op_table import SCALAR_OPS

_DIVISIONS = {name for name, row in SCALAR_OPS.items() if row.mlir_defines is not None}


def with_plain_division(graph: Graph) -> Graph:
    """The graph with divisions that MLIR defines, by constants; others stay as they are."""
    ops = list(map(_plain, graph.block.ops))
    if all(a is b for a, b in zip(ops, graph.block.ops, strict=True)):
        return graph
    block: Block = replace(graph.block, ops=ops)
    return replace(graph, block=block)


def _plain(op: Op) -> Op:
    if not isinstance(op, GenericOp) or _DIVISIONS.isdisjoint(i.op for i in op.payload.instrs):
        return op
    payload = op.payload
    builder = PayloadBuilder(payload.arguments[: payload.num_inputs], payload.inits)
    refs = list(range(payload.num_arguments))
    for instr in payload.instrs:
        operands = tuple(refs[o] for o in instr.operands)
        number = _divisor(payload, instr)
        if number is None:
            refs.append(builder.add(replace(instr, operands=operands)))
        else:
            refs.append(_divided(builder, instr.op, operands, number, instr.dtype))
    return replace(op, payload=builder.finish([refs[r] for r in payload.results]))


def _divisor(payload: Payload, instr: Instr) -> int | None:
    """The constant that an instruction divides integers or shifts by; None if it does neither."""
    if instr.op not in _DIVISIONS or instr.dtype.kind not in "iu":
        return None
    return payload.constant_of(instr.operands[1])


def _divided(
    builder: PayloadBuilder, name: str, operands: tuple[int, ...], number: int, dtype: np.dtype
) -> int:
    """The ref of an op by a constant."""
    x = operands[0]
    defines = SCALAR_OPS[name].mlir_defines
    assert defines is not None
    if not defines(number, dtype):
        if name == "right_shift" and dtype.kind == "i":
            return builder.op(name, (x, builder.const(8 * dtype.itemsize - 1, dtype)), dtype)
        zero = builder.const(0, dtype)
        is_negated = name == "floor_divide" and number == -1
        return builder.op("subtract", (zero, x), dtype) if is_negated else zero
    return builder.op(name, operands, dtype)
