"""What the parts of the reader share: the graph under construction and what is known of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fusejit.dataclass import dataclass
from fusejit.errors import UnsupportedError
from fusejit.ir.affine import AffineExpr
from fusejit.ir.analysis.elementwise import elementwise
from fusejit.ir.graph import Graph, Guard, HostSymbol
from fusejit.ir.host import HostExpr, Path
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.ops import Block, ConstantOp, Load, Op, Operand, Store
from fusejit.ir.payload import identity_payload
from fusejit.ir.source import Location
from fusejit.ir.types import Kind, TensorType
from fusejit.ir.values import Buffer, Layout, Value, View
from fusejit.mlir.bindings import mlir_modules
from fusejit.mlir.read_body import dtype_of
from fusejit.mlir.size_facts import Sizes, host

DYNAMIC = -(2**63)
"""What stands for a size that is an operand among static ones."""
LayoutOf = Callable[[int], tuple[tuple[int, ...], Layout]]


@dataclass(frozen=True, slots=True)
class Empty:
    """A ``tensor.empty``: a shape without elements."""

    type: TensorType


@dataclass(frozen=True, slots=True)
class Memory:
    """A memref, or a tensor that lives in memory: it is loaded where it is read.

    ``home`` is the block in which a tensor is made: elsewhere nothing may replace part of it.
    """

    view: View
    home: Block

    @property
    def type(self) -> TensorType:
        """Element type and extents."""
        return self.view.type


Entity = Value | AffineExpr | Empty | Memory


class ReaderState:
    """One reading of a function: the graph, and the entity that each SSA value is."""

    def __init__(self, function: Any, sizes: Sizes, layouts: LayoutOf | None) -> None:
        self.function = function
        self.sizes = sizes
        self.layouts = layouts
        self.name: str = function.attributes["sym_name"].value
        self.graph = Graph(self.name)
        self.known: dict[Any, Entity] = {}
        self.fills: dict[Value, Any] = {}  # what a value is filled with
        self.numbers: dict[Value, Any] = {}  # constants
        self.constants: dict[str, np.ndarray] = {}
        self.returned: list[int | HostExpr] = []
        self.done: set[Any] = set()  # the operations that were read
        self.count = 0
        self.num_emitted = 0

    def buffer(
        self, name: str, type_: TensorType, origin: HostExpr, number: int, writeable: bool = False
    ) -> Buffer:
        """An array of the caller."""
        order, layout = None, Layout.CONTIGUOUS
        if self.layouts is not None and origin.attr.root == "arg":
            order, layout = self.layouts(number)
        buffer = Buffer(
            name, type_, len(self.graph.buffers), origin, order, layout, writeable=writeable
        )
        self.graph.buffers.append(buffer)
        return buffer

    def array(self, name: str, type_: TensorType, origin: HostExpr, number: int) -> Value:
        """The elements of an array of the caller."""
        buffer = self.buffer(name, type_, origin, number)
        value = Value(name, type_, order=buffer.order)
        return self.emit(Load(view=View.whole(buffer), version=0, results=(value,)))

    def tensor_type(self, type_: Any, op: Any, path: Path | None = None) -> TensorType:
        """The type of a tensor; with a path, ``?`` is a new symbol, and sizes are guarded."""
        ir, _ = mlir_modules()
        text = str(type_)
        is_ranked = text.partition("<")[2][:1] != "*"
        dtype = dtype_of(ir.ShapedType(type_).element_type) if is_ranked else None
        has_encoding = (
            text.startswith("tensor") and is_ranked and ir.RankedTensorType(type_).encoding
        )
        if dtype is None or has_encoding:
            raise self.complaint(op, f"{text.partition('<')[0]}s of type {type_} are not read")
        extents = []
        for axis, size in enumerate(known_sizes(type_)):
            if path is not None:
                size = self.axis(path, axis, size)
            assert size is not None
            extents.append(size)
        return TensorType(dtype, tuple(extents))

    def axis(self, path: Path, axis: int, size: AffineExpr | None) -> AffineExpr:
        """The extent of an axis of an argument."""
        expr = HostExpr.size(path, axis)
        location = Location("<mlir>", 0)
        text = f"axis {axis} of {path.name}"
        if size is not None:
            self.guard(HostExpr("eq", (expr, host(size))), f"{text} must be {size}", location)
            return size
        name = f"s{self.count}"
        self.count += 1
        self.sizes.axes.add(name)
        canonical = self.sizes.canonical(name)
        if canonical.as_symbol() == name:
            self.graph.symbols.append(HostSymbol(name, expr))
            return canonical
        known = next(
            (str(s.expr) for s in self.graph.symbols if s.name == canonical.as_symbol()), ""
        )
        match = re.match(r"size\(arg:(\w+), (\d+)\)", known)
        other = f"axis {match[2]} of {match[1]}" if match else str(canonical)
        self.guard(HostExpr("eq", (expr, host(canonical))), f"{text} must be {other}", location)
        return canonical

    def guard(self, expr: HostExpr, reason: str, location: Location) -> None:
        self.graph.guards.append(Guard(expr, True, location, reason))

    def require_natural(self, size: AffineExpr, op: Any) -> None:
        """A size that is computed is not negative."""
        size = self.sizes.least(size)
        if size.as_symbol() in self.sizes.axes or (size.is_constant and size.constant >= 0):
            return
        self.guard(
            HostExpr("ge", (host(size), HostExpr.const(0))),
            f"{op.name} of line {self.location(op).line}: the size {size} is negative",
            self.location(op),
        )

    def symbol(self, expr: HostExpr) -> AffineExpr:
        """A symbol for an integer of the launcher, the same one for the same integer."""
        if expr.names() & {*self.sizes.ranges}:
            raise UnsupportedError(
                f"@{self.name}: the index {expr} of a loop is not affine, and is not read"
            )
        for known in self.graph.symbols:
            if known.expr == expr:
                return AffineExpr.symbol(known.name)
        name = f"s{self.count}"
        self.count += 1
        self.graph.symbols.append(HostSymbol(name, expr))
        return AffineExpr.symbol(name)

    def location(self, op: Any) -> Location:
        match = re.search(r":(\d+):\d+", str(op.location))
        return Location("<mlir>", int(match[1]) if match else 0, self.name)

    def complaint(self, op: Any, what: str) -> UnsupportedError:
        """The error for an operation."""
        where = self.location(op)
        line = f" at line {where.line}" if where.line else ""
        return UnsupportedError(f"@{self.name}: {op.name}{line}: {what}")

    def append(self, op: Op) -> None:
        self.graph.block.ops.append(op)
        self.num_emitted += 1

    def emit(self, op: Op) -> Value:
        """Append an op; its first result."""
        self.append(op)
        return op.results[0]

    def entity(self, value: Any) -> Entity:
        if value not in self.known:
            raise self.complaint(value.owner, "its result cannot be used here")
        return self.known[value]

    def readable(self, value: Any) -> Value | AffineExpr | Empty:
        """What a value is; memory is loaded."""
        found = self.entity(value)
        if not isinstance(found, Memory):
            return found
        order = found.view.buffer.order if found.view == View.whole(found.view.buffer) else None
        loaded = Value(f"x{self.num_emitted}", found.type, order=order)
        return self.emit(Load(view=found.view, version=0, results=(loaded,)))

    def finish(self, op: Any, values: Sequence[Value]) -> None:
        """Make values the results of an operation, or store them in the memrefs that it writes."""
        for result, value in zip(op.results, values, strict=False):
            self.known[result] = value
        targets = list(op.operands)[-len(values) :] if not len(op.results) else []
        for target, value in zip(targets, values, strict=False):
            found = self.entity(target)
            assert isinstance(found, Memory)
            where = self.location(op)
            self.append(Store(view=found.view, value=value, version=0, location=where))

    def value(self, value: Any, op: Any) -> Value:
        """A graph value."""
        found = self.readable(value)
        if isinstance(found, Empty):
            raise self.complaint(op, "it reads a tensor.empty, whose elements are undefined")
        if isinstance(found, AffineExpr):
            raise self.complaint(op, "an index is not an element of a tensor: cast it")
        return found

    def index_of(self, value: Any, op: Any) -> AffineExpr:
        found = self.entity(value)
        if not isinstance(found, AffineExpr):
            raise self.complaint(op, "an index is expected")
        return found

    def extents_of(self, value: Any) -> tuple[AffineExpr, ...]:
        found = self.entity(value)
        assert not isinstance(found, AffineExpr)
        return found.type.extents

    def new(self, type_: TensorType, kind: Kind = Kind.ARRAY) -> Value:
        return Value(f"x{self.num_emitted}", type_, kind)

    def number(self, number: Any, dtype: np.dtype, op: Any) -> Value:
        value = self.new(TensorType(dtype), Kind.SCALAR)
        self.numbers[value] = number
        return self.emit(ConstantOp(number=number, results=(value,), location=self.location(op)))

    def filled(self, scalar: Value, type_: TensorType, op: Any) -> Value:
        """A tensor of one number everywhere."""
        reads = Operand(scalar, IndexingMap.scalar(type_.rank))
        payload, location = identity_payload(type_.dtype), self.location(op)
        made = self.emit(elementwise(self.new(type_), [reads], payload, "fill", location))
        if scalar in self.numbers:
            self.fills[made] = self.numbers[scalar]
        return made

    def type_with(self, type_: Any, dynamic: Sequence[AffineExpr], op: Any) -> TensorType:
        """A tensor type whose ``?`` are given."""
        ir, _ = mlir_modules()
        element, given = ir.ShapedType(type_).element_type, iter(dynamic)
        dtype = dtype_of(element)
        if dtype is None:
            raise self.complaint(op, f"tensors of {element} are not read")
        sizes = known_sizes(type_)
        return TensorType(dtype, tuple(next(given) if s is None else s for s in sizes))


def known_sizes(type_: Any) -> list[AffineExpr | None]:
    """The sizes of a tensor or memref type; None for each ``?``."""
    ir, _ = mlir_modules()
    ranked = ir.ShapedType(type_)
    return [
        None if ranked.is_dynamic_dim(axis) else AffineExpr.const(ranked.get_dim_size(axis))
        for axis in range(ranked.rank)
    ]


def is_tensor(type_: Any) -> bool:
    return str(type_).startswith("tensor<")


def is_shaped(type_: Any) -> bool:
    """Whether it is the type of a tensor or a memref."""
    return str(type_).startswith(("tensor<", "memref<"))
