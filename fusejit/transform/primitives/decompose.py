"""`decompose`: an op as several smaller ones.

>>> h = schedule(lambda a: a.sum(), np.ones((3, 4)))["sum"]
>>> print(h.show())
%v0 = generic "sum" domain (s0, s1) iterators (reduction, reduction) ins (%v1) outs (add [(d0,
    d1) -> ()]) { yield in0 } : f64 scalar
>>> h = h.decompose(reassociate=True)
>>> print(h.show())
%v0_partial = generic "sum_j" domain (s0, s1) iterators (parallel, reduction) ins (%v1) outs
    (add [(d0, d1) -> (d0)]) { yield in0 } : s0 x f64
>>> print(h.schedule["sum_i"].show())
%v0 = generic "sum_i" domain (s0) iterators (reduction) ins (%v0_partial) outs (add [(d0) ->
    ()]) { yield in0 } : f64 scalar

Rule, the first that applies: an op with several results becomes one op for each. A convolution with
a window dim of extent 1 loses this dim, and the dim of the image if that has extent 1 too, with the
axes of the operands: `specialize` finds the 1-D convolution that a 2-D one is then. A reduction of
several dims becomes one for each, the last one first. All keep their bits, but sums of floats do
not: several dims are summed as one. Source: MLIR's ``transform.structured.decompose``.
"""

from __future__ import annotations

from collections.abc import Sequence

from fusejit.dataclass import replace
from fusejit.fuse.new_names import unused
from fusejit.fuse.reshaping.unit_dims import without_dims
from fusejit.fuse.tiling.illegal import illegal
from fusejit.fuse.tiling.rules import is_reduced, names_of, reassociates, replaced, require_loops
from fusejit.ir.affine import AffineExpr
from fusejit.ir.analysis.split_generic import one_result_each, split_reduction
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.ops import GenericOp, Op, Operand, ViewOp, base_name
from fusejit.ir.types import IteratorType, TensorType
from fusejit.ir.values import Value
from fusejit.transform.core.arguments import primitive
from fusejit.transform.core.base import H


@primitive
def decompose(handle: H, *, reassociate: bool = False, check: bool = True) -> H:
    """Make several ops of one; the first of them is returned.

    Parameters
    ----------
    reassociate : bool, optional
        Whether sums of floats may be added in another order.
    check : bool, optional
        False: do not compare with the op before on small arrays.

    Raises
    ------
    ScheduleError
        If no rule of the module applies.
    """
    step, op, dims, tag = "decompose()", handle.op, handle.dims, "bits"
    require_loops(op, step)
    if IteratorType.SEQUENTIAL in op.iterators:
        raise illegal(step, op.name, "it runs in sequence")
    parts: list[Op]
    if len(op.results) > 1:
        ops = one_result_each(op)
        named = _named(ops, handle, [str(k) for k in range(len(ops))])
        parts, names = [*named], [dims] * len(named)
    elif windows := _unit_windows(op):
        parts = _without_unit_axes(without_dims(replace(op, is_named=False), windows))
        names = [tuple(n for d, n in enumerate(dims) if d not in windows)]
    elif len(op.reduction_dims) > 1 and all(is_reduced(op, d) for d in op.reduction_dims):
        if reassociates(op):
            tag = "reassoc"
            if not reassociate:
                why = "its dims are summed as one, and the order of a float sum shows in its bits"
                raise illegal(step, op.name, why, ["reassociate=True"])
        endings = [dims[d] for d in reversed(op.reduction_dims)]
        ops, rest = [], op
        while len(rest.reduction_dims) > 1:
            part, rest = split_reduction(rest)
            ops.append(part)
        parts = [*_named([*ops, rest], handle, endings)]
        names = [tuple(n for n in dims if n not in endings[:k]) for k in range(len(parts))]
    else:
        why = "it has one result, no window dim of extent 1, and one reduced dim at most"
        raise illegal(step, op.name, why)
    graph = replaced(handle.schedule.graph, op, parts)
    generic = [part for part in parts if isinstance(part, GenericOp)]
    what = f"{base_name(op.name)} is {', '.join(base_name(part.name) for part in generic)}"
    others = {part.results[0]: known for part, known in zip(generic, names, strict=True)}
    return handle.after(
        step, tag, what, graph, generic[0], check=check, dims=names[0], others=others
    )


def _named(ops: Sequence[GenericOp], handle: H, endings: Sequence[str]) -> list[GenericOp]:
    """The ops with names of their own, which end in the dim that is reduced, or in a number."""
    base, taken = base_name(handle.op.name), names_of(handle.schedule.graph)
    names = [unused(f"{base}_{ending.replace('.', '')}", taken) for ending in endings]
    return [replace(op, name=name, is_named=False) for op, name in zip(ops, names, strict=True)]


def _unit_windows(op: GenericOp) -> list[int]:
    """The window dims of extent 1, and the dims beside them if they have extent 1 too."""
    found: set[int] = set()
    for operand in op.inputs:
        for result in operand.map.results:
            units = {d for d in result.dims() if op.domain[d].as_constant() == 1}
            if len(result.dims()) > 1 and units & {*op.reduction_dims}:
                found |= units
    left = {*op.reduction_dims} - found
    return sorted(found) if left else []


def _without_unit_axes(op: GenericOp) -> list[Op]:
    """The op on operands without the axes of extent 1 that it reads at 0, with views around it."""
    before: list[Op] = []
    after: list[Op] = []

    def smaller(value: Value, map_: IndexingMap) -> tuple[Value, IndexingMap, list[int]]:
        pairs = zip(map_.results, value.type.extents, strict=True)
        kept = [k for k, (r, e) in enumerate(pairs) if r.as_constant() != 0 or e.as_constant() != 1]
        if len(kept) == map_.rank:
            return value, map_, kept
        place = {axis: at for at, axis in enumerate(kept)}
        order = value.order and tuple(place[axis] for axis in value.order if axis in place)
        type_ = TensorType(value.type.dtype, tuple(value.type.extents[k] for k in kept))
        new = Value(f"{value.name}_slice", type_, value.kind, order)
        return new, IndexingMap(map_.num_dims, tuple(map_.results[k] for k in kept)), kept

    def viewed(value: Value, map_: IndexingMap) -> Operand:
        new, new_map, kept = smaller(value, map_)
        if new is not value:
            at = {axis: AffineExpr.dim(k) for k, axis in enumerate(kept)}
            reads = tuple(at.get(k, AffineExpr.const(0)) for k in range(map_.rank))
            before.append(ViewOp(results=(new,), source=value, map=IndexingMap(len(kept), reads)))
        return Operand(new, new_map)

    inputs = tuple(viewed(o.value, o.map) for o in op.inputs)
    (init,), (result,) = op.inits, op.results
    new, new_map, kept = smaller(result, init.map)
    start = init.start and viewed(init.start, init.map).value
    if new is not result:
        back = IndexingMap.select(init.map.rank, kept)
        after.append(ViewOp(results=(result,), source=new, map=back, location=op.location))
    inits = (replace(init, map=new_map, start=start),)
    return [*before, replace(op, inputs=inputs, inits=inits, results=(new,)), *after]
