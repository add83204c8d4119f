"""A ``func.func`` over tensors as a `Graph`, through the real MLIR bindings.

Named operations of linalg and elementwise operations on tensors are generalised by MLIR's own
passes first; what is left is ``linalg.generic`` and the operations of `_Reader.HANDLERS`. Results
are returned, arguments are never modified: an ``outs`` that is an argument gives its elements to
start from.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fusejit.errors import FusejitError, ParseError, UnsupportedError, VerificationError
from fusejit.ir.affine import AffineExpr
from fusejit.ir.graph import (
    Buffer,
    ConstantOp,
    GenericOp,
    Graph,
    Guard,
    HostScalar,
    HostSymbol,
    Init,
    Layout,
    Load,
    Op,
    Operand,
    Value,
    View,
    ViewOp,
)
from fusejit.ir.host import HostExpr, Path
from fusejit.ir.indexing_map import IndexingMap, parse_indexing_map
from fusejit.ir.mlir_ops import INDEX_OPS
from fusejit.ir.mlir_patterns import constant_written, is_matrix_product, is_overwritten, live_ops
from fusejit.ir.payload import Payload, identity_payload
from fusejit.ir.scalar_ops import COMBINERS
from fusejit.ir.source import Location
from fusejit.ir.types import IteratorType, Kind, TensorType
from fusejit.ir.verifier import verify
from fusejit.mlir.bindings import mlir_modules, run_passes
from fusejit.mlir.read_body import (
    BOOL_COMBINER_OPS,
    COMBINER_OPS,
    BodyReader,
    dtype_of,
    index_arithmetic,
    number_of,
)
from fusejit.mlir.sizes import Sizes, host

GENERALIZE = (
    "builtin.module(inline,func.func(convert-elementwise-to-linalg,linalg-generalize-named-ops))"
)
LayoutOf = Callable[[int], tuple[tuple[int, ...], Layout]]


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of the function: a tensor with its type, or a number (``type`` of rank 0)."""

    name: str
    type: TensorType
    is_tensor: bool


@dataclass(eq=False, slots=True)
class MlirProgram:
    """A function that was read.

    ``results`` are numbers of results of the graph, or host expressions for indices.
    """

    name: str
    graph: Graph
    parameters: tuple[Parameter, ...]
    results: tuple[int | HostExpr, ...]
    constants: dict[str, np.ndarray] = field(default_factory=dict)


def read_mlir(
    text: str, function: str | None = None, layouts: LayoutOf | None = None
) -> MlirProgram:
    """Read one function of a module.

    Parameters
    ----------
    text : str
        An MLIR module.
    function : str, optional
        The name of the function; without it, the module's only public one.
    layouts : callable, optional
        Axis order and layout of each array argument by its number; without it, C contiguous.

    Raises
    ------
    ParseError
        If MLIR does not accept the text; the message is MLIR's.
    UnsupportedError
        If the function uses an operation that has no form in fusejit's graphs.
    """
    ir, _ = mlir_modules()
    with ir.Context() as context, ir.Location.unknown():
        context.enable_multithreading(False)
        try:
            module = ir.Module.parse(text)
        except Exception as error:
            raise ParseError(f"MLIR does not accept the text:\n{error}") from None
        chosen = _function(module, function)
        if _needs_generalizing(chosen):
            if "sym_visibility" in chosen.attributes:  # inlining drops private functions
                del chosen.attributes["sym_visibility"]
            run_passes(module, GENERALIZE)
            chosen = _function(module, chosen.attributes["sym_name"].value)
        sizes = Sizes()
        while True:
            sizes.grown = False
            sizes.guards = []
            program = _Reader(chosen, sizes, layouts).program()
            if not sizes.grown:
                break
    try:
        verify(program.graph)
    except VerificationError as error:
        raise UnsupportedError(f"@{program.name}: {error}") from error
    return program


def _function(module: Any, name: str | None) -> Any:
    functions = [op.operation for op in module.body if op.operation.name == "func.func"]
    named = {f.attributes["sym_name"].value: f for f in functions if len(f.regions[0].blocks)}
    if name is None:
        public = [
            n for n, f in named.items()
            if "sym_visibility" not in f.attributes
            or f.attributes["sym_visibility"].value == "public"
        ]  # fmt: skip
        if len(public) != 1:
            raise UnsupportedError(
                f"the module has {len(public)} public functions ({', '.join(public)}): "
                "say which one with function=..."
            )
        name = public[0]
    if name not in named:
        raise UnsupportedError(f"the module has no function @{name} with a body")
    return named[name]


def _needs_generalizing(function: Any) -> bool:
    known = {"linalg.generic", *_HANDLERS}
    ops = [op.operation for op in function.regions[0].blocks[0]]
    return any(
        op.name not in known
        or (op.name.startswith(("arith.", "math.")) and _is_tensor(op.results[0].type)
            and op.name != "arith.constant")
        for op in ops
    )  # fmt: skip


def _is_tensor(type_: Any) -> bool:
    return str(type_).startswith("tensor<")


@dataclass(frozen=True, slots=True)
class Empty:
    """A ``tensor.empty``: a shape without elements."""

    type: TensorType


Entity = Value | AffineExpr | Empty


class _Reader:
    """Reads one function once."""

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
        self.count = 0

    # -- the function ---------------------------------------------------------------------------
    def program(self) -> MlirProgram:
        """The whole of it."""
        if len(self.function.regions[0].blocks) != 1:
            raise self.complaint(self.function, "a function with branches is not read")
        block = self.function.regions[0].blocks[0]
        parameters = self.parameters(block.arguments)
        for op in block:
            self.read(op.operation)
        self.graph.guards += self.sizes.guards
        self.graph.block.ops = live_ops(self.graph)
        return MlirProgram(
            self.name, self.graph, tuple(parameters), tuple(self.returned), self.constants
        )

    def parameters(self, arguments: Any) -> list[Parameter]:
        names = _parameter_names(arguments)
        found: list[Parameter] = []
        indices: list[tuple[Any, str]] = []
        for name, argument in zip(names, arguments, strict=True):
            path, text = HostExpr.path(Path("arg", name)), str(argument.type)
            if _is_tensor(argument.type):
                type_ = self.tensor_type(argument.type, self.function, Path("arg", name))
                found.append(Parameter(name, type_, True))
                self.known[argument] = self.array(name, type_, path, len(found) - 1)
                continue
            if text == "index":
                found.append(Parameter(name, TensorType(np.dtype(np.int64)), False))
                indices.append((argument, name))
                continue
            dtype = dtype_of(argument.type)
            if dtype is None:
                raise self.complaint(self.function, f"a parameter of type {text} is not read")
            value = Value(name, TensorType(dtype), Kind.SCALAR)
            self.graph.scalars.append(HostScalar(value, path))
            found.append(Parameter(name, value.type, False))
            self.known[argument] = value
        for argument, name in indices:
            self.known[argument] = self.symbol(HostExpr.path(Path("arg", name)))
        return found

    def array(self, name: str, type_: TensorType, origin: HostExpr, number: int) -> Value:
        """The elements of an array of the caller."""
        order, layout = None, Layout.CONTIGUOUS
        if self.layouts is not None and origin.attr.root == "arg":
            order, layout = self.layouts(number)
        buffer = Buffer(
            name, type_, len(self.graph.buffers), origin, order, layout, writeable=False
        )
        self.graph.buffers.append(buffer)
        value = Value(name, type_)
        self.graph.block.ops.append(Load(view=View.whole(buffer), version=0, results=(value,)))
        return value

    def tensor_type(self, type_: Any, op: Any, path: Path | None = None) -> TensorType:
        """The type of a tensor; with a path, ``?`` is a new symbol, and sizes are guarded."""
        ir, _ = mlir_modules()
        ranked = ir.RankedTensorType(type_) if str(type_)[:8] != "tensor<*" else None
        dtype = None if ranked is None else dtype_of(ranked.element_type)
        if ranked is None or dtype is None or ranked.encoding is not None:
            raise self.complaint(op, f"tensors of type {type_} are not read")
        extents = []
        for axis in range(ranked.rank):
            size = (
                None if ranked.is_dynamic_dim(axis) else AffineExpr.const(ranked.get_dim_size(axis))
            )
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

    def symbol(self, expr: HostExpr) -> AffineExpr:
        """A symbol for an integer of the launcher."""
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

    # -- ops ------------------------------------------------------------------------------------
    def read(self, op: Any) -> None:
        handler = _HANDLERS.get(op.name)
        if handler is None and len(op.results) == 1 and str(op.results[0].type) == "index":
            handler = _Reader.index_op
        if handler is None:
            raise self.complaint(op, "this operation is not read")
        try:
            handler(self, op)
        except ParseError as error:
            raise self.complaint(op, str(error)) from error

    def emit(self, op: Op) -> Value:
        self.graph.block.ops.append(op)
        return op.results[0]

    def entity(self, value: Any) -> Entity:
        if value not in self.known:
            raise self.complaint(value.owner, "its result cannot be used here")
        return self.known[value]

    def value(self, value: Any, op: Any) -> Value:
        """A graph value."""
        found = self.entity(value)
        if isinstance(found, Empty):
            raise self.complaint(op, "it reads a tensor.empty, whose elements are undefined")
        if isinstance(found, AffineExpr):
            raise self.complaint(op, "an index is no element of a tensor: cast it")
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
        return Value(f"x{len(self.graph.block.ops)}", type_, kind)

    def constant(self, op: Any) -> None:
        """``arith.constant``: an index, a number, a splat, an array."""
        result, attribute = op.results[0], op.attributes["value"]
        if str(result.type) == "index":
            self.known[result] = AffineExpr.const(attribute.value)
        elif not _is_tensor(result.type):
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

    def number(self, number: Any, dtype: np.dtype, op: Any) -> Value:
        value = self.new(TensorType(dtype), Kind.SCALAR)
        self.numbers[value] = number
        return self.emit(ConstantOp(number=number, results=(value,), location=self.location(op)))

    def filled(self, scalar: Value, type_: TensorType, op: Any) -> Value:
        """A tensor of one number everywhere."""
        rank = type_.rank
        made = self.emit(
            GenericOp(
                domain=type_.extents,
                iterators=(IteratorType.PARALLEL,) * rank,
                inputs=(Operand(scalar, IndexingMap.scalar(rank)),),
                inits=(Init(IndexingMap.identity(rank)),),
                payload=identity_payload(type_.dtype),
                name="fill",
                results=(self.new(type_),),
                location=self.location(op),
            )
        )
        if scalar in self.numbers:
            self.fills[made] = self.numbers[scalar]
        return made

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
        source = self.entity(op.operands[0])
        if isinstance(source, AffineExpr) and str(op.results[0].type) == "i64":
            value = self.new(TensorType(np.dtype(np.int64)), Kind.PYTHON)
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
        given = iter(op.operands)
        self.known[op.results[0]] = Empty(
            self.type_with(op.results[0].type, [self.index_of(v, op) for v in given], op)
        )

    def type_with(self, type_: Any, dynamic: Sequence[AffineExpr], op: Any) -> TensorType:
        """A tensor type whose ``?`` are given."""
        ir, _ = mlir_modules()
        ranked, given = ir.RankedTensorType(type_), iter(dynamic)
        dtype = dtype_of(ranked.element_type)
        if dtype is None:
            raise self.complaint(op, f"tensors of {ranked.element_type} are not read")
        extents = tuple(
            next(given) if ranked.is_dynamic_dim(a) else AffineExpr.const(ranked.get_dim_size(a))
            for a in range(ranked.rank)
        )
        return TensorType(dtype, extents)

    def alias(self, op: Any) -> None:
        """An operation that changes the type alone; sizes that it states are required."""
        source = self.entity(op.operands[0])
        self.known[op.results[0]] = source
        if op.name == "tensor.cast" and not isinstance(source, AffineExpr):
            ir, _ = mlir_modules()
            ranked = ir.RankedTensorType(op.results[0].type)
            for axis, extent in enumerate(source.type.extents):
                if not ranked.is_dynamic_dim(axis):
                    size = AffineExpr.const(ranked.get_dim_size(axis))
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
        self.known[op.results[0]] = self.filled(scalar, out.type, op)

    def view(self, op: Any, indexing_map: IndexingMap, extents: Sequence[AffineExpr]) -> None:
        """A view of the first operand."""
        source = self.entity(op.operands[0])
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
        operands = list(op.operands)
        counts = list(op.attributes["operandSegmentSizes"])
        parts: list[list[AffineExpr]] = []
        at = counts[0]
        for name, count in zip(("offsets", "sizes", "strides"), counts[1:], strict=True):
            dynamic = iter([self.index_of(v, op) for v in operands[at : at + count]])
            at += count
            static = list(op.attributes[f"static_{name}"])
            parts.append([next(dynamic) if s == _DYNAMIC else AffineExpr.const(s) for s in static])
        offsets, sizes, steps = parts
        extents = self.extents_of(operands[0])
        kept = self.kept_axes(op, sizes)
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
        self.view(op, IndexingMap(len(shape), tuple(results)), shape)

    def require_natural(self, size: AffineExpr, op: Any) -> None:
        """A size that is computed is not negative."""
        if size.as_symbol() in self.sizes.axes or (size.is_constant and size.constant >= 0):
            return
        self.guard(
            HostExpr("ge", (host(size), HostExpr.const(0))),
            f"{op.name} of line {self.location(op).line}: the size {size} is negative",
            self.location(op),
        )

    def kept_axes(self, op: Any, sizes: Sequence[AffineExpr]) -> list[int]:
        """The axes of a slice that its result has: those dropped are of length 1."""
        ir, _ = mlir_modules()
        ranked = ir.RankedTensorType(op.results[0].type)
        kept: list[int] = []
        for axis, size in enumerate(sizes):
            at = len(kept)
            if at == ranked.rank:
                break
            wanted = None if ranked.is_dynamic_dim(at) else ranked.get_dim_size(at)
            if wanted == size.as_constant():
                kept.append(axis)
        return kept

    def collapse_shape(self, op: Any) -> None:
        """``tensor.collapse_shape``: ``(d0 floordiv n, d0 mod n)``."""
        extents = self.extents_of(op.operands[0])
        results: list[AffineExpr] = []
        shape: list[AffineExpr] = []
        groups = [[i.value for i in group] for group in op.attributes["reassociation"]]
        for at, group in enumerate(groups):
            rest, product = AffineExpr.dim(at), AffineExpr.const(1)
            parts: list[AffineExpr] = []
            for position, axis in enumerate(reversed(group)):
                extent = extents[axis]
                is_last = position == len(group) - 1
                parts.append(rest if is_last else self.mod(rest, extent, op))
                rest = rest if is_last else self.quotient(rest, extent, op)
                product = self.product(product, extent)
            results += parts[::-1]
            shape.append(product)
        self.view(op, IndexingMap(len(groups), tuple(results)), shape)

    def expand_shape(self, op: Any) -> None:
        """``tensor.expand_shape``: ``n * d0 + d1``, for inner sizes that are constants."""
        operands = list(op.operands)
        static = list(op.attributes["static_output_shape"])
        dynamic = iter([self.index_of(v, op) for v in operands[1:]])
        shape = [next(dynamic) if s == _DYNAMIC else AffineExpr.const(s) for s in static]
        results = []
        for axis, group in enumerate(op.attributes["reassociation"]):
            total, size = AffineExpr.const(0), AffineExpr.const(1)
            for item in reversed(list(group)):
                dim = item.value
                if size.as_constant() is None:
                    raise self.complaint(op, "an inner size of the new shape is not a constant")
                total = total + AffineExpr.dim(dim) * size.constant
                size = self.product(size, shape[dim])
            results.append(total)
            extent = self.extents_of(operands[0])[axis]
            self.sizes.require_equal(extent, size, f"{op.name}, axis {axis}", self.location(op))
        self.view(op, IndexingMap(len(shape), tuple(results)), shape)

    def mod(self, expr: AffineExpr, size: AffineExpr, op: Any) -> AffineExpr:
        return expr.mod(self.divisor(size, op))

    def quotient(self, expr: AffineExpr, size: AffineExpr, op: Any) -> AffineExpr:
        return expr.floordiv(self.divisor(size, op))

    def divisor(self, size: AffineExpr, op: Any) -> AffineExpr:
        """A divisor: a positive constant (1 for an axis without elements) or a symbol."""
        constant = size.as_constant()
        if constant is not None:
            return AffineExpr.const(max(constant, 1))
        if size.as_symbol() is None:
            raise self.complaint(op, f"the inner size {size} is neither a constant nor a symbol")
        return size

    def product(self, left: AffineExpr, right: AffineExpr) -> AffineExpr:
        for factor, other in ((left, right), (right, left)):
            if factor.is_constant:
                return other * factor.constant
        return self.symbol(HostExpr("mul", (host(left), host(right))))

    def returns(self, op: Any) -> None:
        """``func.return``."""
        results: list[Value] = []
        for operand in op.operands:
            found = self.entity(operand)
            if isinstance(found, AffineExpr):
                self.returned.append(host(found))
                continue
            self.returned.append(len(results))
            results.append(self.value(operand, op))
        self.graph.results = tuple(results)

    # -- linalg.generic -------------------------------------------------------------------------
    def generic(self, op: Any) -> None:
        """``linalg.generic``."""
        num_inputs = next(iter(op.attributes["operandSegmentSizes"]))
        operands = list(op.operands)
        maps = [
            parse_indexing_map(str(m).removeprefix("affine_map<").removesuffix(">"))
            for m in op.attributes["indexing_maps"]
        ]
        iterators = _iterators(op)
        domain = self.domain(op, operands, maps, len(iterators))
        block = op.regions[0].blocks[0]
        arguments = list(block.arguments)
        inputs = [
            (argument, Operand(self.value(value, op), indexing_map))
            for argument, value, indexing_map in zip(
                arguments[:num_inputs], operands, maps, strict=False
            )
            if list(argument.uses)
        ]
        outs = [(a, self.element(a, op)) for a in arguments[num_inputs:]]
        reader = BodyReader(
            block, self.entity, inputs, outs, len(domain), self.complaint, self.numbers
        )
        has_reduction = IteratorType.REDUCTION in iterators
        combined = self.combiners(op, block, outs) if has_reduction else {}
        reader.skipped = [list(block)[-1].operation.operands[k] for k in combined]
        payload = reader.payload({k: partial for k, (_, partial) in combined.items()})
        inits, results = [], []
        for k, (value, indexing_map) in enumerate(
            zip(operands[num_inputs:], maps[num_inputs:], strict=True)
        ):
            combiner = combined[k][0] if k in combined else None
            init, type_ = self.init(op, value, indexing_map, combiner, payload, k, domain)
            inits.append(init)
            results.append(self.new(type_))
        made = GenericOp(
            domain=domain,
            iterators=iterators,
            inputs=tuple(reader.inputs),
            inits=tuple(inits),
            payload=payload,
            name=_name_of(payload, inits),
            results=tuple(results),
            location=self.location(op),
        )
        loose = tuple(
            Init(i.map, i.combiner) if is_overwritten(made, k) else i for k, i in enumerate(inits)
        )
        made.inits = loose
        if (
            is_matrix_product(made)
            and made.results[0].type.dtype.kind == "f"
            and not loose[0].start
        ):
            made.name = made.library_call = "matmul"
        self.emit(made)
        written = constant_written(made)
        if isinstance(written, tuple):
            self.fills[results[0]] = written[0]
        elif written in self.numbers:
            self.fills[results[0]] = self.numbers[written]
        for k, result in enumerate(op.results):
            self.known[result] = results[k]
        for number, operand in enumerate(made.inputs):
            if number not in {i.attr for i in payload.instrs if i.op == "extract"}:
                for axis, (expr, extent) in enumerate(
                    zip(operand.map.results, operand.value.type.extents, strict=True)
                ):
                    dim = expr.as_dim()
                    if dim is None or domain[dim] != extent:
                        self.sizes.require_inside(
                            expr, domain, extent,
                            f"{op.name} of line {self.location(op).line}, axis {axis}",
                            self.location(op),
                        )  # fmt: skip

    def element(self, argument: Any, op: Any) -> np.dtype:
        dtype = dtype_of(argument.type)
        if dtype is None:
            raise self.complaint(op, f"elements of type {argument.type} are not compiled")
        return dtype

    def domain(
        self, op: Any, operands: Sequence[Any], maps: Sequence[IndexingMap], rank: int
    ) -> tuple[AffineExpr, ...]:
        """The extent of each dim: that of the first operand of which it is an axis by itself."""
        found: dict[int, AffineExpr] = {}
        where = self.location(op)
        for number, (value, indexing_map) in enumerate(zip(operands, maps, strict=True)):
            if not _is_tensor(value.type):
                continue
            for axis, expr in enumerate(indexing_map.results):
                dim = expr.as_dim()
                if dim is None:
                    continue
                extent = self.extents_of(value)[axis]
                if dim in found:
                    what = f"{op.name} of line {where.line}: axis {axis} of operand {number}"
                    self.sizes.require_equal(found[dim], extent, what, where)
                else:
                    found[dim] = extent
        if len(found) < rank:
            raise self.complaint(op, "no operand gives the extent of a dim")
        return tuple(found[d] for d in range(rank))

    def combiners(
        self, op: Any, block: Any, outs: Sequence[tuple[Any, np.dtype]]
    ) -> dict[int, tuple[str, Any]]:
        """For each result that is reduced: its combiner, and what is combined with it."""
        yielded = list(list(block)[-1].operation.operands)
        found: dict[int, tuple[str, Any]] = {}
        for k, (argument, dtype) in enumerate(outs):
            if not list(argument.uses):
                continue
            table = BOOL_COMBINER_OPS if dtype.kind == "b" else COMBINER_OPS
            owner = getattr(yielded[k], "owner", None)
            last: Any = getattr(owner, "operation", owner)
            name = getattr(last, "name", "")
            operands = list(last.operands) if name in table else []
            others = [v for v in operands if v != argument]
            once = len(list(argument.uses)) == 1 and len(list(yielded[k].uses)) == 1
            if len(others) != 1 or not once:
                raise self.complaint(
                    op, f"result {k} is not reduced by one of {', '.join(sorted(table))}"
                )
            found[k] = (table[name], others[0])
        return found

    def init(
        self,
        op: Any,
        value: Any,
        indexing_map: IndexingMap,
        combiner: str | None,
        payload: Payload,
        number: int,
        domain: tuple[AffineExpr, ...],
    ) -> tuple[Init, TensorType]:
        """Where a result starts, and its type."""
        out = self.entity(value)
        assert not isinstance(out, AffineExpr)
        dtype = out.type.dtype
        if isinstance(out, Empty):
            if combiner is not None or payload.reads_init(number):
                raise self.complaint(op, "it reads its result, which starts as a tensor.empty")
            extents = tuple(
                extent if (dim := expr.as_dim()) is None else domain[dim]
                for expr, extent in zip(indexing_map.results, out.type.extents, strict=True)
            )
            return Init(indexing_map), TensorType(dtype, extents)
        if combiner is not None and out in self.fills:
            identity = dtype.type(COMBINERS[combiner].identity(dtype))
            if identity.tobytes() == dtype.type(self.fills[out]).tobytes():
                return Init(indexing_map, combiner), out.type
        return Init(indexing_map, combiner, out), out.type


def _iterators(op: Any) -> tuple[IteratorType, ...]:
    if op.name == "linalg.matmul":
        return (IteratorType.PARALLEL, IteratorType.PARALLEL, IteratorType.REDUCTION)
    return tuple(
        IteratorType(re.sub(r".*<|>", "", str(i))) for i in op.attributes["iterator_types"]
    )


def _parameter_names(arguments: Any) -> list[str]:
    """The names that the locations of the arguments give them, else ``arg0``, ``arg1``."""
    names: list[str] = []
    for at, argument in enumerate(arguments):
        match = re.match(r'loc\("(\w+)"', str(argument.location))
        name = match[1] if match and match[1].isidentifier() else f"arg{at}"
        names.append(name if name not in names else f"{name}_{at}")
    return names


def _name_of(payload: Payload, inits: Sequence[Init]) -> str:
    if inits[0].combiner is not None:
        return inits[0].combiner
    return payload.instrs[-1].op if payload.instrs else "copy"


_DYNAMIC = -(2**63)
_HANDLERS: dict[str, Callable[[_Reader, Any], None]] = {
    "arith.constant": _Reader.constant,
    "arith.index_cast": _Reader.index_cast,
    "affine.apply": _Reader.index_op,
    "tensor.dim": _Reader.dim,
    "tensor.empty": _Reader.empty,
    "tensor.cast": _Reader.alias,
    "tensor.splat": _Reader.splat,
    "tensor.from_elements": _Reader.from_elements,
    "tensor.extract_slice": _Reader.extract_slice,
    "tensor.collapse_shape": _Reader.collapse_shape,
    "tensor.expand_shape": _Reader.expand_shape,
    "linalg.fill": _Reader.fill,
    "linalg.generic": _Reader.generic,
    "linalg.matmul": _Reader.generic,
    "func.return": _Reader.returns,
}

__all__ = ["FusejitError", "MlirProgram", "Parameter", "read_mlir"]
