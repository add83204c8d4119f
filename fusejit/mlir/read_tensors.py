"""Tensor operations that are no loops: constants, sizes, views, fills; arithmetic on indices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fusejit.ir.affine import AffineExpr
from fusejit.ir.analysis.elementwise import elementwise
from fusejit.ir.graph import HostScalar
from fusejit.ir.host import HostExpr, Path
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.ops import GenericOp, Load, Operand, ReshapeOp, ViewOp
from fusejit.ir.payload import identity_payload
from fusejit.ir.reassociation import Reassociation
from fusejit.ir.types import Kind, TensorType
from fusejit.ir.values import Layout, Value
from fusejit.mlir.bindings import mlir_modules
from fusejit.mlir.export.mlir_op_table import INDEX_OPS
from fusejit.mlir.read_body import dtype_of, index_arithmetic, number_of
from fusejit.mlir.read_state import DYNAMIC, Empty, ReaderState, is_tensor, known_sizes
from fusejit.mlir.size_facts import host


class TensorReader(ReaderState):
    """Handlers of the operations of the tensor, arith and affine dialects outside of bodies."""

    def scalar(self, op: Any) -> None:
        """An operation on numbers."""
        raise NotImplementedError

    def constant(self, op: Any) -> None:
        """``arith.constant``: an index, a number, a splat, an array."""
        result, attribute = op.results[0], op.attributes["value"]
        if str(result.type) == "index":
            self.known[result] = AffineExpr.const(attribute.value)
        elif not is_tensor(result.type):
            dtype = dtype_of(result.type)
            if dtype is None:
                raise self.complaint(op, f"constants of type {result.type} are not read")
            self.known[result] = self.number(number_of(attribute, dtype), dtype, op)
        else:
            type_ = self.tensor_type(result.type, op)
            ir, _ = mlir_modules()
            dense = ir.DenseElementsAttr(attribute)
            if dense.is_splat:
                element = number_of(dense.get_splat_value(), type_.dtype)
                self.known[result] = self.filled(self.number(element, type_.dtype, op), type_, op)
                return
            name = f"constant{len(self.constants)}"
            shape = tuple(e.constant for e in type_.extents)
            self.constants[name] = np.array(dense).astype(type_.dtype).reshape(shape)
            origin = HostExpr.path(Path("const", name))
            self.known[result] = self.array(name, type_, origin, -1)

    def dim(self, op: Any) -> None:
        """``tensor.dim`` of a known axis."""
        axis = self.index_of(op.operands[1], op).as_constant()
        extents = self.extents_of(op.operands[0])
        if axis is None or not 0 <= axis < len(extents):
            raise self.complaint(op, "the axis is not a constant of the tensor's rank")
        self.known[op.results[0]] = extents[axis]

    def index_op(self, op: Any) -> None:
        """Arithmetic on indices: affine if it can be, else a number of the launcher."""
        operands = [self.index_of(v, op) for v in op.operands]
        expr = index_arithmetic(op, operands)
        if expr is None:
            names = [name for name, operation in INDEX_OPS.items() if operation == op.name]
            if not names:
                raise self.complaint(op, "this arithmetic on indices is not read")
            expr = self.symbol(HostExpr(names[0], tuple(map(host, operands))))
        self.known[op.results[0]] = expr

    def index_cast(self, op: Any) -> None:
        """An integer argument as an index, an index as an integer."""
        source = self.readable(op.operands[0])
        if isinstance(source, AffineExpr) and source.symbols() & {*self.sizes.ranges}:
            self.scalar(op)
            return
        if isinstance(source, AffineExpr) and str(op.results[0].type) == "i64":
            name = f"x{self.num_emitted}_{len(self.graph.scalars)}"
            value = Value(name, TensorType(np.dtype(np.int64)), Kind.PYTHON)
            self.graph.scalars.append(HostScalar(value, host(source)))
            self.known[op.results[0]] = value
            return
        if str(op.results[0].type) == "index" and isinstance(source, Value):
            for scalar in self.graph.scalars:
                if scalar.value is source:
                    self.known[op.results[0]] = self.symbol(scalar.expr)
                    return
        raise self.complaint(op, "only int64 parameters become indices, and indices int64")

    def empty(self, op: Any) -> None:
        """``tensor.empty``."""
        sizes = [self.index_of(v, op) for v in op.operands]
        self.known[op.results[0]] = Empty(self.type_with(op.results[0].type, sizes, op))

    def alias(self, op: Any) -> None:
        """An operation that changes the type alone; sizes that it states are required."""
        source = self.entity(op.operands[0])
        self.known[op.results[0]] = source
        if op.name in ("tensor.cast", "memref.cast") and not isinstance(source, AffineExpr):
            sizes = known_sizes(op.results[0].type)
            for axis, (extent, size) in enumerate(zip(source.type.extents, sizes, strict=True)):
                if size is not None:
                    self.sizes.require_equal(extent, size, f"axis {axis}", self.location(op))

    def from_elements(self, op: Any) -> None:
        """``tensor.from_elements`` of one number."""
        if len(op.operands) != 1 or str(op.results[0].type).count("x"):
            raise self.complaint(op, "only a tensor of rank 0 is made from elements")
        self.known[op.results[0]] = self.value(op.operands[0], op)

    def splat(self, op: Any) -> None:
        """``tensor.splat``."""
        operands = list(op.operands)
        type_ = self.type_with(op.results[0].type, [self.index_of(v, op) for v in operands[1:]], op)
        self.known[op.results[0]] = self.filled(self.value(operands[0], op), type_, op)

    def fill(self, op: Any) -> None:
        """``linalg.fill``."""
        scalar = self.value(op.operands[0], op)
        out = self.entity(op.operands[1])
        assert not isinstance(out, AffineExpr)
        if scalar.type.rank or scalar.type.dtype != out.type.dtype:
            raise self.complaint(op, "a fill takes a number of the tensor's element type")
        self.finish(op, [self.filled(scalar, out.type, op)])

    def view(self, op: Any, indexing_map: IndexingMap, extents: Sequence[AffineExpr]) -> None:
        """A view of the first operand."""
        source = self.readable(op.operands[0])
        assert not isinstance(source, AffineExpr)
        type_ = TensorType(source.type.dtype, tuple(extents))
        if isinstance(source, Empty):
            self.known[op.results[0]] = Empty(type_)
            return
        made = ViewOp(
            source=source,
            map=indexing_map,
            results=(self.new(type_),),
            location=self.location(op),
        )
        self.known[op.results[0]] = self.emit(made)

    def extract_slice(self, op: Any) -> None:
        """``tensor.extract_slice``; axes of length 1 may be dropped."""
        self.view(op, *self.slice_of(op, op.operands[0], op.results[0].type))

    def slice_of(self, op: Any, whole: Any, part: Any) -> tuple[IndexingMap, list[AffineExpr]]:
        """The map and the extents of a slice of ``whole`` that has the type ``part``."""
        operands = list(op.operands)
        counts = list(op.attributes["operandSegmentSizes"])
        parts: list[list[AffineExpr]] = []
        at = sum(counts[:-3])
        for name, count in zip(("offsets", "sizes", "strides"), counts[-3:], strict=True):
            dynamic = iter([self.index_of(v, op) for v in operands[at : at + count]])
            at += count
            static = list(op.attributes[f"static_{name}"])
            parts.append([next(dynamic) if s == DYNAMIC else AffineExpr.const(s) for s in static])
        offsets, sizes, steps = parts
        extents = self.extents_of(whole)
        kept = self.kept_axes(part, sizes)
        results: list[AffineExpr] = []
        shape: list[AffineExpr] = []
        for axis, (offset, size, step) in enumerate(zip(offsets, sizes, steps, strict=True)):
            if step.as_constant() is None:
                raise self.complaint(op, "the step of a slice is not a constant")
            dim = AffineExpr.dim(0)
            self.sizes.require_inside(
                dim * step.constant + offset, [size], extents[axis],
                f"{op.name} of line {self.location(op).line}, axis {axis}", self.location(op),
            )  # fmt: skip
            self.require_natural(size, op)
            if axis in kept:
                results.append(AffineExpr.dim(len(shape)) * step.constant + offset)
                shape.append(size)
            else:
                results.append(offset)
        return IndexingMap(len(shape), tuple(results)), shape

    def kept_axes(self, part: Any, sizes: Sequence[AffineExpr]) -> list[int]:
        """The axes of a slice that its result has: those dropped are of length 1."""
        wanted_sizes = known_sizes(part)
        kept: list[int] = []
        for axis, size in enumerate(sizes):
            at = len(kept)
            if at == len(wanted_sizes):
                break
            wanted = wanted_sizes[at]
            if size.as_constant() == (None if wanted is None else wanted.constant):
                kept.append(axis)
        return kept

    def collapse_shape(self, op: Any) -> None:
        """``tensor.collapse_shape``; what does not lie side by side in memory is copied first."""
        extents = self.extents_of(op.operands[0])
        groups = op.attributes["reassociation"]
        merged = [self.product_of([extents[i.value] for i in group]) for group in groups]
        self.reshaped(op, merged, expands=False)

    def expand_shape(self, op: Any) -> None:
        """``tensor.expand_shape``: sizes that MLIR takes for equal are required."""
        operands = list(op.operands)
        static = list(op.attributes["static_output_shape"])
        dynamic = iter([self.index_of(v, op) for v in operands[1:]])
        shape = [next(dynamic) if s == DYNAMIC else AffineExpr.const(s) for s in static]
        for axis, group in enumerate(op.attributes["reassociation"]):
            extent = self.extents_of(operands[0])[axis]
            size = self.product_of([shape[item.value] for item in group])
            self.sizes.require_equal(extent, size, f"{op.name}, axis {axis}", self.location(op))
        self.reshaped(op, shape, expands=True)

    def reshaped(self, op: Any, extents: Sequence[AffineExpr], *, expands: bool) -> None:
        """The first operand with its axes split or merged."""
        source = self.readable(op.operands[0])
        assert not isinstance(source, AffineExpr)
        type_ = TensorType(source.type.dtype, tuple(extents))
        if isinstance(source, Empty):
            self.known[op.results[0]] = Empty(type_)
            return
        if not self.is_free(source, expands=expands):
            source = self.copied(source, op)
        lengths = [len(list(group)) for group in op.attributes["reassociation"]]
        made = ReshapeOp(
            source=source,
            reassociation=Reassociation.of_lengths(lengths, expands),
            results=(self.new(type_),),
            location=self.location(op),
        )
        self.known[op.results[0]] = self.emit(made)

    def is_free(self, source: Value, *, expands: bool) -> bool:
        """Whether a reshape moves no data: axes are split anywhere, merged where they are dense."""
        ops = {result: made for made in self.graph.block.ops for result in made.results}
        made = ops.get(source)
        while isinstance(made, ReshapeOp):
            made = ops.get(made.source)
        if not isinstance(made, Load):
            return isinstance(made, GenericOp)
        buffer = made.view.buffer
        in_order = buffer.order is None or buffer.order == tuple(range(buffer.type.rank))
        return expands or (in_order and buffer.layout is Layout.CONTIGUOUS)

    def copied(self, source: Value, op: Any) -> Value:
        """A copy in C order."""
        reads = Operand(source, IndexingMap.identity(source.type.rank))
        payload, location = identity_payload(source.type.dtype), self.location(op)
        return self.emit(elementwise(self.new(source.type), [reads], payload, "copy", location))

    def product_of(self, sizes: Sequence[AffineExpr]) -> AffineExpr:
        """The product of sizes, the constants as a factor in front."""
        total = AffineExpr.const(1)
        for size in sizes:
            total = self.product(total, size)
        return total

    def product(self, left: AffineExpr, right: AffineExpr) -> AffineExpr:
        for factor, other in ((left, right), (right, left)):
            if factor.is_constant:
                return other * factor.constant
        return self.symbol(HostExpr("mul", (host(left), host(right))))
