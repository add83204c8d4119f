"""Common subexpressions: of two equal pure ops in one block the first serves both.

Values that are handed out stay apart: ``return a + b, a + b`` gives two arrays.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping

from fusejit.dataclass import replace
from fusejit.fuse.rewrite_blocks import rewrite_blocks, rewrite_ops, substitute_values, used_values
from fusejit.ir.graph import Graph
from fusejit.ir.ops import Block, ConstantOp, GenericOp, Load, Op, Origin, ReshapeOp, ViewOp
from fusejit.ir.values import Value


def eliminate_common_subexpressions(graph: Graph) -> Graph:
    """Read equal values from the first op that computes them; the others become dead.

    Ops are equal if they have the same operands and attributes and their results the same types,
    kinds and axis orders. Two loads are equal if they see the same version of their memory.
    """
    equal: dict[Value, Value] = {}
    absorbed: dict[Value, list[Origin]] = {}  # by the value that serves both
    used = {value for op in graph.block.ops for value in used_values(op)}.union(graph.results)

    def resolved(value: Value | None) -> Value | None:
        return value if value is None else equal.get(value, value)

    def key(op: Op) -> Hashable:
        form = tuple((r.type, r.kind, r.order) for r in op.results)
        match op:
            case GenericOp():
                inputs = tuple((resolved(o.value), o.map) for o in op.inputs)
                inits = tuple((i.map, i.combiner, resolved(i.start)) for i in op.inits)
                instrs = tuple(i.key() for i in op.payload.instrs)
                payload = (op.payload.arguments, instrs, op.payload.results)
                how = (op.library_call, op.is_materialized, op.is_unfused, op.register_tile)
                return ("generic", op.domain, op.iterators, inputs, inits, payload, how, form)
            case ViewOp():
                return ("view", resolved(op.source), op.map, form)
            case ReshapeOp():
                return ("reshape", resolved(op.source), op.reassociation, form)
            case ConstantOp():
                return ("constant", type(op.number), repr(op.number), form)
            case Load():
                return ("load", op.view, op.version, form)
        return None

    def collect(block: Block, leaving: frozenset[Value]) -> Block:
        handed_out = _with_viewed(block, leaving)
        first: dict[Hashable, Op] = {}
        for op in block.ops:
            op_key = key(op)
            if op_key is None:
                continue
            other = first.setdefault(op_key, op)
            if other is op:
                continue
            if not handed_out.isdisjoint(op.results):
                if not handed_out.isdisjoint(other.results):
                    continue
                handed_out.update(other.results)
            equal.update(zip(op.results, other.results, strict=True))
            if isinstance(op, GenericOp) and not used.isdisjoint(op.results):  # not dead
                absorbed.setdefault(other.results[-1], []).extend(op.origins)
        return block

    rewrite_blocks(graph, collect)
    return rewrite_ops(substitute_values(graph, equal), lambda op: _with_origins(op, absorbed))


def _with_origins(op: Op, absorbed: Mapping[Value, list[Origin]]) -> Op:
    """The op, which now computes other lines too."""
    if not isinstance(op, GenericOp) or op.results[-1] not in absorbed:
        return op
    origins = Origin.each_once([*op.absorbed, *absorbed[op.results[-1]]])
    return op if origins == op.absorbed else replace(op, absorbed=origins)


def _with_viewed(block: Block, leaving: frozenset[Value]) -> set[Value]:
    """The values that leave the block, and those whose memory a view that leaves shows."""
    handed_out = set(leaving)
    for op in reversed(block.ops):
        if isinstance(op, ViewOp | ReshapeOp) and op.results[0] in handed_out:
            handed_out.add(op.source)
    return handed_out
