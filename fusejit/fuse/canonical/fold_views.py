"""Views disappear into the maps of what reads them.

Before and after `compose_views`::

    %x1 = load @x[(d0) -> (d0 + 1)]          %x = load @x
    %t = view %x1 [(d0) -> (2 * d0)]         %r = generic ins(%x [(d0) -> (2 * d0 + 1)]) { .. }
    %r = generic ins(%t [(d0) -> (d0)]) { .. }
"""

from __future__ import annotations

from collections.abc import Callable

from fusejit.dataclass import replace
from fusejit.fuse.canonical.stale_loads import stale_reads
from fusejit.fuse.canonical.tidy_operands import tidy
from fusejit.fuse.rewrite_blocks import (
    definitions,
    expand_ops,
    rewrite_blocks,
    rewrite_generics,
    rewrite_ops,
    substitute_values,
)
from fusejit.ir.graph import Graph
from fusejit.ir.ops import (
    Alias,
    Alloc,
    Bind,
    Block,
    Effect,
    GenericOp,
    Load,
    Op,
    Operand,
    ViewOp,
    symbols_bound,
)
from fusejit.ir.values import Value, View
from fusejit.ir.verifier.scope_rules import symbols_of


def compose_views(graph: Graph) -> Graph:
    """Compose views of views and of loads, and let generic ops read through what is left.

    A generic op reads whole buffers through its maps, as long as they have not been stored to since
    they were loaded; a load that is stale where it is used keeps its own part, since that part is
    what has to be copied. Library calls, gathered inputs and stores keep the views they are given.
    """
    graph = _drop_identity_views(graph)
    graph = _merge_view_chains(graph)
    graph = _load_viewed_parts(graph)
    graph = _read_through_views(graph)
    return _read_whole_buffers(graph)


def _drop_identity_views(graph: Graph) -> Graph:
    """A view that is all of its source is the source (unless it is handed out as an object)."""
    same: dict[Value, Value] = {}

    def collect(block: Block, leaving: frozenset[Value]) -> Block:
        for op in block.ops:
            if isinstance(op, ViewOp) and op.map.is_identity:
                result = op.results[0]
                alike = (result.type, result.kind) == (op.source.type, op.source.kind)
                if alike and result not in leaving:
                    same[result] = op.source
        return block

    rewrite_blocks(graph, collect)
    return substitute_values(graph, same)


def _merge_view_chains(graph: Graph) -> Graph:
    """``view(view(x, f), g)`` is ``view(x, f . g)``."""
    defined = definitions(graph.block)

    def merge(op: Op) -> Op:
        while isinstance(op, ViewOp) and isinstance(inner := defined.get(op.source), ViewOp):
            op = replace(op, source=inner.source, map=inner.map.compose(op.map))
        return op

    return rewrite_ops(graph, merge)


def _load_viewed_parts(graph: Graph) -> Graph:
    """A view of a load is a load of that part, at the place of the load.

    A part whose place is known only after the load is loaded where the view stands, if nothing was
    stored in between; otherwise it stays a view.
    """

    def rewrite(block: Block, leaving: frozenset[Value]) -> Block:
        loads = {op.results[0]: op for op in block.ops if isinstance(op, Load)}
        parts: dict[Value, list[Op]] = {}
        place = {id(op): at for at, op in enumerate(block.ops)}
        bound = {symbol: at for at, op in enumerate(block.ops) for symbol in symbols_bound(op)}
        late: dict[Value, Op] = {}
        for at, op in enumerate(block.ops):
            if isinstance(op, ViewOp) and (load := loads.get(op.source)) is not None:
                result = op.results[0]
                if result in leaving:
                    continue
                view = View(load.view.buffer, load.view.map.compose(op.map), result.type.extents)
                part = Load(
                    results=op.results, location=op.location, view=view, version=load.version
                )
                start = place[id(load)]
                if any(bound.get(symbol, -1) > start for symbol in symbols_of(op)):
                    if not any(map(_may_store, block.ops[start:at])):
                        late[result] = part
                    continue
                parts.setdefault(op.source, []).append(part)
        if not parts and not late:
            return block
        moved = {v for group in parts.values() for part in group for v in part.results}
        ops: list[Op] = []
        for op in block.ops:
            if isinstance(op, ViewOp) and op.results[0] in moved:
                continue
            ops.append(late.get(op.results[0], op) if op.results else op)
            if isinstance(op, Load):
                ops.extend(parts.get(op.results[0], ()))
        return replace(block, ops=ops)

    return rewrite_blocks(graph, rewrite)


def _may_store(op: Op) -> bool:
    return op.effect is Effect.EFFECT and not isinstance(op, Alloc | Alias | Bind)


def _read_through_views(graph: Graph) -> Graph:
    """An operand that is a view reads the view's source through the composed map."""
    defined = definitions(graph.block)

    def source(operand: Operand, _: GenericOp) -> Operand:
        if isinstance(op := defined.get(operand.value), ViewOp):
            return Operand(op.source, op.map.compose(operand.map))
        return operand

    return rewrite_generics(graph, lambda op: _map_operands(op, source))


def _read_whole_buffers(graph: Graph) -> Graph:
    """An operand that is a fresh load of a part reads the whole buffer through the composed map."""
    stale = stale_reads(graph)
    defined = definitions(graph.block)
    whole: dict[Value, Load] = {}

    def whole_load(operand: Operand, user: GenericOp) -> Operand:
        load = defined.get(operand.value)
        if not isinstance(load, Load) or load.view == View.whole(load.view.buffer):
            return operand
        if (user, operand.value) in stale:
            return operand
        if operand.value not in whole:
            buffer = load.view.buffer
            value = Value(buffer.name, buffer.type, order=buffer.order)
            whole[operand.value] = replace(load, results=(value,), view=View.whole(buffer))
        return Operand(whole[operand.value].results[0], load.view.map.compose(operand.map))

    def with_whole(op: Op) -> list[Op]:
        return [whole[op.results[0]], op] if op.results and op.results[0] in whole else [op]

    graph = rewrite_generics(graph, lambda op: _map_operands(op, whole_load))
    return expand_ops(graph, with_whole) if whole else graph


def _map_operands(op: GenericOp, rewrite: Callable[[Operand, GenericOp], Operand]) -> GenericOp:
    gathered = op.payload.gathered()
    inputs = tuple(
        operand if k in gathered else rewrite(operand, op) for k, operand in enumerate(op.inputs)
    )
    return op if inputs == op.inputs else tidy(replace(op, inputs=inputs))
