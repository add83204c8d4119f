"""`pack` and `unpack`: an operand in blocks that lie together in memory.

>>> h = schedule(lambda a: a.sum(), np.ones(20, int))["sum"]
>>> print(h.show())
%v0 = generic "sum" domain (s0) iterators (reduction) ins (%v1) outs (add [(d0) -> ()]) { yield
    in0 } : i64 scalar
>>> h = h.pack("a", i=8)
>>> print(h.show())
%v0 = generic "sum" domain (s0) iterators (reduction) ins (%v1_pack [(d0) -> ((d0) floordiv 8,
    (d0) mod 8)]) outs (add [(d0) -> ()]) { yield in0 } : i64 scalar
>>> print(h.schedule["pack"].show())
%v1_pack = generic "pack" domain ((s0 + 7) floordiv 8, 8) ins (%v1 [(d0, d1) -> (0)]) outs
    (write) materialized { t0 = index (8 * d0 + d1) : i64; t1 = index (s0 - 1) : i64; t2 =
    minimum t0, t1 : i64; t3 = equal t0, t2 : i1; t4 = extract in0[t2] : i64; t5 = const 0 :
    i64; t6 = select t3, t4, t5 : i64; yield t6 } : (s0 + 7) floordiv 8 x 8 x i64
>>> print(h.unpack("a").show())
%v0 = generic "sum" domain (s0) iterators (reduction) ins (%v1) outs (add [(d0) -> ()]) { yield
    in0 } : i64 scalar

Rule of `pack`: the op reads the operand at the dims as plain subscripts. The packed operand has the
axes as they were, now for the blocks, and after them an axis of the size of each block; ragged
blocks are filled up with 0, which the op does not read. Tiles of whole blocks are slices of it.
`unpack` undoes `pack` and the other copies of operands, where the op reads no border of theirs.
Source: MLIR's ``transform.structured.pack`` of one operand.
"""

from __future__ import annotations

from fusejit.dataclass import replace
from fusejit.fuse.canonical.dead import eliminate_dead_ops
from fusejit.fuse.rewrite_blocks import definitions
from fusejit.fuse.tiling.illegal import illegal
from fusejit.fuse.tiling.rules import full_extent, replaced
from fusejit.ir.affine import AffineExpr, FloorDiv, Mod
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.ops import GenericOp, Operand, base_name
from fusejit.transform.core.arguments import primitive
from fusejit.transform.core.base import H, call
from fusejit.transform.core.operands import LETTERS, copied, copied_from, operand_number


@primitive
def pack(handle: H, operand: str, *, check: bool = True, **sizes: int) -> H:
    """The op that reads an operand in blocks, which a copy has made.

    Parameters
    ----------
    operand : str
        The operand: ``a`` is the first one, ``b`` the second one.
    check : bool, optional
        False: do not compare with the op before on small arrays.
    **sizes
        The sizes of the blocks along dims, at least 1. The axes of blocks stand in their order.

    Raises
    ------
    ScheduleError
        If the op does not read the operand at such a dim alone, or no dim is given.
    """
    step, op = call("pack", operand, **sizes), handle.op
    number = operand_number(handle, operand, step)
    map_, source = op.inputs[number].map, op.inputs[number].value
    blocks = {handle.dim(name, step): size for name, size in sizes.items()}
    legal = [f"{handle.dims[d]}=.." for r in map_.results if (d := r.as_dim()) is not None]
    if not blocks:
        raise illegal(step, op.name, "no dim is given", legal)
    reads = [AffineExpr.dim(axis) for axis in range(map_.rank)]
    extents = [*source.type.extents]
    bounds: list[AffineExpr | None] = [None] * map_.rank
    outer, inner = [*map_.results], list[AffineExpr]()
    for dim, size in blocks.items():
        name, plain = handle.dims[dim], AffineExpr.dim(dim)
        if size < 1:
            raise illegal(step, op.name, f"the size of {name} is {size}: it is at least 1")
        if [r for r in map_.results if dim in r.dims()] != [plain]:
            why = f"{name} is not one subscript by itself of {operand}, which it reads at {map_}"
            raise illegal(step, op.name, why, legal)
        axis, extent = map_.results.index(plain), op.domain[dim]
        reads[axis] = AffineExpr.dim(axis) * size + AffineExpr.dim(map_.rank + len(inner))
        extents[axis] = (full_extent(extent, handle.schedule.graph) + (size - 1)).floordiv(size)
        if extents[axis] * size != extent:
            bounds[axis] = extent
        outer[axis] = plain.floordiv(size)
        inner.append(plain.mod(size))
    extents += map(AffineExpr.const, blocks.values())
    zero = source.type.dtype.type(0).item()
    copy = copied(source, "pack", reads, extents, op.location, bounds=bounds, number=zero)
    inputs = [*op.inputs]
    inputs[number] = Operand(copy.results[0], IndexingMap(map_.num_dims, (*outer, *inner)))
    new: GenericOp = replace(op, inputs=tuple(inputs))
    graph = replaced(handle.schedule.graph, op, [copy, new])
    shape = " x ".join(map(str, blocks.values()))
    what = f"{LETTERS[number]} of {base_name(op.name)} in blocks of {shape}"
    return handle.after(step, "bits", what, graph, new, check=check)


@primitive
def unpack(handle: H, operand: str, *, check: bool = True) -> H:
    """The op that reads an operand as it was before `pack` or another copy of it.

    Parameters
    ----------
    operand : str
        The operand that is a copy: ``a`` is the first one, or the name of the copying op.
    check : bool, optional
        False: do not compare with the op before on small arrays.

    Raises
    ------
    ScheduleError
        If the operand is no copy, or the op reads the border that the copy has.
    """
    step, op, graph = call("unpack", operand), handle.op, handle.schedule.graph
    number = operand_number(handle, operand, step)
    value, map_ = op.inputs[number].value, op.inputs[number].map
    copy = definitions(graph.block).get(value)
    source = copied_from(copy) if isinstance(copy, GenericOp) else None
    if source is None or not isinstance(copy, GenericOp):
        raise illegal(step, op.name, f"{operand} is no copy", ["pack(..) first"])
    old, reads, bounds = source
    reads = [joined(r.substitute(dims=map_.results)) for r in reads]
    for read, bound in zip(reads, bounds, strict=True):
        dim = read.as_dim()
        if bound is not None and (dim is None or op.domain[dim] != bound):
            why = f"it reads the border of {operand}: element {read} of axes that have {bound}"
            raise illegal(step, op.name, why)
    inputs = [*op.inputs]
    inputs[number] = Operand(old, IndexingMap(map_.num_dims, tuple(reads)))
    new: GenericOp = replace(op, inputs=tuple(inputs))
    graph = eliminate_dead_ops(replaced(graph, op, [new]))
    what = f"{LETTERS[number]} of {base_name(op.name)} as it was before {base_name(copy.name)}"
    return handle.after(step, "bits", what, graph, new, check=check)


def joined(expr: AffineExpr) -> AffineExpr:
    """An expression with ``q * (e floordiv q) + e mod q`` written as e."""
    for atom, factor in expr.terms:
        if isinstance(atom, Mod) and isinstance(atom.denominator, int):
            quotient = FloorDiv(atom.numerator, atom.denominator)
            if expr.coefficient(quotient) == factor * atom.denominator:
                both = AffineExpr(((atom, factor), (quotient, factor * atom.denominator)), 0)
                return joined(expr - both + atom.numerator * factor)
    return expr
