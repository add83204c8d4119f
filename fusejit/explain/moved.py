"""Bytes that the ops of a graph read and write, before and after fusion."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence

from fusejit.ir.affine import AffineExpr
from fusejit.ir.execution_plan import Group
from fusejit.ir.graph import Graph
from fusejit.ir.ops import Block, GenericOp, Loop, Op, Scatter, Store, ViewOp
from fusejit.ir.values import Value


def moved_bytes(
    graph: Graph,
    symbols: Mapping[str, int],
    straight: Collection[Value],
    groups: Sequence[Group] = (),
) -> int:
    """Bytes that the ops of a graph read and write, each operand counted once per op.

    A view moves nothing; an operand read through a view counts as many elements as the op reads.
    What the ops of a group read alike counts once, and what stays in tiles not at all. The
    ``straight`` values are written where a store takes them, and not read again. What stands in a
    counted loop of the program counts in each iteration, if their number is known here; of `while`
    loops and of both branches of conditionals it counts once.
    """
    total = 0
    local = {value for group in groups for value in group.local}
    seen_by: dict[Op, set[tuple[Value, object]]] = {}
    for group in groups:
        shared: set[tuple[Value, object]] = set()
        seen_by.update(dict.fromkeys(group.ops, shared))
    for op, times in repeated(graph.block, symbols):
        once = total
        if isinstance(op, ViewOp) and op.source in local:
            local.update(op.results)
        if isinstance(op, GenericOp):
            seen = seen_by.get(op, set())
            gathered = op.payload.gathered()
            for at, operand in enumerate(op.inputs):
                if (operand.value, operand.map) in seen or operand.value in local:
                    continue
                seen.add((operand.value, operand.map))
                dims = operand.map.dims()
                extents = [e for d, e in enumerate(op.domain) if d in dims or at in gathered]
                total += points_of(extents, symbols) * operand.value.type.dtype.itemsize
            total += sum(
                points_of(r.type.extents, symbols) * r.type.dtype.itemsize
                for r in op.results
                if r not in local and r not in straight
            )
        elif isinstance(op, Scatter):
            points = points_of(op.value.type.extents, symbols)
            read = [v for v in op.operand_values if v not in straight]
            total += points * op.value.type.dtype.itemsize * (1 if op.combine is None else 2)
            total += sum(points_of(v.type.extents, symbols) * v.type.dtype.itemsize for v in read)
        elif isinstance(op, Store):
            itemsize = op.view.buffer.type.dtype.itemsize
            size = points_of(op.view.extents, symbols) * itemsize
            total += size if op.value in straight else 2 * size
        total = once + times * (total - once)
    return total


def repeated(block: Block, symbols: Mapping[str, int], times: int = 1) -> Iterator[tuple[Op, int]]:
    """The ops of a block and of those inside, with the number of iterations they run in."""
    for op in block.ops:
        yield op, times
        trips = iterations(op, symbols) if isinstance(op, Loop) else None
        for inner in op.blocks:
            yield from repeated(inner, symbols, times * (1 if trips is None else trips))


def iterations(loop: Loop, symbols: Mapping[str, int]) -> int | None:
    """The number of iterations of a loop; None if it is not known before it runs."""
    if loop.lower is None or loop.upper is None:
        return None
    try:
        distance = int((loop.upper - loop.lower).evaluate((), symbols))
    except KeyError:
        return None
    return max(0, -(-distance // loop.step))


def points_of(extents: Sequence[AffineExpr], symbols: Mapping[str, int]) -> int:
    """The product of the extents."""
    return math.prod(size_of(extent, symbols) for extent in extents)


def size_of(extent: AffineExpr, symbols: Mapping[str, int]) -> int:
    """An extent in numbers; one that depends on a loop variable counts once."""
    try:
        return int(extent.evaluate((), symbols))
    except KeyError:
        return 1


def size_text(num_bytes: int) -> str:
    """``1.92 MB``."""
    size = float(num_bytes)
    for unit in ("B", "kB", "MB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} GB"
