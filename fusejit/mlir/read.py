"""A ``func.func`` over tensors and memrefs as a `Graph`, through the real MLIR bindings.

Named operations of linalg and elementwise operations on tensors are generalised by MLIR's own
passes first; what is left is ``linalg.generic`` and the operations of the table `_HANDLERS`.
Results are returned, and tensors are never modified: an ``outs`` that is an argument gives its
elements to start from. Memrefs are memory of the caller, which stores write to.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from fusejit.dataclass import dataclass, field
from fusejit.errors import ParseError, UnsupportedError, VerificationError
from fusejit.fuse.canonical.stale_loads import with_versions
from fusejit.ir.affine import AffineExpr
from fusejit.ir.graph import Graph, HostScalar
from fusejit.ir.host import HostExpr, Path
from fusejit.ir.types import Kind, TensorType
from fusejit.ir.values import Value
from fusejit.ir.verifier.verify import verify
from fusejit.mlir.bindings import mlir_modules, run_passes
from fusejit.mlir.export.patterns import live_ops
from fusejit.mlir.nesting import require_few_levels
from fusejit.mlir.read_body import dtype_of
from fusejit.mlir.read_memory import MemoryReader
from fusejit.mlir.read_named import definition_of
from fusejit.mlir.read_state import LayoutOf, is_shaped, is_tensor
from fusejit.mlir.size_facts import Sizes, host

_OF_NUMBERS = ("arith.", "math.")
GENERALIZE = (
    "builtin.module(inline,func.func(convert-elementwise-to-linalg,linalg-generalize-named-ops))"
)


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of the function: a tensor with its type, or a number (``type`` of rank 0).

    One that ``is_memory`` is a memref, which the function may write to.
    """

    name: str
    type: TensorType
    is_tensor: bool
    is_memory: bool = False


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
        If MLIR does not accept the text, with MLIR's message, or if it is nested too deeply.
    UnsupportedError
        If the function uses an operation that has no form in fusejit's graphs.
    """
    require_few_levels(text)
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
            sizes.guards, sizes.ranges = [], {}
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
    def is_read(op: Any) -> bool:
        if op.name == "scf.for":
            return not _needs_generalizing(op)
        if op.name.startswith(_OF_NUMBERS):
            return op.name == "arith.constant" or not is_tensor(op.results[0].type)
        return op.name in known or _is_index(op) or definition_of(op) is not None

    known = {"scf.yield", *_HANDLERS}
    return not all(is_read(op.operation) for op in function.regions[0].blocks[0])


def _is_index(op: Any) -> bool:
    return len(op.results) == 1 and str(op.results[0].type) == "index"


class _Reader(MemoryReader):
    """Reads one function once."""

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
        self.graph = with_versions(self.graph)
        return MlirProgram(
            self.name, self.graph, tuple(parameters), tuple(self.returned), self.constants
        )

    def parameters(self, arguments: Any) -> list[Parameter]:
        names = _parameter_names(arguments)
        found: list[Parameter] = []
        indices: list[tuple[Any, str]] = []
        for name, argument in zip(names, arguments, strict=True):
            path, text = HostExpr.path(Path("arg", name)), str(argument.type)
            if is_tensor(argument.type):
                type_ = self.tensor_type(argument.type, self.function, Path("arg", name))
                found.append(Parameter(name, type_, True))
                self.known[argument] = self.array(name, type_, path, len(found) - 1)
                continue
            if is_shaped(argument.type):
                type_ = self.tensor_type(argument.type, self.function, Path("arg", name))
                found.append(Parameter(name, type_, True, is_memory=True))
                buffer = self.buffer(name, type_, path, len(found) - 1, writeable=True)
                self.known[argument] = self.tensor_of(buffer)
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

    def read(self, op: Any) -> None:
        handler = _HANDLERS.get(op.name)
        if handler is None and (named := definition_of(op)) is not None:
            self.named(op, named)
            self.done.add(op)
            return
        if handler is None and _is_index(op):
            handler = _Reader.index_op
        if handler is None and op.name.startswith(_OF_NUMBERS):
            handler = _Reader.scalar
        if handler is None:
            raise self.complaint(op, "this operation is not read")
        try:
            handler(self, op)
        except ParseError as error:
            raise self.complaint(op, str(error)) from error
        self.done.add(op)

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


def _parameter_names(arguments: Any) -> list[str]:
    """The names that the locations of the arguments give them, else ``arg0``, ``arg1``."""
    names: list[str] = []
    for at, argument in enumerate(arguments):
        match = re.match(r'loc\("(\w+)"', str(argument.location))
        name = match[1] if match and match[1].isidentifier() else f"arg{at}"
        names.append(name if name not in names else f"{name}_{at}")
    return names


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
    "tensor.extract": _Reader.extract,
    "tensor.insert": _Reader.insert,
    "tensor.insert_slice": _Reader.insert_slice,
    "tensor.pad": _Reader.pad,
    "memref.alloc": _Reader.alloc,
    "memref.alloca": _Reader.alloc,
    "memref.cast": _Reader.alias,
    "memref.copy": _Reader.memref_copy,
    "memref.dealloc": _Reader.nothing,
    "memref.dim": _Reader.dim,
    "memref.load": _Reader.extract,
    "memref.store": _Reader.memref_store,
    "memref.subview": _Reader.subview,
    "scf.for": _Reader.loop,
    "linalg.contract": _Reader.category,
    "linalg.elementwise": _Reader.category,
    "linalg.pack": _Reader.pack,
    "linalg.unpack": _Reader.unpack,
    "linalg.softmax": _Reader.softmax,
    "linalg.fill": _Reader.fill,
    "linalg.generic": _Reader.generic,
    "linalg.matmul": _Reader.generic,
    "func.return": _Reader.returns,
}


__all__ = ["MlirProgram", "Parameter", "read_mlir"]
