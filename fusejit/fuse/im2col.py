"""Convolutions as products of two matrices, which BLAS computes.

One matrix has the windows of the image, which are copied, and the other one the kernel::

    %r = generic "conv" domain (s0, s1 - 2, 8, 3, s2) ins (%x [(.., d1, .., d3, d4) -> (d0, d1 +
        d3, d4)], %k [.. -> (d3, d4, d2)]) outs (add [.. -> (d0, d1, d2)]) library_call
        "convolution" { in0 * in1 }

    %w = generic "windows" domain (s0, s1 - 2, 3, s2) ins (%x [.. -> (d0, d1 + d2, d3)])
    %a = reshape %w collapse [[0, 1], [2, 3]]
    %b = reshape %k collapse [[0, 1], [2]]
    %p = generic "conv" domain (s3, 8, 3 * s2) ins (%a, %b) library_call "matmul" { in0 * in1 }
    %r = reshape %p expand [[0, 1], [2]]

Source: K. Chellapilla, S. Puri, P. Simard, "High performance convolutional neural networks for
document processing", 2006; MLIR's ``convert_conv2d_to_img2col``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from fusejit.dataclass import dataclass, field, replace
from fusejit.fuse.new_names import symbols_of, unused
from fusejit.fuse.rewrite_blocks import definitions, expand_ops
from fusejit.ir.affine import AffineExpr
from fusejit.ir.analysis.elementwise import elementwise
from fusejit.ir.analysis.integers import Integer, Integers
from fusejit.ir.graph import Graph, HostSymbol
from fusejit.ir.host import HostExpr
from fusejit.ir.host_affine import host_of
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.ops import (
    Alias,
    GenericOp,
    Init,
    Load,
    Op,
    Operand,
    ReshapeOp,
    walk,
    written_classes,
)
from fusejit.ir.payload import PayloadBuilder, identity_payload
from fusejit.ir.reassociation import Reassociation
from fusejit.ir.types import IteratorType, TensorType
from fusejit.ir.values import Buffer, Layout, Value, View

ROUTINE, PRODUCT = "convolution", "matmul"


def is_by_routine(op: Op) -> bool:
    """Whether an op is a convolution that BLAS is to compute, under some ``np.errstate``."""
    call = op.library_call if isinstance(op, GenericOp) else None
    return call is not None and (call == ROUTINE or call.endswith(f"({ROUTINE})"))


def convolutions_by_blas(graph: Graph) -> Graph:
    """Each convolution by BLAS as a product; the same object if there is none."""
    if not any(map(is_by_routine, walk(graph.block))):
        return graph
    made = Products(graph)

    def parts(op: Op) -> list[Op]:
        if not isinstance(op, GenericOp) or not is_by_routine(op):
            return [op]
        if why_no_product(op):  # a schedule has changed it
            return [replace(op, library_call=None)]
        return made.of(op)[0]

    return made.completed(expand_ops(graph, parts))


def why_no_convolution(op: GenericOp) -> str:
    """Why an op does not multiply windows by filters, or the empty text."""
    plain = [o.map.is_projected_permutation for o in op.inputs]
    if len(plain) == 2 and plain[0] == plain[1]:
        return "no window of one operand meets the other one"
    return why_no_product(op)


def why_no_product(op: GenericOp) -> str:
    """Why an op is no product of two operands with axes of their own, or the empty text."""
    if IteratorType.SEQUENTIAL in op.iterators:
        return "its sums are in order; generalize(reassociate=True) first"
    if len(op.inputs) != 2 or len(op.inits) != 1 or op.inits[0].combiner is None:
        return f"it has {len(op.inputs)} operands and {len(op.inits)} results"
    if op.inits[0].start is not None:
        return "its result starts from an array"
    if op.payload.has_index() or op.payload.has_extract():
        return "it asks where it is in the domain"
    maps = (op.inits[0].map, op.inputs[window_and_kernel(op)[1]].map)
    if not all(m.is_projected_permutation for m in maps):
        return "the result or the kernel has axes that are no dims"
    dims = Dims.of(op)
    if len({*dims.batch, *dims.rows, *dims.columns, *dims.depth}) < len(op.domain):
        return "a dim that is combined is not in both operands"
    if not dims.rows or not dims.columns:
        return "no axis of the result is one of the kernel alone"
    if not dims.depth:
        return "nothing is combined"
    return ""


@dataclass(slots=True)
class Dims:
    """The dims of a convolution: those of both operands, of one alone, and the combined ones."""

    batch: list[int]
    rows: list[int]
    columns: list[int]
    depth: list[int]

    @staticmethod
    def of(op: GenericOp) -> Dims:
        """Sort the dims of an op of two operands; one of these is read at plain dims."""
        window, kernel = (op.inputs[k].map for k in window_and_kernel(op))
        left, right = window.dims(), kernel.dims()
        out = [d for r in op.inits[0].map.results for d in r.dims()]
        axes = [d for r in kernel.results for d in r.dims()]
        return Dims(
            [d for d in out if d in left and d in right],
            [d for d in out if d not in right],
            [d for d in out if d not in left],
            [d for d in axes if d not in out and d in left],
        )


def window_and_kernel(op: GenericOp) -> tuple[int, int]:
    return (1, 0) if op.inputs[0].map.is_projected_permutation else (0, 1)


@dataclass(slots=True)
class Products:
    """Products that take the places of convolutions of a graph, and the symbols that they need."""

    graph: Graph
    symbols: list[HostSymbol] = field(default_factory=list)
    buffers: list[Buffer] = field(default_factory=list)
    taken: set[str] = field(init=False)

    def __post_init__(self) -> None:
        self.taken = symbols_of(self.graph) | {b.name for b in self.graph.buffers}

    def completed(self, graph: Graph) -> Graph:
        """A graph with the symbols and buffers of the products made so far."""
        return replace(
            graph,
            symbols=[*graph.symbols, *self.symbols],
            buffers=[*graph.buffers, *self.buffers],
        )

    def of(self, op: GenericOp) -> tuple[list[Op], GenericOp]:
        """Return the ops that compute what a convolution does, and the product among them."""
        ops: list[Op] = []
        dims, (result,) = Dims.of(op), op.results
        window, kernel = (op.inputs[k] for k in window_and_kernel(op))
        sides = [(window, "windows", dims.rows), (kernel, "kernel", dims.columns)]
        out = [d for r in op.inits[0].map.results for d in r.dims()]
        if max(map(out.index, dims.columns)) < min(map(out.index, dims.rows)):
            sides.reverse()  # the product is in the order of the result then
        (first, name, rows), (second, other_name, columns) = sides
        extents = [*(op.domain[d] for d in dims.batch)]
        extents += [self.product([op.domain[d] for d in part], ops) for part in (rows, columns)]
        extents.append(self.product([op.domain[d] for d in dims.depth], ops))
        *batch, m, n, k = extents
        left = self.matrix(first, name, [*dims.batch], rows, dims.depth, (*batch, m, k), op, ops)
        right = self.matrix(
            second, other_name, [*dims.batch], dims.depth, columns, (*batch, k, n), op, ops
        )
        made = [*dims.batch, *rows, *columns]
        is_whole, is_ordered = len(rows) == len(columns) == 1, made == out and result.order is None
        type_ = TensorType(result.type.dtype, (*batch, m, n))
        whole = result if is_whole and is_ordered else Value(f"{result.name}_product", type_)
        product = _product(op, left, right, whole, extents, first is op.inputs[0])
        ops.append(product)
        if whole is result:
            return ops, product
        if not is_whole:
            groups = [1] * len(batch) + [len(rows), len(columns)]
            fine = TensorType(result.type.dtype, tuple(op.domain[d] for d in made))
            split = result if is_ordered else Value(f"{result.name}_split", fine)
            ops.append(_reshape(whole, split, Reassociation.of_lengths(groups, True), op))
            whole = split
        if not is_ordered:
            reads = IndexingMap.permutation([out.index(d) for d in made])
            payload = identity_payload(result.type.dtype)
            ops.append(
                elementwise(result, [Operand(whole, reads)], payload, "transpose", op.location)
            )
        return ops, product

    def matrix(
        self,
        operand: Operand,
        name: str,
        batch: Sequence[int],
        rows: Sequence[int],
        columns: Sequence[int],
        extents: tuple[AffineExpr, ...],
        op: GenericOp,
        ops: list[Op],
    ) -> Value:
        """An operand with an axis for rows and one for columns, a view where it lies so."""
        order, value = [*batch, *rows, *columns], operand.value
        groups = [1] * len(batch) + [len(rows), len(columns)]
        merged = Reassociation.of_lengths(groups, False)
        is_whole = len(rows) == len(columns) == 1
        if operand.map.results == tuple(map(AffineExpr.dim, order)):
            if is_whole:
                return value
            found = self.merged_in_place(value, merged, extents, ops)
            if found is not None:
                return found
        place = {d: AffineExpr.dim(at) for at, d in enumerate(order)}
        type_ = TensorType(value.type.dtype, tuple(op.domain[d] for d in order))
        copy = Value(f"{value.name}_{name}", type_)
        reads = Operand(value, operand.map.over(len(order), place))
        made = elementwise(copy, [reads], identity_payload(type_.dtype), name, op.location)
        ops.append(replace(made, is_materialized=op.library_call is None))
        if is_whole:
            return copy
        result = Value(f"{value.name}_matrix", TensorType(value.type.dtype, extents))
        ops.append(_reshape(copy, result, merged, op))
        return result

    def merged_in_place(
        self,
        value: Value,
        merged: Reassociation,
        extents: tuple[AffineExpr, ...],
        ops: list[Op],
    ) -> Value | None:
        """The value with axes merged without a copy, if it is known to lie in memory so."""
        source = definitions(self.graph.block).get(value)
        type_ = TensorType(value.type.dtype, extents)
        result = Value(f"{value.name}_matrix", type_)
        if isinstance(source, GenericOp) and value.order is None:
            ops.append(ReshapeOp(results=(result,), source=value, reassociation=merged))
            return result
        if not isinstance(source, Load) or source.view != View.whole(source.view.buffer):
            return None
        base = source.view.buffer
        is_dense = base.layout is Layout.CONTIGUOUS and base.order is None
        if not is_dense or base.alias_class in written_classes(self.graph.block):
            return None
        name = unused(f"{base.name}_matrix", self.taken)
        alias = replace(
            base, name=name, type=type_, origin=None, base=base, reassociation=merged, part=None
        )
        self.buffers.append(alias)
        ops.append(Alias(buffer=alias))
        ops.append(Load(results=(result,), view=View.whole(alias), version=source.version))
        return result

    def product(self, extents: Sequence[AffineExpr], ops: list[Op]) -> AffineExpr:
        """The product of extents: a symbol, unless at most one of them is unknown."""
        factor, unknown = 1, list[AffineExpr]()
        for extent in extents:
            known = extent.as_constant()
            if known is None:
                unknown.append(extent)
            else:
                factor *= known
        if not unknown or not factor:
            return AffineExpr.const(factor)
        if len(unknown) == 1:
            return unknown[0] * factor
        name = unused("product", self.taken)
        used = frozenset[str]().union(*(e.symbols() for e in unknown))
        if used <= {s.name for s in self.graph.symbols}:
            expr = host_of(unknown[0])
            for other in unknown[1:]:
                expr = HostExpr("mul", (expr, host_of(other)))
            known_ones = (s.name for s in self.symbols if s.expr == expr)
            known_name = next(known_ones, None)
            if known_name is None:
                self.symbols.append(HostSymbol(name, expr))
            return AffineExpr.symbol(known_name or name) * factor
        integers = Integers(1)
        product = reduce(Integer.__mul__, map(integers, unknown))
        ops += integers.bound("length", {name: product}, is_local=False)
        return AffineExpr.symbol(name) * factor


def _product(
    op: GenericOp,
    left: Value,
    right: Value,
    result: Value,
    extents: Sequence[AffineExpr],
    is_in_order: bool,
) -> GenericOp:
    """The product of two matrices, or of stacks of them, with the payload of an op."""
    rank = len(extents)
    *batch, m, n, k = range(rank)
    old = op.payload
    builder = PayloadBuilder([left.type.dtype, right.type.dtype], [result.type.dtype])
    arguments = [0, 1, 2] if is_in_order else [1, 0, 2]
    call = op.library_call
    return replace(
        op,
        results=(result,),
        domain=tuple(extents),
        iterators=(*(IteratorType.PARALLEL,) * (rank - 1), IteratorType.REDUCTION),
        inputs=(
            Operand(left, IndexingMap.select(rank, [*batch, m, k])),
            Operand(right, IndexingMap.select(rank, [*batch, k, n])),
        ),
        inits=(Init(IndexingMap.select(rank, [*batch, m, n]), op.inits[0].combiner),),
        payload=builder.finish(builder.inline(old, arguments)),
        library_call=None if call is None else call.replace(ROUTINE, PRODUCT),
    )


def _reshape(
    source: Value, result: Value, reassociation: Reassociation, op: GenericOp
) -> ReshapeOp:
    return ReshapeOp(
        results=(result,), location=op.location, source=source, reassociation=reassociation
    )
