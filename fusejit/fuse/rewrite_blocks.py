"""Rewriting without touching the input: what changes is rebuilt, the rest is shared.

A pass never assigns to an op of its input graph. It makes new ops that define the *same* values, so
nothing that names a value has to know, and hands back the same object when nothing changed.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping

from fusejit.dataclass import replace
from fusejit.ir.graph import Graph
from fusejit.ir.ops import (
    Assert,
    Bind,
    Block,
    Cond,
    GenericOp,
    HostCall,
    Init,
    Loop,
    Op,
    Operand,
    ReshapeOp,
    Scatter,
    Store,
    ViewOp,
)
from fusejit.ir.values import Value, View
from fusejit.support.budget import check_budget

BlockRewrite = Callable[[Block, frozenset[Value]], Block]


def rewrite_blocks(graph: Graph, rewrite: BlockRewrite) -> Graph:
    """Rewrite every block, those inside a block before the block itself.

    ``rewrite`` gets a block and the values that leave it (its yields; the results of the graph),
    and returns the same block when nothing changed.
    """
    leaving = frozenset(r for r in graph.results if isinstance(r, Value))
    block = _rewrite_block(graph.block, leaving, rewrite)
    return graph if block is graph.block else replace(graph, block=block)


def _rewrite_block(block: Block, results: frozenset[Value], rewrite: BlockRewrite) -> Block:
    check_budget()
    inner = map_ops(
        block, lambda op: map_blocks(op, lambda b: _rewrite_block(b, frozenset(), rewrite))
    )
    return rewrite(inner, results | frozenset(block.yields))


def rewrite_ops(graph: Graph, rewrite: Callable[[Op], Op]) -> Graph:
    """Replace each op of each block by ``rewrite(op)``, which defines the same values."""
    return rewrite_blocks(graph, lambda block, _: map_ops(block, rewrite))


def rewrite_generics(graph: Graph, rewrite: Callable[[GenericOp], GenericOp]) -> Graph:
    """Replace each generic op that calls no routine by ``rewrite(op)``, as `rewrite_ops` does."""

    def rewritten(op: Op) -> Op:
        return op if not isinstance(op, GenericOp) or op.library_call is not None else rewrite(op)

    return rewrite_ops(graph, rewritten)


def expand_ops(graph: Graph, parts: Callable[[Op], Iterable[Op]]) -> Graph:
    """Replace each op of each block by several ops, or by none; one stays that is its only part."""

    def rewrite(block: Block, _: frozenset[Value]) -> Block:
        ops = [part for op in block.ops for part in parts(op)]
        return block if all_same(ops, block.ops) else replace(block, ops=ops)

    return rewrite_blocks(graph, rewrite)


def map_ops(block: Block, rewrite: Callable[[Op], Op]) -> Block:
    """The block with ``rewrite(op)`` for each of its own ops; the same object if all are."""
    ops = [rewrite(op) for op in block.ops]
    return block if all_same(ops, block.ops) else replace(block, ops=ops)


def map_blocks(op: Op, rewrite: Callable[[Block], Block]) -> Op:
    """The op with ``rewrite(block)`` for each block it owns; the same object if all are."""
    if not op.blocks:
        return op
    blocks = tuple(rewrite(b) for b in op.blocks)
    if all_same(blocks, op.blocks):
        return op
    if isinstance(op, Loop):
        condition = None if op.condition is None else blocks[0]
        return replace(op, condition=condition, body=blocks[-1])
    if isinstance(op, Cond):
        return replace(op, then_block=blocks[0], else_block=blocks[1])
    raise TypeError(f"{type(op).__name__} owns no blocks")


def substitute_values(graph: Graph, values: Mapping[Value, Value]) -> Graph:
    """The graph in which each key of ``values`` is read from the value it maps to."""
    if not values:
        return graph
    block = substitute_in_block(graph.block, values)
    results: tuple[Value | View, ...] = tuple(
        _resolve(r, values) if isinstance(r, Value) else r for r in graph.results
    )
    if block is graph.block and all_same(results, graph.results):
        return graph
    return replace(graph, block=block, results=results)


def substitute_in_block(block: Block, values: Mapping[Value, Value]) -> Block:
    inner = map_ops(block, lambda op: substitute_in_op(op, values))
    yields = tuple(_resolve(v, values) for v in block.yields)
    return inner if all_same(yields, block.yields) else replace(inner, yields=yields)


def substitute_in_op(op: Op, values: Mapping[Value, Value]) -> Op:
    op = map_blocks(op, lambda b: substitute_in_block(b, values))
    if not any(v in values for v in op.operand_values):
        return op

    def new(value: Value) -> Value:
        return _resolve(value, values)

    match op:
        case GenericOp():
            inputs = tuple(Operand(new(o.value), o.map) for o in op.inputs)
            inits = tuple(
                i if i.start is None else Init(i.map, i.combiner, new(i.start)) for i in op.inits
            )
            return replace(op, inputs=inputs, inits=inits)
        case ViewOp() | ReshapeOp():
            return replace(op, source=new(op.source))
        case Scatter():
            subscripts = tuple(
                Operand(new(s.value), s.map) if isinstance(s, Operand) else s for s in op.subscripts
            )
            return replace(op, value=new(op.value), subscripts=subscripts)
        case Assert():
            shown = op.shown
            if shown is not None and isinstance(shown.index, Value):
                shown = replace(shown, index=new(shown.index))
            integer = None if op.integer is None else new(op.integer)
            return replace(op, condition=new(op.condition), shown=shown, integer=integer)
        case Store():
            mask = None if op.mask is None else new(op.mask)
            return replace(op, value=new(op.value), mask=mask)
        case Loop():
            return replace(op, carried=tuple(map(new, op.carried)))
        case Cond():
            return replace(op, predicate=new(op.predicate))
        case Bind():
            return replace(op, value=new(op.value))
        case HostCall():
            return replace(op, arguments=tuple(map(new, op.arguments)))
    raise TypeError(f"{type(op).__name__} reads values that substitute_values does not know")


def _resolve(value: Value, values: Mapping[Value, Value]) -> Value:
    while value in values:
        value = values[value]
    return value


def all_same(new: list[Op] | tuple[object, ...], old: list[Op] | tuple[object, ...]) -> bool:
    """Whether these are the same objects in the same order."""
    return len(new) == len(old) and all(map(operator.is_, new, old))


# ------------------------------------------------------------------------------ asking the graph
def definitions(block: Block) -> dict[Value, Op]:
    """The op that defines each value, those of the blocks inside included."""
    table: dict[Value, Op] = {}
    for op in block.ops:
        for value in op.results:
            table[value] = op
        for inner in op.blocks:
            table.update(definitions(inner))
    return table


def used_values(op: Op) -> tuple[Value, ...]:
    """The values an op reads, those its blocks read or yield included."""
    if not op.blocks:
        return op.operand_values
    values = list(op.operand_values)
    for block in op.blocks:
        for inner in block.ops:
            values.extend(used_values(inner))
        values.extend(block.yields)
    return tuple(dict.fromkeys(values))
