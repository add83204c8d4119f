"""Blocks that the launcher runs: those in which host calls stand between kernels.

A loop or conditional that holds a host call cannot be one kernel. The launcher runs it: its blocks
are again kernels, library calls and host calls in program order, compiled once; what is carried
lies in arrays of the launcher. Integers that such a block binds are the launcher's own as well.
"""

from __future__ import annotations

from collections.abc import Iterator

from fusejit.ir.graph import Graph
from fusejit.ir.host_calls import is_host_call
from fusejit.ir.ops import Bind, Block, Cond, GenericOp, HostCall, Loop, Op, walk
from fusejit.ir.values import View


def runs_on_host(op: Op) -> bool:
    """Whether it is a loop or conditional of the launcher: a host call is somewhere inside."""
    if not isinstance(op, Loop | Cond):
        return False
    return any(is_host_call(inner) for block in op.blocks for inner in walk(block))


def host_blocks(graph: Graph) -> Iterator[Block]:
    """The blocks whose steps the launcher makes, outer ones first."""
    return _host_blocks(graph.block)


def _host_blocks(block: Block) -> Iterator[Block]:
    yield block
    for op in block.ops:
        if runs_on_host(op):
            for inner in op.blocks:
                yield from _host_blocks(inner)


def launcher_binds(graph: Graph) -> frozenset[Op]:
    """The binds whose integers the launcher knows: after them it goes on with another kernel.

    Those of blocks in which it stops anyhow, and those that sizes of results depend on.
    """
    found: set[Op] = set()
    for block in host_blocks(graph):
        binds = [op for op in block.ops if isinstance(op, Bind) and not op.is_local]
        stops = block is not graph.block or any(map(_is_step_of_its_own, block.ops))
        if stops or not result_symbols(graph).isdisjoint(op.symbol for op in binds):
            found.update(binds)
    return frozenset(found)


def _is_step_of_its_own(op: Op) -> bool:
    if isinstance(op, GenericOp):
        return op.library_call is not None
    return is_host_call(op) or runs_on_host(op)


def result_symbols(graph: Graph) -> frozenset[str]:
    """The symbols that sizes of results (and the places of views) depend on."""
    exprs = [e for r in graph.results for e in r.type.extents]
    exprs += [e for r in graph.results if isinstance(r, View) for e in r.map.results]
    return frozenset().union(*(e.symbols() for e in exprs))


def launcher_symbols(graph: Graph) -> list[str]:
    """All symbols that the launcher learns on its way, in program order.

    Sizes of results of host calls, bound integers, and induction variables of its loops.
    """
    binds = launcher_binds(graph)
    found: list[str] = []
    for block in host_blocks(graph):
        for op in block.ops:
            if isinstance(op, HostCall):
                found += op.sizes
            elif isinstance(op, Bind) and op in binds:
                found.append(op.symbol)
            elif isinstance(op, Loop) and op.induction is not None and runs_on_host(op):
                found.append(op.induction)
    return found
