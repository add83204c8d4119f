"""`fuse`: compute what a tile reads of a producer inside the loops around the tile.

>>> h = schedule(lambda a: np.exp(a).sum(axis=1), np.ones((3, 4)))["sum"].tile(i=2)
>>> print(h.show())
for i_0 = 0 to (s0 + 1) floordiv 2 step 1 tiles (i_1 max 2 of s0) {
  %i_1 = generic "length" domain () ins () outs (write) { t0 = const 2 : i64; t1 = index (-2 *
      i_0 + s0) : i64; t2 = minimum t0, t1 : i64; yield t2 } : i64 python
  bind i_1 = %i_1 local
  %v1_slice = view %v1 [(d0, d1) -> (d0 + 2 * i_0, d1)] : i_1 x s1 x f64
  %v2_tile = generic "sum" domain (i_1, s1) iterators (parallel, reduction) ins (%v1_slice) outs
      (add [(d0, d1) -> (d0)]) { yield in0 } : i_1 x f64
  store @v2 v2 [(d0) -> (d0 + 2 * i_0)] (i_1) = %v2_tile
}
>>> print(h.fuse("exp").show())
for i_0 = 0 to (s0 + 1) floordiv 2 step 1 tiles (i_1 max 2 of s0) {
  %i_1 = generic "length" domain () ins () outs (write) { t0 = const 2 : i64; t1 = index (-2 *
      i_0 + s0) : i64; t2 = minimum t0, t1 : i64; yield t2 } : i64 python
  bind i_1 = %i_1 local
  %v0_slice = view %v0 [(d0, d1) -> (d0 + 2 * i_0, d1)] : i_1 x s1 x f64
  %v1_slice = generic "exp" domain (i_1, s1) ins (%v0_slice) outs (write) { t0 = exp in0 : f64;
      yield t0 } : i_1 x s1 x f64
  %v2_tile = generic "sum" domain (i_1, s1) iterators (parallel, reduction) ins (%v1_slice) outs
      (add [(d0, d1) -> (d0)]) { yield in0 } : i_1 x f64
  store @v2 v2 [(d0) -> (d0 + 2 * i_0)] (i_1) = %v2_tile
}

Rule: the producer writes each element of its result once, so that a slice of the result tells the
part of the domain. Loops that the slice does not depend on compute it again each time, and so do
slices that overlap; the log has the factor of that. A producer that others read stays where it is
as well. Source: MLIR's ``fuse_into_containing_op``.
"""

from __future__ import annotations

from collections.abc import Mapping

from fusejit.dataclass import dataclass, replace
from fusejit.fuse.canonical.dead import eliminate_dead_ops
from fusejit.ir.affine import AffineExpr, Dim
from fusejit.ir.graph import Graph
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.ops import Bind, GenericOp, Loop, Op, ViewOp, base_name, walk
from fusejit.ir.types import IteratorType, TensorType
from fusejit.ir.values import Value
from fusejit.transform.core.arguments import OpNames, op_names, primitive
from fusejit.transform.core.base import BaseHandle, H, call
from fusejit.transform.core.costs import estimate
from fusejit.transform.core.errors import illegal
from fusejit.transform.core.rules import enclosing, reassociates, replaced, with_versions
from fusejit.transform.core.slices import on_slices, why_not_sliceable


@dataclass(slots=True)
class FusionResult:
    """A graph in which a producer was moved, and the loops that compute it again."""

    graph: Graph
    recomputed: list[str]
    is_duplicated: bool
    slices: list[Value]


MAX_RECOMPUTED = 16
"""How many times as much may be computed without being asked for."""


@primitive
def fuse(handle: H, *producers: OpNames, recompute: bool = False, check: bool = True) -> H:
    """Compute what the loops around the op read of producers inside these loops, in turn.

    Parameters
    ----------
    *producers : str, Handle or list of these
        The producers.
    recompute : bool, optional
        True: a producer may be computed more than `MAX_RECOMPUTED` times as often as before.
    check : bool, optional
        False: do not compare with the op before on small arrays.

    Raises
    ------
    ScheduleError
        If no loop is around the op, nothing there reads a slice of a producer, a producer does not
        write each element once, or too much would be computed again.
    """
    if not producers:
        raise illegal("fuse()", handle.op.name, "no producer is given")
    for producer in op_names(handle, producers):
        handle = _fuse(handle, producer, recompute, check)
    return handle


def _fuse(handle: H, producer: str, recompute: bool, check: bool) -> H:
    step = call("fuse", producer, **({"recompute": True} if recompute else {}))
    moved = handle[producer].op
    fused = moved_into_loops(handle.schedule.graph, handle.op, moved, step)
    what = f"{producer} in the loops around {base_name(handle.op.name)}"
    if fused.recomputed:
        names = {info.symbol: name for name, info in handle.schedule.loops.items()}
        loops = ", ".join(names.get(symbol, symbol) for symbol in fused.recomputed)
        what += f", computed again for each {loops}"
    if fused.is_duplicated:
        what += ", and outside, where others read it"
    factor = _recomputed(handle, moved, fused)
    if factor is not None:
        what += f", recompute x{factor:.2f}"
    if factor is not None and factor > MAX_RECOMPUTED and not recompute:
        why = f"{producer} would be computed {factor:.0f} times as often as now"
        raise illegal(step, handle.op.name, why, ["recompute=True", "larger tiles"])
    tag = "reassoc" if moved.library_call and reassociates(moved) else "bits"
    found_at = {} if fused.is_duplicated else {moved.results[0]: fused.slices[0]}
    return handle.after(step, tag, what, fused.graph, handle.op, check=check, moved=found_at)


def _recomputed(handle: BaseHandle, producer: GenericOp, fused: FusionResult) -> float | None:
    """How many times as many points of a producer are computed, if the sizes are known."""
    sizes = handle.schedule.sizes
    before = estimate(handle.schedule.graph, sizes).points.get(producer, 0) if sizes else 0
    after = estimate(fused.graph, sizes).points.items() if before else ()
    made = {*fused.slices, *producer.results}
    total = sum(points for op, points in after if made & {*op.results})
    return total / before if before else None


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
