"""`tile_reduction`: several accumulators for a reduced dim, which are combined afterwards.

>>> h = schedule(lambda a: a.sum(axis=1), np.ones((3, 4)))["sum"]
>>> print(h.show())
%v0 = generic "sum" domain (s0, s1) iterators (parallel, reduction) ins (%v1) outs (add [(d0,
    d1) -> (d0)]) { yield in0 } : s0 x f64
>>> h = h.tile_reduction(j=8, reassociate=True)
>>> print(h.show())
%v0_partial = generic "sum" domain (s0, (s1) floordiv 8, 8) iterators (parallel, reduction,
    parallel) ins (%v1 [(d0, d1, d2) -> (d0, 8 * d1 + d2)]) outs (add [(d0, d1, d2) -> (d0,
    d2)]) { yield in0 } : s0 x 8 x f64
>>> print(h.schedule["sum_total"].show())
%v0_total = generic "sum_total" domain (s0, 8) iterators (parallel, reduction) ins (%v0_partial)
    outs (add [(d0, d1) -> (d0)]) { yield in0 } : s0 x f64
>>> print(h.schedule["sum_rest"].show())
%v0 = generic "sum_rest" domain (s0, s1 - 8 * ((s1) floordiv 8)) iterators (parallel, reduction)
    ins (%v1_slice) outs (add [(d0, d1) -> (d0)] from %v0_total) { yield in0 } : s0 x f64

Rule: the combiner is associative and has an identity, from which each accumulator starts. Point
``8 * j.0 + j.1`` goes to accumulator ``j.1``, which is a parallel dim. ``sum_total`` combines the
accumulators, and ``sum_rest`` what is left of an extent that is no multiple of their number. What
the result starts from is combined once, by ``sum_total``. Source: MLIR's
``transform.structured.tile_reduction_using_for`` and ``split_reduction``.
"""

from __future__ import annotations

from fusejit.dataclass import replace
from fusejit.fuse.new_names import unused
from fusejit.fuse.tiling.illegal import illegal
from fusejit.fuse.tiling.parts import require_separable
from fusejit.fuse.tiling.rules import (
    is_reduced,
    names_of,
    reassociates,
    replaced,
    require_loops,
    rest_of,
)
from fusejit.fuse.tiling.slices import on_slices
from fusejit.ir.affine import AffineExpr
from fusejit.ir.analysis.change_domain import on_domain
from fusejit.ir.analysis.split_generic import combining
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.ops import GenericOp, Init, Op, base_name
from fusejit.ir.types import IteratorType, TensorType
from fusejit.ir.values import Value
from fusejit.transform.core.arguments import primitive
from fusejit.transform.core.base import H, call


@primitive
def tile_reduction(handle: H, *, reassociate: bool = False, check: bool = True, **sizes: int) -> H:
    """Several accumulators for a reduced dim; the op that fills them is returned.

    Parameters
    ----------
    reassociate : bool, optional
        True: floats may be summed in that order.
    check : bool, optional
        False: do not compare with the op before on small arrays.
    **sizes
        A reduced dim, and the number of its accumulators.

    Raises
    ------
    ScheduleError
        If the dim is unknown or not reduced, another order shows in the bits, or nothing would
        change.
    """
    step, op, dims = call("tile_reduction", **sizes), handle.op, handle.dims
    legal = [f"{n}=.." for d, n in enumerate(dims) if is_reduced(op, d)]
    if len(sizes) != 1:
        raise illegal(step, op.name, "one dim gets accumulators at a time", legal)
    (name, size), *_ = sizes.items()
    d = handle.dim(name, step)
    if not is_reduced(op, d):
        raise illegal(step, op.name, f"{name} is not reduced", legal)
    extent = op.domain[d].as_constant()
    if size < 2 or (extent is not None and size >= extent):
        most = ".." if extent is None else extent - 1
        raise illegal(step, op.name, f"{size} accumulators change nothing", [f"2 to {most}"])
    require_loops(op, step)
    require_separable(op, [d], dims, step, reassociate)
    graph = handle.schedule.graph
    partial = _partial(op, d, size)
    taken = names_of(graph)
    kept = [k for k in range(len(dims)) if op.iterators[k] is not IteratorType.REDUCTION]
    iterators = [*(op.iterators[k] for k in kept), IteratorType.REDUCTION]
    name_of_total = unused(f"{base_name(op.name)}_total", taken)
    total = combining(op, partial.results, kept, iterators, name_of_total)
    ops: list[Op] = [partial, total]
    others = {total.results[0]: (*(dims[k] for k in kept), f"{name}.1")}
    if extent is None or extent % size:
        whole = op.domain[d].floordiv(size) * size
        domain = (*op.domain[:d], op.domain[d] - whole, *op.domain[d + 1 :])
        rest, views = on_slices(op, {d: whole}, domain, is_split=True, may_be_empty=True)
        sums = [Value(f"{r.name}_total", r.type, order=r.order) for r in op.results]
        inits = [replace(i, start=s) for i, s in zip(rest.inits, sums, strict=True)]
        ops[1:] = [
            replace(total, results=tuple(sums)),
            *views,
            replace(rest, results=op.results, inits=tuple(inits), name=rest_of(op, taken)),
        ]
        others = {sums[0]: others[total.results[0]], op.results[0]: dims}
    what = f"{size} accumulators for {name}, then {base_name(total.name)}"
    graph = replaced(graph, op, ops)
    tag = "reassoc" if reassociates(op) else "bits"
    names = [*dims[:d], f"{name}.0", *dims[d + 1 :], f"{name}.1"]
    return handle.after(step, tag, what, graph, partial, check=check, dims=names, others=others)


def _partial(op: GenericOp, dim: int, size: int) -> GenericOp:
    """The op with a parallel dim of accumulators, the last one; whole groups of points only."""
    last = len(op.domain)
    table = {d: AffineExpr.dim(d) for d in range(last)}
    table[dim] = AffineExpr.dim(dim) * size + AffineExpr.dim(last)
    domain = [*op.domain, AffineExpr.const(size)]
    domain[dim] = op.domain[dim].floordiv(size)
    new = on_domain(op, table, domain, [*op.iterators, IteratorType.PARALLEL])
    kept = [d for d, i in enumerate(new.iterators) if i is not IteratorType.REDUCTION]
    map_ = IndexingMap.select(len(domain), kept)
    extents = tuple(domain[d] for d in kept)
    results = tuple(
        Value(f"{r.name}_partial", TensorType(r.type.dtype, extents)) for r in op.results
    )
    inits = tuple(Init(map_, init.combiner) for init in op.inits)
    return replace(new, results=results, inits=inits, is_named=False)
