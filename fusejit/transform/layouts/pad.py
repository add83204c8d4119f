"""`pad`: dims up to a multiple of a size, of copies of the operands with a border.

>>> h = schedule(lambda a: a.max(axis=1), np.ones((3, 4)))["max"]
>>> print(h.show())
%v0 = generic "max" domain (s0, s1) iterators (parallel, reduction) ins (%v1) outs (max [(d0,
    d1) -> (d0)]) { yield in0 } : s0 x f64
>>> print(h.pad(j=8).show())
%v0 = generic "max" domain (s0, 8 * ((s1 + 7) floordiv 8)) iterators (parallel, reduction) ins
    (%v1_pad) outs (max [(d0, d1) -> (d0)]) materialized { yield in0 } : s0 x f64
>>> print(h.pad(j=8).schedule["pad"].show())
%v1_pad = generic "pad" domain (s0, 8 * ((s1 + 7) floordiv 8)) ins (%v1 [(d0, d1) -> (0, 0)])
    outs (write) materialized { t0 = index (d0) : i64; t1 = index (d1) : i64; t2 = index (s1 -
    1) : i64; t3 = minimum t1, t2 : i64; t4 = equal t1, t3 : i1; t5 = extract in0[t0, t3] : f64;
    t6 = const -inf : f64; t7 = select t4, t5, t6 : f64; yield t7 } : s0 x 8 * ((s1 + 7)
    floordiv 8) x f64

Rule: a padded dim is parallel, and what is computed beyond its extent is left out of the result; or
it is reduced, and the numbers in the border make each term there the identity of the combiner
(see `neutral`). The tiles of a loop all get the full size. A float sum of more terms
is summed in another order. Source: MLIR's ``transform.structured.pad``, which trusts the numbers
that it is given.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from fusejit.dataclass import replace
from fusejit.fuse.tiling.illegal import illegal
from fusejit.fuse.tiling.rules import full_extent, is_parallel, is_reduced, reassociates, replaced
from fusejit.fuse.tiling.slices import extents_reached, why_not_sliceable
from fusejit.ir.affine import AffineExpr
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.ops import GenericOp, Init, Op, Operand, base_name
from fusejit.ir.types import TensorType
from fusejit.ir.values import Value
from fusejit.transform.core.arguments import primitive
from fusejit.transform.core.base import BaseHandle, H, call
from fusejit.transform.core.operands import LETTERS, copied, why_no_operands
from fusejit.transform.layouts.neutral import neutral_numbers

Domain = Sequence[AffineExpr]


@primitive
def pad(handle: H, *, reassociate: bool = False, check: bool = True, **multiples: int) -> H:
    """The op with dims up to the next multiple of a size, from operands with a border.

    Parameters
    ----------
    reassociate : bool, optional
        True: floats may be summed in another order.
    check : bool, optional
        False: do not compare with the op before on small arrays.
    **multiples
        The sizes of dims, at least 1. A dim of the tiles of a loop gets the size of a full tile.

    Raises
    ------
    ScheduleError
        If a dim is unknown or cannot be padded, no number is neutral, or nothing would change.
    """
    step, op, schedule = call("pad", **multiples), handle.op, handle.schedule
    numbers = {handle.dim(name, step): size for name, size in multiples.items()}
    domain = [*op.domain]
    for d, size in numbers.items():
        if size < 1:
            why = f"the size of {handle.dims[d]} is {size}: it is at least 1"
            raise illegal(step, op.name, why)
        full = full_extent(op.domain[d], schedule.graph)
        domain[d] = (full + (size - 1)).floordiv(size) * size
    numbers = {d: size for d, size in numbers.items() if domain[d] != op.domain[d]}
    if not numbers:
        raise illegal(step, op.name, "nothing would change", [f"{n}=.." for n in handle.dims])
    tag = check_padding(handle, numbers, step, reassociate)
    outside = neutral_numbers(op, numbers)
    assert outside is not None
    ops, padded = _padded(op, domain, numbers, outside)
    crops: list[Op] = []
    for old, new in zip(op.results, padded.results, strict=True):
        if old is not new:
            reads = [AffineExpr.dim(axis) for axis in range(old.type.rank)]
            crop = copied(new, "crop", reads, old.type.extents, op.location)
            crops.append(replace(crop, results=(old,), is_materialized=False))
    graph = replaced(schedule.graph, op, [*ops, padded, *crops])
    copies = [f"{LETTERS[k]} with {outside[k]}" for k in _touched(op, numbers)]
    what = f"{base_name(op.name)} pads {', '.join(copies) or 'its domain'}"
    others = {crop.results[0]: axis_names(handle, op, crop.results[0]) for crop in crops}
    return handle.after(step, tag, what, graph, padded, check=check, others=others)


def axis_names(handle: BaseHandle, op: GenericOp, result: Value) -> list[str]:
    """The names of the axes of a result: those of dims, where it has them as plain subscripts."""
    axes = op.inits[op.results.index(result)].map.results
    dims = [r.as_dim() for r in axes]
    return [f"axis{k}" if d is None else handle.dims[d] for k, d in enumerate(dims)]


def check_padding(handle: BaseHandle, dims: Iterable[int], step: str, reassociate: bool) -> str:
    """The tag of a step that pads dims.

    Raises
    ------
    ScheduleError
        If a dim cannot be padded.
    """
    op = handle.op
    if why := why_no_operands(op) or why_not_sliceable(op, {*dims}):
        raise illegal(step, op.name, why)
    reduced = [d for d in dims if is_reduced(op, d)]
    for d in dims:
        name = handle.dims[d]
        if not is_parallel(op, d) and d not in reduced:
            why = f"{name} is {op.iterators[d].value}, and some result depends on it"
            raise illegal(step, op.name, why)
        if d in reduced and any(map(op.payload.reads_init, range(len(op.inits)))):
            raise illegal(step, op.name, f"{name} is reduced, and a term reads the sum so far")
        if neutral_numbers(op, [d]) is None:
            combiners = ", ".join(i.combiner or "" for i in op.inits)
            why = f"no number in the operands beyond {name} makes a term that {combiners} ignores"
            raise illegal(step, op.name, f"{why}, whatever the other operands are")
    if neutral_numbers(op, dims) is None:
        raise illegal(step, op.name, "no numbers are neutral along all of the dims")
    for init, result in zip(op.inits, op.results, strict=True):
        for r, extent in zip(init.map.results, result.type.extents, strict=True):
            if r.dims() & {*dims} and extent != op.domain[next(iter(r.dims()))]:
                raise illegal(step, op.name, f"it writes part of %{result.name}")
    if not reduced or not reassociates(op):
        return "bits"
    if not reassociate:
        names = ", ".join(handle.dims[d] for d in reduced)
        why = f"{names} is summed, and the order of a float sum shows in its bits"
        raise illegal(step, op.name, why, ["reassociate=True"])
    return "reassoc"


def _touched(op: GenericOp, dims: Mapping[int, int]) -> list[int]:
    return [k for k, o in enumerate(op.inputs) if o.map.dims() & {*dims}]


def _padded(
    op: GenericOp, domain: Domain, dims: Mapping[int, int], outside: Sequence[object]
) -> tuple[list[Op], GenericOp]:
    """The op over a larger domain, after the copies that it reads."""
    ops: list[Op] = []
    inputs = [*op.inputs]
    for k in _touched(op, dims):
        copy = with_border(op.inputs[k].value, op.inputs[k].map, op, domain, {*dims}, outside[k])
        ops.append(copy)
        inputs[k] = Operand(copy.results[0], op.inputs[k].map)
    inits, results = [*op.inits], [*op.results]
    for k, (init, result) in enumerate(zip(op.inits, op.results, strict=True)):
        if not init.map.dims() & {*dims}:
            continue
        extents = extents_reached(init.map, domain, result.type.extents, dims)
        type_ = TensorType(result.type.dtype, extents)
        results[k] = Value(f"{result.name}_padded", type_, order=result.order)
        if init.start is not None:
            zero = result.type.dtype.type(0).item()
            copy = with_border(init.start, init.map, op, domain, {*dims}, zero)
            ops.append(copy)
            inits[k] = Init(init.map, init.combiner, copy.results[0])
    padded: GenericOp = replace(
        op,
        domain=tuple(domain),
        inputs=tuple(inputs),
        inits=tuple(inits),
        results=tuple(results),
        is_materialized=True,
    )
    return ops, padded


def with_border(
    source: Value,
    map_: IndexingMap,
    op: GenericOp,
    domain: Domain,
    dims: set[int],
    number: object,
) -> GenericOp:
    """A copy of an operand of an op that holds what a larger domain reads of it."""
    whole = source.type.extents
    old = extents_reached(map_, op.domain, whole, dims)
    bounds = [b if r.dims() & dims else None for b, r in zip(old, map_.results, strict=True)]
    reads = [AffineExpr.dim(axis) for axis in range(map_.rank)]
    extents = extents_reached(map_, domain, whole, dims)
    return copied(source, "pad", reads, extents, op.location, bounds=bounds, number=number)
