"""Stale loads: those that are read after a store to the memory they have read.

A `Load` is a snapshot: its value never changes. While no store to its alias class has run, reading
the buffer gives the snapshot for nothing; a load that is read later than that is *stale* there, and
codegen has to copy it at the place where it stands. No pass makes a fresh load stale, and none
moves a store, so the versions of `fusejit.ir.memory_versions` stay right.
"""

from __future__ import annotations

from collections.abc import Mapping

from fusejit.dataclass import replace
from fusejit.fuse.rewrite_blocks import definitions, expand_ops, rewrite_ops
from fusejit.ir.graph import Graph
from fusejit.ir.memory_versions import versions, walk_versions
from fusejit.ir.ops import Load, Op, ReshapeOp, Store, ViewOp, Write, walk
from fusejit.ir.values import Value


def source_load(value: Value, defined: Mapping[Value, Op]) -> Load | None:
    """The load whose memory is read when ``value`` is, through views of it; None for the rest."""
    op = defined.get(value)
    while isinstance(op, ViewOp | ReshapeOp):
        op = defined.get(op.source)
    return op if isinstance(op, Load) else None


def read_classes(op: Op, defined: Mapping[Value, Op]) -> tuple[int, ...]:
    """The alias classes whose memory an op reads through loads, in the order of its operands."""
    loads = (source_load(v, defined) for v in op.operand_values)
    return tuple(dict.fromkeys(ld.view.buffer.alias_class for ld in loads if ld is not None))


def stale_reads(graph: Graph) -> frozenset[tuple[Op, Value]]:
    """The operands that are stale loads or views of them, each with the op that reads it."""
    defined = definitions(graph.block)
    stale: set[tuple[Op, Value]] = set()
    for op, counters in walk_versions(graph.block):
        for value in op.operand_values:
            load = source_load(value, defined)
            if load is None or isinstance(op, ViewOp | ReshapeOp):
                continue
            alias_class = load.view.buffer.alias_class
            version = counters.get(alias_class, 0)
            if isinstance(op, Write) and op.view.buffer.alias_class == alias_class:
                version -= 1  # it reads its value before it writes
            if version != load.version:
                stale.add((op, value))
    return frozenset(stale)


def stale_loads(graph: Graph) -> frozenset[Value]:
    """The loaded values that stand for a copy: stale somewhere, handed out, yielded or carried."""
    defined = definitions(graph.block)
    values = [value for _, value in stale_reads(graph)]
    values += [r for r in graph.results if isinstance(r, Value)]
    values += graph.block.yields
    for op in walk(graph.block):
        if op.blocks:
            values += op.operand_values
            values += [v for block in op.blocks for v in block.yields]
    loads = [source_load(value, defined) for value in values]
    return frozenset(v for load in loads if load is not None for v in load.results)


def drop_idle_stores(graph: Graph) -> Graph:
    """Drop stores of what is there already.

    ``u[1:] -= v`` is a store, and then Python assigns what it has just stored to ``u[1:]`` again::

        store @u v1 [(d0) -> (d0 + 1)] (s0 - 1) = %d
        %t = load @u v1 [(d0) -> (d0 + 1)] : (s0 - 1) x f64
        store @u v2 [(d0) -> (d0 + 1)] (s0 - 1) = %t            # dropped
    """
    defined = definitions(graph.block)

    def is_idle(op: Op) -> bool:
        if not isinstance(op, Store):
            return False
        load = defined.get(op.value)
        return isinstance(load, Load) and load.view == op.view and load.version == op.version - 1

    rewritten = expand_ops(graph, lambda op: () if is_idle(op) else (op,))
    return graph if rewritten is graph else with_versions(rewritten)


def with_versions(graph: Graph) -> Graph:
    """With the versions of memory that follow from the stores there are now."""
    wanted = versions(graph.block)

    def renumbered(op: Op) -> Op:
        if isinstance(op, Load | Write) and wanted[op] != op.version:
            return replace(op, version=wanted[op])
        return op

    return rewrite_ops(graph, renumbered)
