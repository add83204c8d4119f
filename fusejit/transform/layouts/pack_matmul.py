"""`pack_matmul`: a product of operands in blocks, ``mmt4d``, whose result is put together again.

>>> a, b = np.ones((20, 20), int), np.ones((20, 20), int)
>>> h = schedule(lambda a, b: a @ b, a, b)["matmul"]
>>> print(h.show())
%v2 = generic "matmul" domain (s0, s3, s1) iterators (parallel, parallel, reduction) ins (%v0
    [(d0, d1, d2) -> (d0, d2)], %v1 [(d0, d1, d2) -> (d2, d1)]) outs (add [(d0, d1, d2) -> (d0,
    d1)]) { t0 = multiply in0, in1 : i64; yield t0 } : s0 x s3 x i64
>>> h = h.pack_matmul(m=8, n=16, k=4)
>>> print(h.dims)
('m.0', 'n.0', 'k.0', 'm.1', 'n.1', 'k.1')
>>> print(h.show())
%v2_packed = generic "mmt4d" domain ((s0 + 7) floordiv 8, (s3 + 15) floordiv 16, (s1 + 3)
    floordiv 4, 8, 16, 4) iterators (parallel, parallel, reduction, parallel, parallel,
    reduction) ins (%v0_pack [(d0, d1, d2, d3, d4, d5) -> (d0, d2, d3, d5)], %v1_pack [(d0, d1,
    d2, d3, d4, d5) -> (d1, d2, d4, d5)]) outs (add [(d0, d1, d2, d3, d4, d5) -> (d0, d1, d3,
    d4)]) { t0 = multiply in0, in1 : i64; yield t0 } : (s0 + 7) floordiv 8 x (s3 + 15) floordiv
    16 x 8 x 16 x i64
>>> print(h.schedule["unpack"].show())
%v2 = generic "unpack" domain (s0, s3) ins (%v2_packed [(d0, d1) -> ((d0) floordiv 8, (d1)
    floordiv 16, (d0) mod 8, (d1) mod 16)]) outs (write) { yield in0 } : s0 x s3 x i64

Rule: two operands are multiplied or combined otherwise, each dim is an axis by itself wherever it
occurs, and numbers that fill up ragged blocks are neutral (see `neutral`). Operands
get the axes of parallel dims before those of reduced ones, and then the axes in the blocks in the
same order. A float sum is summed in another order. Source: MLIR's ``block_pack_matmul`` and
``linalg.mmt4d``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fusejit.dataclass import dataclass, replace
from fusejit.fuse.tiling.illegal import illegal
from fusejit.fuse.tiling.rules import full_extent, is_parallel, is_reduced, replaced
from fusejit.ir.affine import AffineExpr
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.ops import GenericOp, Init, Op, Operand, base_name
from fusejit.ir.types import TensorType
from fusejit.ir.values import Value
from fusejit.transform.core.arguments import primitive
from fusejit.transform.core.base import H, call
from fusejit.transform.core.operands import copied
from fusejit.transform.layouts.neutral import neutral_numbers
from fusejit.transform.layouts.pad import axis_names, check_padding


@primitive
def pack_matmul(handle: H, *, reassociate: bool = False, check: bool = True, **sizes: int) -> H:
    """The product in blocks of operands in blocks.

    Parameters
    ----------
    reassociate : bool, optional
        True: floats may be summed in another order.
    check : bool, optional
        False: do not compare with the op before on small arrays.
    **sizes
        The sizes of the blocks along dims, at least 1. Dim ``m`` becomes ``m.0``, the block, and
        ``m.1``, the place in it.

    Raises
    ------
    ScheduleError
        If the op is no product of two operands, a dim is unknown, or no number is neutral.
    """
    step, op, schedule = call("pack_matmul", **sizes), handle.op, handle.schedule
    blocks = {handle.dim(name, step): size for name, size in sizes.items()}
    blocks = {d: blocks[d] for d in sorted(blocks)}
    if not blocks:
        raise illegal(step, op.name, "no dim is given", [f"{n}=.." for n in handle.dims])
    if any(size < 1 for size in blocks.values()):
        raise illegal(step, op.name, "the size of a block is at least 1")
    if why := _why_no_product(op):
        raise illegal(step, op.name, f"it is no product of two operands: {why}")
    tag = check_padding(handle, blocks, step, reassociate)
    outside = neutral_numbers(op, blocks)
    assert outside is not None
    extents = [*op.domain]
    for d in blocks:
        extents[d] = full_extent(extents[d], schedule.graph)
    packing = _Packing(op, blocks, extents)
    ops, packed = packing.product(outside)
    unpack = packing.unpacked(packed.results[0])
    graph = replaced(schedule.graph, op, [*ops, packed, unpack])
    names = [f"{n}.0" if d in blocks else n for d, n in enumerate(handle.dims)]
    names += [f"{handle.dims[d]}.1" for d in blocks]
    others = {op.results[0]: axis_names(handle, op, op.results[0])}
    what = f"{base_name(op.name)} in blocks of {', '.join(f'{n}={s}' for n, s in sizes.items())}"
    return handle.after(step, tag, what, graph, packed, check=check, dims=names, others=others)


def _why_no_product(op: GenericOp) -> str:
    """Why an op does not combine products of elements of two operands, or the empty text."""
    if len(op.inputs) != 2 or len(op.inits) != 1 or op.inits[0].combiner is None:
        return f"it has {len(op.inputs)} operands and {len(op.inits)} results"
    maps = [*(o.map for o in op.inputs), op.inits[0].map]
    if not all(m.is_projected_permutation for m in maps):
        return f"its maps are {', '.join(map(str, maps))}"
    both = maps[0].dims() & maps[1].dims()
    for d in range(len(op.domain)):
        if not is_parallel(op, d) and not (is_reduced(op, d) and d in both):
            return f"dim {d} is neither in the result nor in both operands"
    return ""


@dataclass(slots=True)
class _Packing:
    """An op some of whose dims are split into blocks."""

    op: GenericOp
    blocks: Mapping[int, int]
    extents: Sequence[AffineExpr]

    @property
    def domain(self) -> tuple[AffineExpr, ...]:
        """The extents of the dims, then those of the blocks."""
        outer = [
            (e + (self.blocks[d] - 1)).floordiv(self.blocks[d]) if d in self.blocks else e
            for d, e in enumerate(self.extents)
        ]
        return (*outer, *map(AffineExpr.const, self.blocks.values()))

    def inner(self, dim: int) -> int:
        """The dim of the places in the blocks of a dim."""
        return len(self.op.domain) + [*self.blocks].index(dim)

    def axes(self, map_: IndexingMap) -> list[int]:
        """The dims of a packed operand, axis by axis."""
        dims = sorted(map_.dims(), key=lambda d: (is_reduced(self.op, d), d))
        return [*dims, *(self.inner(d) for d in dims if d in self.blocks)]

    def packed(self, value: Value, map_: IndexingMap, number: object, ops: list[Op]) -> Value:
        """An operand in blocks; the op that makes it is appended."""
        axes = self.axes(map_)
        if axes == [r.as_dim() for r in map_.results]:
            return value
        reads: list[AffineExpr] = []
        bounds: list[AffineExpr | None] = []
        for r in map_.results:
            dim = r.as_dim()
            assert dim is not None
            read, bound = AffineExpr.dim(axes.index(dim)), None
            if dim in self.blocks:
                place = AffineExpr.dim(axes.index(self.inner(dim)))
                read = read * self.blocks[dim] + place
                if self.domain[dim] * self.blocks[dim] != self.op.domain[dim]:
                    bound = self.op.domain[dim]
            reads.append(read)
            bounds.append(bound)
        extents = [self.domain[axis] for axis in axes]
        copy = copied(value, "pack", reads, extents, self.op.location, bounds=bounds, number=number)
        ops.append(copy)
        return copy.results[0]

    def product(self, outside: Sequence[object]) -> tuple[list[Op], GenericOp]:
        """The op over blocks, after the ops that pack its operands."""
        op, rank = self.op, len(self.domain)
        ops: list[Op] = []
        inputs = []
        for operand, number in zip(op.inputs, outside, strict=True):
            value = self.packed(operand.value, operand.map, number, ops)
            inputs.append(Operand(value, IndexingMap.select(rank, self.axes(operand.map))))
        (init,), (result,) = op.inits, op.results
        start = init.start
        if start is not None:
            start = self.packed(start, init.map, result.type.dtype.type(0).item(), ops)
        axes = self.axes(init.map)
        type_ = TensorType(result.type.dtype, tuple(self.domain[axis] for axis in axes))
        places = {
            d: AffineExpr.dim(d) * s + AffineExpr.dim(self.inner(d)) for d, s in self.blocks.items()
        }
        is_mmt4d = len(op.domain) == 3 == len(self.blocks)
        packed = replace(
            op,
            results=(Value(f"{result.name}_packed", type_),),
            domain=self.domain,
            iterators=(*op.iterators, *(op.iterators[d] for d in self.blocks)),
            inputs=tuple(inputs),
            inits=(Init(IndexingMap.select(rank, axes), init.combiner, start),),
            payload=op.payload.over(places),
            name="mmt4d" if is_mmt4d else op.name,
            is_named=False,
        )
        return ops, packed

    def unpacked(self, value: Value) -> GenericOp:
        """The op that copies the result as it was from its blocks."""
        op = self.op
        (init,), (result,) = op.inits, op.results
        axis_of = {r.as_dim(): AffineExpr.dim(k) for k, r in enumerate(init.map.results)}
        reads = []
        for axis in self.axes(init.map):
            if axis >= len(op.domain):
                dim = [*self.blocks][axis - len(op.domain)]
                reads.append(axis_of[dim].mod(self.blocks[dim]))
            else:
                reads.append(axis_of[axis].floordiv(self.blocks.get(axis, 1)))
        copy = copied(value, "unpack", reads, result.type.extents, op.location)
        return replace(copy, results=(result,), is_materialized=False)
