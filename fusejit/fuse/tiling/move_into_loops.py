"""`moved_into_loops`: what a tile reads of a producer, computed inside the loops around the tile.

The producer writes each element of its result once, so that a slice of the result tells the part of
the domain. Source: MLIR's ``fuse_into_containing_op``.
"""

from __future__ import annotations

from collections.abc import Mapping

from fusejit.dataclass import dataclass, replace
from fusejit.fuse.canonical.dead import eliminate_dead_ops
from fusejit.fuse.canonical.stale_loads import with_versions
from fusejit.fuse.tiling.illegal import illegal
from fusejit.fuse.tiling.rules import enclosing, replaced
from fusejit.fuse.tiling.slices import on_slices, why_not_sliceable
from fusejit.ir.affine import AffineExpr, Dim
from fusejit.ir.graph import Graph
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.ops import Bind, GenericOp, Loop, Op, ViewOp, walk
from fusejit.ir.types import IteratorType, TensorType
from fusejit.ir.values import Value


@dataclass(slots=True)
class FusionResult:
    """A graph in which a producer was moved, and the loops that compute it again."""

    graph: Graph
    recomputed: list[str]
    is_duplicated: bool
    slices: list[Value]


def moved_into_loops(
    graph: Graph, consumer: GenericOp, producer: GenericOp, step: str
) -> FusionResult:
    """Move a producer into the loops around a consumer.

    Raises
    ------
    ScheduleError
        If no loop is around the consumer, nothing there reads a slice of the producer, or slices of
        the producer cannot be computed alone.
    """
    loops, block = enclosing(graph, consumer)
    if not loops:
        raise illegal(step, consumer.name, "no loop is around it", ["tile(..) first"])
    recomputed: set[str] = set()
    sources = {op.results[0]: op for op in walk(graph.block) if isinstance(op, ViewOp)}
    views = [(op, v) for op in block.ops if (v := _view_of(op, producer, sources))]
    if not views:
        why = f"nothing in the loop around it reads a slice of {producer.name}"
        raise illegal(step, consumer.name, why)
    slices: list[Value] = []
    for together in _nested(views):
        whole = _around([view for _, view in together])
        used = whole.map.symbols()
        recomputed |= {loop.induction or "" for loop in loops if not used & _symbols_of(loop)}
        ops = _producer_of(whole, producer, step)
        slices += [op.results[0] for op in ops if isinstance(op, GenericOp)]
        for old, view in together:
            graph = replaced(graph, old, [*ops, *_part_of(whole, view)])
            ops = []
    graph = eliminate_dead_ops(graph)
    is_duplicated = producer in walk(graph.block)
    return FusionResult(with_versions(graph), sorted(recomputed), is_duplicated, slices)


def _nested(views: list[tuple[Op, ViewOp]]) -> list[list[tuple[Op, ViewOp]]]:
    """The views in groups that begin at one place, and whose extents differ by constants.

    Each is part of the largest, or nearly so: what they read is computed once.
    """
    groups: list[list[tuple[Op, ViewOp]]] = []
    for old, view in views:
        for group in groups:
            first = group[0][1]
            pairs = zip(_extents(first), _extents(view), strict=True)
            if first.map == view.map and all((a - b).is_constant for a, b in pairs):
                group.append((old, view))
                break
        else:
            groups.append([(old, view)])
    return groups


def _around(views: list[ViewOp]) -> ViewOp:
    """The view of all that views read which begin at one place."""
    extents = _extents(views[0])
    for view in views[1:]:
        pairs = zip(extents, _extents(view), strict=True)
        extents = tuple(a if (a - b).constant >= 0 else b for a, b in pairs)
    for view in views:
        if _extents(view) == extents:
            return view
    part = views[0].results[0]
    whole = Value(f"{part.name}_whole", TensorType(part.type.dtype, extents), order=part.order)
    return replace(views[0], results=(whole,))


def _part_of(whole: ViewOp, view: ViewOp) -> list[Op]:
    """Ops that take a view from the slice computed for several; none for the whole slice."""
    if view is whole:
        return []
    (source,), rank = whole.results, len(_extents(whole))
    return [replace(view, source=source, map=IndexingMap.identity(rank))]


def _extents(view: ViewOp) -> tuple[AffineExpr, ...]:
    return view.results[0].type.extents


def _symbols_of(loop: Loop) -> set[str]:
    """What changes from one iteration of a loop to the next."""
    return {loop.induction or "", *(op.symbol for op in loop.body.ops if isinstance(op, Bind))}


def _view_of(op: Op, producer: GenericOp, views: Mapping[Value, ViewOp]) -> ViewOp | None:
    """An op as a view of a producer's result, if it is a view of that, or of a view of it."""
    view = op if isinstance(op, ViewOp) else None
    while view is not None and view.source not in producer.results:
        source = views.get(view.source)
        view = source and replace(view, source=source.source, map=source.map.compose(view.map))
    return view


def _producer_of(view: ViewOp, producer: GenericOp, step: str) -> list[Op]:
    """The ops that compute what a view reads."""
    init = producer.inits[producer.results.index(view.source)]
    parallel = sum(i is IteratorType.PARALLEL for i in producer.iterators)
    is_told = init.map.is_projected_permutation and init.map.rank == parallel
    if len(producer.results) > 1 or not is_told:
        why = f"an element of %{view.source.name} does not tell the point of {producer.name}"
        raise illegal(step, producer.name, f"{why}, which writes through {init.map}")
    origin: dict[int, AffineExpr] = {}
    domain = list(producer.domain)
    reads: list[AffineExpr] = []
    for written, read in zip(init.map.results, view.map.results, strict=True):
        dim, axes = written.as_dim(), [*read.dims()]
        assert dim is not None
        if len(axes) > 1 or any(read.coefficient(Dim(axis)) != 1 for axis in axes):
            raise illegal(step, producer.name, f"it is read at {view.map}, which is no slice")
        reads.append(AffineExpr.dim(axes[0]) if axes else AffineExpr.const(0))
        origin[dim] = read - reads[-1]
        domain[dim] = view.results[0].type.extents[axes[0]] if axes else AffineExpr.const(1)
    if why := why_not_sliceable(producer, {*origin}):
        raise illegal(step, producer.name, why)
    inner, ops = on_slices(producer, origin, domain, False)
    rank = view.results[0].type.rank
    if reads == [AffineExpr.dim(k) for k in range(rank)]:
        return [*ops, replace(inner, results=view.results)]
    again = replace(view, source=inner.results[0], map=IndexingMap(rank, tuple(reads)))
    return [*ops, inner, again]
