"""Facts of maps that decide whether a step is legal; the primitives share them.

A dim of an op is *parallel* if every result holds it as a plain subscript, and *reduced* if no
result holds it. The order in which a result combines its terms shows in its bits only for some
combiners and dtypes (`fusejit.ir.scalar_ops.combiners`).
"""

from __future__ import annotations

from collections.abc import Sequence

from fusejit.fuse.new_names import unused
from fusejit.fuse.rewrite_blocks import expand_ops
from fusejit.fuse.tiling.illegal import illegal
from fusejit.ir.affine import AffineExpr
from fusejit.ir.analysis.ordered import is_ordered
from fusejit.ir.graph import Graph
from fusejit.ir.ops import Alloc, Block, GenericOp, Loop, Op, base_name, walk
from fusejit.ir.types import IteratorType


def is_parallel(op: GenericOp, dim: int) -> bool:
    """Whether each result has elements of its own for each index of a dim."""
    if op.iterators[dim] is not IteratorType.PARALLEL:
        return False
    return all(
        sum(r.as_dim() == dim for r in init.map.results) == 1
        and sum(dim in r.dims() for r in init.map.results) == 1
        for init in op.inits
    )


def is_reduced(op: GenericOp, dim: int) -> bool:
    """Whether no result depends on a dim, along which terms are combined."""
    return op.iterators[dim] is IteratorType.REDUCTION and all(
        dim not in init.map.dims() and init.combiner is not None for init in op.inits
    )


def is_carried(op: GenericOp, dim: int) -> bool:
    """Whether results without this dim are carried along it, from one term to the next."""
    return op.iterators[dim] is IteratorType.SEQUENTIAL and all(
        not init.map.dims() & {d for d, i in enumerate(op.iterators) if i is op.iterators[dim]}
        and init.start is not None
        for init in op.inits
    )


reassociates = is_ordered
"""Whether another order of the terms may show in the bits of a result."""


def why_no_accumulators(op: GenericOp) -> str:
    """Why the results are not one number each, into which terms are combined, or the empty text."""
    ordered = {d for d, i in enumerate(op.iterators) if i is IteratorType.SEQUENTIAL}
    if ordered and op.reduction_dims:
        return "some dims are in order, and others in any order"
    for number, init in enumerate(op.inits):
        if ordered:
            if init.map.dims() & ordered:
                return "it has a result at each point of a sequential dim"
        elif init.combiner is None:
            return "it has a result that is written at each point"
        elif op.payload.reads_init(number):
            return "a term reads the result so far"
    return ""


def require_loops(op: GenericOp, step: str) -> None:
    """Refuse an op whose dims have a fixed meaning: that of a routine, or of a register tile.

    Raises
    ------
    ScheduleError
        If it calls a routine, or is vectorized.
    """
    if op.library_call is not None:
        why = f"it calls the routine {op.library_call}"
        raise illegal(step, op.name, why, ["generalize() first"])
    if op.register_tile is not None:
        why = "its partial results are in registers"
        raise illegal(step, op.name, why, [f"{step.partition('(')[0]} before vectorize"])


def names_of(graph: Graph) -> set[str]:
    """The names that new ops must not have, if a schedule is to find them."""
    return {base_name(op.name) for op in walk(graph.block) if isinstance(op, GenericOp)}


def rest_of(op: GenericOp, taken: set[str]) -> str:
    """The name of the op that computes what an op leaves: ``exp_rest+1`` for ``exp+1``."""
    base = base_name(op.name)
    return f"{unused(f'{base}_rest', taken)}{op.name[len(base) :]}"


def new_symbol(name: str, taken: set[str]) -> str:
    """An unused name for a symbol: ``i_0_1`` for dim ``i.0``."""
    return unused(name.replace(".", "_"), taken)


def next_alias_class(graph: Graph) -> int:
    """A class for new memory, which overlaps with no other."""
    classes = [b.alias_class for b in graph.buffers]
    classes += [op.buffer.alias_class for op in walk(graph.block) if isinstance(op, Alloc)]
    return max(classes, default=-1) + 1


def replaced(graph: Graph, op: Op, by: Sequence[Op]) -> Graph:
    """The graph with other ops in place of one, in whichever block it stands."""
    return expand_ops(graph, lambda o: by if o is op else [o])


def enclosing(graph: Graph, op: Op) -> tuple[list[Loop], Block]:
    """Return the loops around an op, the outermost one first, and the block in which it stands."""

    def search(block: Block) -> tuple[list[Loop], Block] | None:
        if op in block.ops:
            return [], block
        for outer in block.ops:
            for inner in outer.blocks:
                found = search(inner)
                if found is not None:
                    loops = [outer] if isinstance(outer, Loop) else []
                    return [*loops, *found[0]], found[1]
        return None

    found = search(graph.block)
    assert found is not None, f"{op} is not in the graph"
    return found


def full_extent(extent: AffineExpr, graph: Graph) -> AffineExpr:
    """An extent; the extent of a full tile in place of the length of a tile, if it is known."""
    loops = (op for op in walk(graph.block) if isinstance(op, Loop))
    known = (t for op in loops for t in op.tiles if t.largest.as_constant() is not None)
    return next((t.largest for t in known if t.length == extent.as_symbol()), extent)


def loop_of(graph: Graph, symbol: str) -> Loop:
    """The loop of an induction symbol."""
    return next(op for op in walk(graph.block) if isinstance(op, Loop) and op.induction == symbol)
