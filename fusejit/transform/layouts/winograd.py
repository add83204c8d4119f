"""`winograd`: a convolution of a small kernel as products of transformed tiles.

>>> from fusejit.linalg import conv_1d_nwc_wcf as conv
>>> h = schedule(lambda x, k: conv(x, k), np.ones((2, 9, 3)), np.ones((3, 3, 4)))["conv_1d_nwc_wcf"]
>>> print(h.show())
%v0 = generic "conv_1d_nwc_wcf" domain (s0, s1 - 2, s5, 3, s2) iterators (parallel, parallel,
    parallel, reduction, reduction) ins (%v1 [(d0, d1, d2, d3, d4) -> (d0, d1 + d3, d4)], %v2
    [(d0, d1, d2, d3, d4) -> (d3, d4, d2)]) outs (add [(d0, d1, d2, d3, d4) -> (d0, d1, d2)])
    library_call "convolution" { t0 = multiply in0, in1 : f64; yield t0 } : s0 x (s1 - 2) x s5 x
    f64
>>> h = h.winograd(m=2, approximate=True)
>>> print(h.show())
%v0_tiles_product = generic "conv_1d_nwc_wcf" domain (4, product, s5, s2) iterators (parallel,
    parallel, parallel, reduction) ins (%v1_winograd_tiles_input_matrix [(d0, d1, d2, d3) ->
    (d0, d1, d3)], %v2_filter [(d0, d1, d2, d3) -> (d0, d3, d2)]) outs (add [(d0, d1, d2, d3) ->
    (d0, d1, d2)]) library_call "matmul" { t0 = multiply in0, in1 : f64; yield t0 } : 4 x
    product x s5 x f64
>>> print(h.schedule["winograd_tiles"].show())
%v1_winograd_tiles = generic "winograd_tiles" domain (4, s0, (s1 - 1) floordiv 2, s2) ins (%v1
    [(d0, d1, d2, d3) -> (0, 0, 0)]) outs (write) materialized { t0 = index (d1) : i64; t1 =
    index (d0 + 2 * d2) : i64; t2 = index (s1 - 1) : i64; t3 = minimum t1, t2 : i64; t4 = equal
    t1, t3 : i1; t5 = index (d3) : i64; t6 = extract in0[t0, t3, t5] : f64; t7 = const 0.0 :
    f64; t8 = select t4, t6, t7 : f64; yield t8 } : 4 x s0 x (s1 - 1) floordiv 2 x s2 x f64
>>> print(h.schedule["winograd_input"].show())
%v1_winograd_tiles_input = generic "winograd_input" domain (4, s0, (s1 - 1) floordiv 2, s2, 4)
    iterators (parallel, parallel, parallel, parallel, reduction) ins (%winograd_matrix [(d0,
    d1, d2, d3, d4) -> (d0, d4)], %v1_winograd_tiles [(d0, d1, d2, d3, d4) -> (d4, d1, d2, d3)])
    outs (add [(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)]) materialized { t0 = multiply in0, in1
    : f64; yield t0 } : 4 x s0 x (s1 - 1) floordiv 2 x s2 x f64
>>> print(h.schedule["crop"].show())
%v0 = generic "crop" domain (s0, s1 - 2, s5) ins (%v0_tiles_output [(d0, d1, d2) -> ((d1) mod 2,
    d0, (d1) floordiv 2, d2)]) outs (write) { yield in0 } : s0 x (s1 - 2) x s5 x f64

Each tile of m outputs along an axis reads ``a = m + r - 1`` numbers of the image, of which each
takes part in one product with the transformed kernel: ``a`` products instead of ``m * r``.

Rule: windows of a kernel of r = 3 or 5 along one or two axes, with step 1 and dilation 1; numbers
are multiplied and added, in float32 or float64. The last tiles read 0 beyond the image. Other
arithmetic gives other roundings, the larger the tile: ``approximate=True`` allows that. Sources: A.
Lavin, S. Gray, "Fast algorithms for convolutional neural networks", 2016; MLIR's
``transform.structured.winograd_conv2d``.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fusejit.dataclass import dataclass, field, replace
from fusejit.fuse.im2col import Dims, why_no_product, window_and_kernel
from fusejit.fuse.tiling.illegal import illegal
from fusejit.fuse.tiling.rules import replaced
from fusejit.ir.affine import AffineExpr, Dim
from fusejit.ir.analysis.elementwise import elementwise
from fusejit.ir.definitions.winograd_matrices import TABLE, Winograd
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.ops import GenericOp, Init, Op, Operand, base_name
from fusejit.ir.payload import I64, PayloadBuilder, binary_payload
from fusejit.ir.types import BOOL, IteratorType, TensorType
from fusejit.ir.values import Value
from fusejit.transform.core.arguments import primitive
from fusejit.transform.core.base import H, call
from fusejit.transform.core.operands import copied
from fusejit.transform.layouts.conv_to_matmul import as_product
from fusejit.transform.layouts.pad import axis_names

PARALLEL, REDUCTION = IteratorType.PARALLEL, IteratorType.REDUCTION


@primitive
def winograd(
    handle: H,
    *,
    m: int = 2,
    approximate: bool = False,
    tolerance: float = 1e-3,
    check: bool = True,
) -> H:
    """The convolution as products of tiles, with dims ``m n k``, after and before transforms.

    Parameters
    ----------
    m : int, optional
        The outputs of a tile along an axis: 2 or 4.
    approximate : bool
        True: results may be rounded otherwise.
    tolerance : float, optional
        The error that the comparison on small arrays allows, as a part of the largest result.
    check : bool, optional
        False: do not compare with the op before on small arrays.

    Raises
    ------
    ScheduleError
        If the op is no such convolution, or may not be approximate.
    """
    step, op, old = call("winograd", m=m), handle.op, handle.schedule.graph
    windows = _windows(op)
    if isinstance(windows, str):
        raise illegal(step, op.name, windows)
    r = op.domain[windows[0][1]].as_constant()
    matrices = TABLE.get(f"F_{m}_{r}")
    if matrices is None or any(op.domain[k].as_constant() != r for _, k in windows):
        sizes = " x ".join(str(op.domain[k]) for _, k in windows)
        why = f"there are no matrices for m={m} and a kernel of {sizes}"
        known = [f"m={w.m} with a kernel of {w.r}" for w in TABLE.values()]
        raise illegal(step, op.name, why, known)
    if not approximate:
        raise illegal(step, op.name, "results are rounded otherwise", ["approximate=True"])
    made = _Made(op, dict(windows), matrices)
    product = made.product()
    graph, product, dims = as_product(replaced(old, op, made.ops), product)
    others = {op.results[0]: axis_names(handle, op, op.results[0])}
    what = f"{base_name(op.name)} of tiles of {m} outputs"
    return handle.after(
        step,
        "approx",
        what,
        graph,
        product,
        check=check,
        dims=dims,
        others=others,
        tolerance=tolerance,
    )


def _windows(op: GenericOp) -> list[tuple[int, int]] | str:
    """The dims of outputs and of the kernel along each axis of windows, or why there are none."""
    if why := why_no_product(op):
        return f"it is no convolution with filters: {why}"
    dtype = op.results[0].type.dtype
    is_product = op.payload == binary_payload("multiply", dtype)
    if dtype.kind != "f" or not is_product or op.inits[0].combiner != "add":
        return f"it adds no products of floats: {op.payload} by {op.inits[0].combiner}"
    image, _ = (op.inputs[k].map for k in window_and_kernel(op))
    windows = []
    for r in image.results:
        dims = sorted(r.dims(), key=lambda d: op.iterators[d] is REDUCTION)
        if r.as_dim() is None:
            factors = [r.coefficient(Dim(d)) for d in dims]
            if r.constant or factors != [1, 1] or len(r.terms) != 2:
                return f"it reads %{op.inputs[0].value.name} at {r}: steps and dilations are 1"
            windows.append((dims[0], dims[1]))
    used = [d for pair in windows for d in pair]
    plain = [d for r in image.results if (d := r.as_dim()) is not None]
    if not 1 <= len(windows) <= 2 or len({*used, *plain}) < len(used) + len(plain):
        return f"it has windows along {len(windows)} axes, not along 1 or 2"
    return windows


@dataclass(slots=True)
class _Made:
    """The ops around the product, in order."""

    op: GenericOp
    windows: dict[int, int]
    w: Winograd
    ops: list[Op] = field(default_factory=list)

    def product(self) -> GenericOp:
        """The product of transformed tiles; ``ops`` has all ops, the product among them."""
        op, w = self.op, self.w
        (image, kernel), (result,) = (op.inputs[k] for k in window_and_kernel(op)), op.results
        places = [*self.windows.values()]
        out = [d for r in op.inits[0].map.results for d in r.dims()]
        dims = Dims.of(op)
        batch, rows, columns = dims.batch, dims.rows, dims.columns
        depth = [d for d in sorted(dims.depth) if d not in places]
        domain = [*op.domain]
        for o, k in self.windows.items():
            domain[o] = (op.domain[o] + (w.m - 1)).floordiv(w.m)
            domain[k] = AffineExpr.const(w.m + w.r - 1)
        left = [*places, *batch, *rows, *depth]
        tiles = self.tiles(image, left, domain)
        for axis in range(len(places)):
            tiles = self.transformed(tiles, axis, w.input, "winograd_input")
        order = [d for r in kernel.map.results for d in r.dims()]
        filters = kernel.value
        for k in places:
            filters = self.transformed(filters, order.index(k), w.filter, "winograd_filter")
        right = [*places, *batch, *depth, *columns]
        if order != right:
            reads = [AffineExpr.dim(right.index(d)) for d in order]
            extents = [domain[d] for d in right]
            filters = self.add(copied(filters, "transpose", reads, extents, op.location))
        made = [*places, *batch, *rows, *columns]
        type_ = TensorType(result.type.dtype, tuple(domain[d] for d in made))
        rank = len(domain)
        inputs = [Operand(tiles, IndexingMap.select(rank, left))]
        inputs.append(Operand(filters, IndexingMap.select(rank, right)))
        product = replace(
            op,
            results=(Value(f"{result.name}_tiles", type_),),
            domain=tuple(domain),
            iterators=tuple(PARALLEL if d in made else REDUCTION for d in range(rank)),
            inputs=tuple(inputs),
            inits=(Init(IndexingMap.select(rank, made), "add"),),
            is_named=False,
        )
        total = self.add(product)
        for axis in range(len(places)):
            total = self.transformed(total, axis, w.output * w.scale, "winograd_output")
        at = {d: AffineExpr.dim(k) for k, d in enumerate(out)}
        reads = [at[o].mod(w.m) for o in self.windows]
        reads += [at[d].floordiv(w.m) if d in self.windows else at[d] for d in made[len(places) :]]
        crop = copied(total, "crop", reads, result.type.extents, op.location)
        self.ops.append(replace(crop, results=(result,), is_materialized=False))
        return product

    def add(self, op: GenericOp) -> Value:
        """Append an op; its result."""
        self.ops.append(op)
        return op.results[0]

    def tiles(self, image: Operand, dims: Sequence[int], domain: Sequence[AffineExpr]) -> Value:
        """A copy of the image with an axis for each dim: the places in tiles, and the tiles."""
        reads: list[AffineExpr] = []
        bounds: list[AffineExpr | None] = []
        for r in image.map.results:
            dim = r.as_dim()
            if dim is not None:
                reads.append(AffineExpr.dim(dims.index(dim)))
                bounds.append(None)
                continue
            o = next(d for d in self.windows if d in r.dims())
            place = AffineExpr.dim(dims.index(self.windows[o]))
            reads.append(AffineExpr.dim(dims.index(o)) * self.w.m + place)
            bounds.append(self.op.domain[o] + (self.w.r - 1))
        extents = [domain[d] for d in dims]
        location, zero = self.op.location, 0.0
        return self.add(
            copied(
                image.value, "winograd_tiles", reads, extents, location, bounds=bounds, number=zero
            )
        )

    def transformed(self, value: Value, axis: int, matrix: np.ndarray, name: str) -> Value:
        """An array with an axis multiplied by a matrix."""
        numbers = self.add(_matrix(matrix, value.type.dtype, self.op))
        rank, dtype = value.type.rank, value.type.dtype
        extents = [*value.type.extents]
        extents[axis] = AffineExpr.const(matrix.shape[0])
        reads = [rank if k == axis else k for k in range(rank)]
        return self.add(
            GenericOp(
                results=(Value(f"{value.name}_{name[9:]}", TensorType(dtype, tuple(extents))),),
                location=self.op.location,
                domain=(*extents, AffineExpr.const(matrix.shape[1])),
                iterators=(*(PARALLEL,) * rank, REDUCTION),
                inputs=(
                    Operand(numbers, IndexingMap.select(rank + 1, [axis, rank])),
                    Operand(value, IndexingMap.select(rank + 1, reads)),
                ),
                inits=(Init(IndexingMap.select(rank + 1, range(rank)), "add"),),
                payload=binary_payload("multiply", dtype),
                name=name,
                is_materialized=True,
            )
        )


def _matrix(matrix: np.ndarray, dtype: np.dtype, op: GenericOp) -> GenericOp:
    """A small array of given numbers."""
    rows, columns = matrix.shape
    builder = PayloadBuilder([], [dtype])
    at = builder.index(AffineExpr.dim(0) * columns + AffineExpr.dim(1))
    ref = builder.const(0.0, dtype)
    for place, number in enumerate(matrix.flat):
        if number:
            test = builder.op("equal", [at, builder.const(place, I64)], BOOL)
            ref = builder.op("select", [test, builder.const(number, dtype), ref], dtype)
    type_ = TensorType(dtype, (AffineExpr.const(rows), AffineExpr.const(columns)))
    result, payload = Value("winograd_matrix", type_), builder.finish([ref])
    return elementwise(result, (), payload, result.name, op.location, is_materialized=True)
