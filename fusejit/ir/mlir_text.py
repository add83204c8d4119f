"""A graph as MLIR text: ``func.func`` over tensors, with ``linalg`` and ``tensor`` operations.

Every `GenericOp` becomes a ``linalg.generic`` (or ``linalg.fill``, ``linalg.matmul`` where it is
one). linalg derives the iteration domain from its operands, so where these do not give it, parts
are cut out (``tensor.extract_slice``), a ``tensor.empty`` of the right shape is added as an
operand, or the element is read in the body (``tensor.extract``). Arguments are called as the user
calls them in the locations of the function's arguments. Sizes are ``tensor.dim``; other integers
of the launcher are ``index`` arguments.

What MLIR has no tensors for raises `UnsupportedError`: stores, loops, conditionals, host calls.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fusejit.errors import UnsupportedError
from fusejit.ir.affine import AffineExpr
from fusejit.ir.graph import (
    Alloc,
    Buffer,
    ConstantOp,
    GenericOp,
    Graph,
    Init,
    Load,
    Op,
    Operand,
    Store,
    Value,
    View,
    ViewOp,
)
from fusejit.ir.host import HostExpr
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.mlir_body import BodyWriter
from fusejit.ir.mlir_ops import INDEX_OPS, affine_of, literal, mlir_type
from fusejit.ir.mlir_patterns import (
    Cut,
    constant_written,
    cut_of,
    is_matrix_product,
    live_ops,
    map_text,
)
from fusejit.ir.payload import identity_payload
from fusejit.ir.printer import print_op
from fusejit.ir.scalar_ops import COMBINERS
from fusejit.ir.types import IteratorType, TensorType

_I64 = np.dtype(np.int64)


def mlir_text(graph: Graph) -> str:
    """The text of a graph for ``mlir-opt``, with a newline at its end.

    Parameters
    ----------
    graph : Graph
        A graph without stores, loops, conditionals and host calls.

    Raises
    ------
    UnsupportedError
        Where MLIR's tensor operations cannot say it; the message has the op and the user's line.
    """
    return _Emitter(graph).text()


@dataclass(frozen=True, slots=True)
class Ssa:
    """A name of the text and its type; ``extents`` is None for a number that is no tensor."""

    name: str
    dtype: np.dtype
    extents: tuple[AffineExpr, ...] | None

    @property
    def type(self) -> str:
        """``tensor<?x3xf64>`` or ``f64``."""
        return mlir_type(self.dtype) if self.extents is None else tensor_type(self)


def tensor_type(ssa: Ssa) -> str:
    """The tensor type, ``?`` for what is not a constant."""
    sizes = [e.as_constant() for e in ssa.extents or ()]
    return (
        "tensor<"
        + "".join(f"{'?' if n is None else n}x" for n in sizes)
        + f"{mlir_type(ssa.dtype)}>"
    )


class _Emitter:
    """The text of one graph under construction."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.lines: list[str] = []
        self.values: dict[Value, Ssa] = {}
        self.arrays: dict[Buffer, Ssa] = {}  # buffers of arguments
        self.parameters: list[str] = []
        self.names: set[str] = set()
        self.count = 0
        self.computed: dict[Value, HostExpr] = {}  # numbers that the text computes from sizes
        self.indices: dict[AffineExpr, str] = {}  # index arithmetic written so far
        self.host_indices: dict[HostExpr, str] = {}
        self.used_symbols: set[str] = set()
        self._name_symbols()

    # -- the function ---------------------------------------------------------------------------
    def text(self) -> str:
        """All of it."""
        for buffer in self.graph.buffers:
            if buffer.origin is not None:
                type_ = self.canonical_type(buffer.type)
                ssa = Ssa(f"%arg{len(self.parameters)}", type_.dtype, type_.extents)
                self.arrays[buffer] = ssa
                self.parameter(ssa.type, buffer.origin, buffer.name)
        for scalar in self.graph.scalars:
            if scalar.value.type.dtype == _I64 and self.is_computed(scalar.expr):
                self.computed[scalar.value] = scalar.expr
                continue
            ssa = Ssa(f"%arg{len(self.parameters)}", scalar.value.type.dtype, None)
            self.values[scalar.value] = ssa
            self.parameter(ssa.type, scalar.expr, scalar.value.name)
        for op in live_ops(self.graph):
            self.op(op)
        results = [self.result(r) for r in self.graph.results]
        types = ", ".join(r.type for r in results)
        names = ", ".join(r.name for r in results)
        head = self.sizes()
        arrow = "" if not results else f" -> {types}" if len(results) == 1 else f" -> ({types})"
        name = re.sub(r"\W", "_", self.graph.name) or "function"
        whole = "\n".join(
            [
                f"func.func @{name}({', '.join(self.parameters)}){arrow} {{",
                *(f"  {line}" for line in (*head, *self.lines)),
                f"  return {names} : {types}" if results else "  return",
                "}\n",
            ]
        )
        numbers = {symbol: at for at, symbol in enumerate(sorted(self.used_symbols))}
        return re.sub(r"%(s\d{4})\b", lambda m: f"%s{numbers[m[1]]}", whole)

    def parameter(self, type_: str, origin: HostExpr, otherwise: str) -> None:
        """One more parameter of the function, called as the user calls it."""
        text = origin.attr.user_text() if origin.op == "path" else otherwise
        base = name = re.sub(r"\W+", "_", text).strip("_") or "argument"
        while name in self.names:
            name = f"{base}_{len(self.names)}"
        self.names.add(name)
        self.parameters.append(f'%arg{len(self.parameters)}: {type_} loc("{name}")')

    def _name_symbols(self) -> None:
        """Symbols in the order of the axes that have them, whatever the graph calls them."""
        order: list[str] = []
        self.axis_of: dict[str, tuple[Buffer, int]] = {}
        for buffer in self.graph.buffers:
            for axis, extent in enumerate(buffer.type.extents if buffer.origin else ()):
                name = extent.as_symbol()
                if name is not None and name not in order:
                    order.append(name)
                    self.axis_of[f"s{len(order) - 1:04d}"] = (buffer, axis)
        self.exprs = {s.name: s.expr for s in self.graph.symbols}
        order += [name for name in self.exprs if name not in order]
        self.renamed = {name: AffineExpr.symbol(f"s{at:04d}") for at, name in enumerate(order)}
        self.host_of = {f"s{at:04d}": name for at, name in enumerate(order)}

    def canonical(self, expr: AffineExpr) -> AffineExpr:
        return expr.substitute(symbols=self.renamed)

    def canonical_type(self, type_: TensorType) -> TensorType:
        return TensorType(type_.dtype, tuple(map(self.canonical, type_.extents)))

    def sizes(self) -> list[str]:
        """The lines that name the symbols the text uses; other integers become parameters."""
        lines: list[str] = []
        axes: set[int] = set()
        for symbol in sorted(self.used_symbols):
            if symbol in self.axis_of:
                buffer, axis = self.axis_of[symbol]
                array = self.arrays[buffer]
                if axis not in axes:
                    lines.append(f"%c{axis} = arith.constant {axis} : index")
                    axes.add(axis)
                lines.append(f"%{symbol} = tensor.dim {array.name}, %c{axis} : {array.type}")
                continue
            name = self.host_of[symbol]
            before = len(self.parameters)
            self.parameter("index", self.exprs[name], name)
            # the parameter is known to the lines by its symbol's name
            self.parameters[-1] = self.parameters[-1].replace(f"%arg{before}:", f"%{symbol}:", 1)
        return lines

    # -- lines ----------------------------------------------------------------------------------
    def define(self, text: str) -> str:
        """A line of its own, and the name of its result."""
        name = f"%{self.count}"
        self.count += 1
        self.lines.append(f"{name} = {text}")
        return name

    def symbol(self, name: str) -> str:
        """The name of a symbol in the text."""
        expr = None if name in self.axis_of else self.exprs[self.host_of[name]]
        if expr is not None and self.is_computed(expr):
            return self.host_index(expr)
        self.used_symbols.add(name)
        return f"%{name}"

    def index(self, expr: AffineExpr) -> str:
        """An integer for offsets and sizes: ``3``, or the name of an index."""
        constant = expr.as_constant()
        if constant is not None:
            return str(constant)
        symbol = expr.as_symbol()
        if symbol is not None:
            return self.symbol(symbol)
        if expr not in self.indices:
            names = sorted(expr.symbols())
            text = map_text(IndexingMap(0, (expr,)), names)
            given = ", ".join(map(self.symbol, names))
            self.indices[expr] = self.define(f"affine.apply affine_map<{text}>()[{given}]")
        return self.indices[expr]

    def is_computed(self, expr: HostExpr) -> bool:
        """Whether an integer of the launcher is arithmetic on sizes that MLIR has for indices."""
        if expr.op == "name":
            return expr.attr in self.renamed
        if expr.op == "const":
            return type(expr.attr) is int
        return expr.op == "size" or (
            expr.op in INDEX_OPS and all(map(self.is_computed, expr.operands))
        )

    def host_index(self, expr: HostExpr) -> str:
        """The name of an integer that is computed from sizes."""
        affine = self.affine(expr)
        if affine is not None:
            constant = affine.as_constant()
            if constant is not None:
                return self.define(f"arith.constant {constant} : index")
            return self.index(affine)
        if expr not in self.host_indices:
            left, right = map(self.host_index, expr.operands)
            text = f"{INDEX_OPS[expr.op]} {left}, {right} : index"
            self.host_indices[expr] = self.define(text)
        return self.host_indices[expr]

    def affine(self, expr: HostExpr) -> AffineExpr | None:
        """A host expression as an affine one of the text's symbols, if it is one."""
        if expr.op == "const":
            return AffineExpr.const(expr.attr)
        if expr.op == "name":
            return self.renamed[expr.attr]
        if expr.op == "size":
            path, axis = expr.attr
            for buffer, array in self.arrays.items():
                if buffer.origin is not None and buffer.origin.attr == path:
                    extent: AffineExpr = (array.extents or ())[axis]
                    return extent
            return None
        operands = [self.affine(o) for o in expr.operands]
        known = [o for o in operands if o is not None]
        return None if len(known) < 2 else affine_of(expr.op, *known)

    def value(self, value: Value) -> Ssa:
        """The name of a value; a number that is computed from sizes is written when it is used."""
        if value in self.computed and value not in self.values:
            index = self.host_index(self.computed[value])
            name = self.define(f"arith.index_cast {index} : index to i64")
            self.values[value] = Ssa(name, _I64, None)
        return self.values[value]

    def unsupported(self, op: Op, what: str) -> UnsupportedError:
        text = print_op(op).splitlines()[0]
        return UnsupportedError(
            f"{self.graph.name}: {what}; the op is `{text}` at {op.location}. MLIR text is made "
            "of functions that compute new arrays: see docs/mlir.md"
        )

    # -- ops ------------------------------------------------------------------------------------
    def op(self, op: Op) -> None:
        """The lines of one op."""
        match op:
            case GenericOp():
                self.generic(op)
            case ConstantOp():
                dtype = op.results[0].type.dtype
                name = self.define(
                    f"arith.constant {literal(op.number, dtype)}"
                    + ("" if dtype.kind == "b" else f" : {mlir_type(dtype)}")
                )
                self.values[op.results[0]] = Ssa(name, dtype, None)
            case ViewOp():
                source = self.value(op.source)
                extents = op.results[0].type.extents
                self.values[op.results[0]] = self.view(op, op.source, source, op.map, extents)
            case Load():
                self.values[op.results[0]] = self.load(op, op.view)
            case Store() | Alloc():
                raise self.unsupported(op, "a store into an array has no form on tensors")
            case _:
                raise self.unsupported(op, f"a {type(op).__name__.lower()} has no form on tensors")

    def result(self, result: Value | View) -> Ssa:
        """What is returned."""
        if isinstance(result, Value):
            return self.value(result)
        value = Value("result", result.type)
        op = Load(view=result, version=0, results=(value,))
        return self.load(op, result)

    def load(self, op: Load, view: View) -> Ssa:
        if view.buffer not in self.arrays:
            raise self.unsupported(op, f"{view.buffer!r} is memory of the function itself")
        whole = Value(view.buffer.name, view.buffer.type)
        self.values[whole] = self.arrays[view.buffer]
        return self.view(op, whole, self.arrays[view.buffer], view.map, view.extents)

    def view(
        self,
        op: Op,
        value: Value,
        source: Ssa,
        indexing_map: IndexingMap,
        extents: Sequence[AffineExpr],
    ) -> Ssa:
        """Nothing, a slice, or a copy that reads through the map."""
        canonical = tuple(map(self.canonical, extents))
        shown = IndexingMap(indexing_map.num_dims, tuple(map(self.canonical, indexing_map.results)))
        if shown.is_identity and canonical == (source.extents or ()):
            return source
        if source.extents is not None:
            cut = cut_of(shown, canonical, source.extents, everything=True)
            if cut is not None and [d for d in cut.dims if d is not None] == list(
                range(len(extents))
            ):
                return source if cut.is_whole else self.slice(source, cut)
        copied = Value(value.name, TensorType(source.dtype, tuple(extents)))
        copy = GenericOp(
            domain=tuple(extents),
            iterators=(IteratorType.PARALLEL,) * len(extents),
            inputs=(Operand(value, indexing_map),),
            inits=(Init(IndexingMap.identity(len(extents))),),
            payload=identity_payload(source.dtype),
            name="copy",
            results=(copied,),
            location=op.location,
        )
        self.generic(copy)
        return self.values[copied]

    def slice(self, source: Ssa, cut: Cut) -> Ssa:
        """``tensor.extract_slice``; axes without a dim are dropped."""
        offsets = ", ".join(map(self.index, cut.offsets))
        sizes = ", ".join(map(self.index, cut.sizes))
        steps = ", ".join(map(str, cut.steps))
        kept = tuple(s for s, d in zip(cut.sizes, cut.dims, strict=True) if d is not None)
        result = Ssa("", source.dtype, kept)
        name = self.define(
            f"tensor.extract_slice {source.name}[{offsets}] [{sizes}] [{steps}] : "
            f"{source.type} to {result.type}"
        )
        return Ssa(name, source.dtype, kept)

    def empty(self, dtype: np.dtype, extents: tuple[AffineExpr, ...]) -> Ssa:
        given = ", ".join(self.index(e) for e in extents if e.as_constant() is None)
        result = Ssa("", dtype, extents)
        return Ssa(self.define(f"tensor.empty({given}) : {result.type}"), dtype, extents)

    def fill(self, scalar: Ssa, extents: tuple[AffineExpr, ...]) -> Ssa:
        out = self.empty(scalar.dtype, extents)
        name = self.define(
            f"linalg.fill ins({scalar.name} : {scalar.type}) outs({out.name} : {out.type}) "
            f"-> {out.type}"
        )
        return Ssa(name, scalar.dtype, extents)

    def number(self, number: object, dtype: np.dtype) -> Ssa:
        text = literal(number, dtype)
        typed = text if dtype.kind == "b" else f"{text} : {mlir_type(dtype)}"
        return Ssa(self.define(f"arith.constant {typed}"), dtype, None)

    # -- generic ops ----------------------------------------------------------------------------
    def start(self, op: GenericOp, init: Init, result: Value) -> Ssa:
        """The tensor a result starts from."""
        type_ = self.canonical_type(result.type)
        if init.start is not None:
            start = self.value(init.start)
            if start.extents is None:
                name = self.define(f"tensor.from_elements {start.name} : tensor<{start.type}>")
                return Ssa(name, start.dtype, ())
            return start
        if init.combiner is not None:
            identity = COMBINERS[init.combiner].identity(type_.dtype)
            return self.fill(self.number(identity, type_.dtype), type_.extents)
        return self.empty(type_.dtype, type_.extents)

    def generic(self, op: GenericOp) -> None:
        """A generic op, by the most specific operation that says it."""
        if IteratorType.SEQUENTIAL in op.iterators:
            raise self.unsupported(op, "linalg has no sequential dims")
        written = constant_written(op)
        if written is not None:
            scalar = self.value(written) if isinstance(written, Value) else self.number(*written)
            if scalar.extents is None:
                type_ = self.canonical_type(op.results[0].type)
                self.values[op.results[0]] = self.fill(scalar, type_.extents)
                return
        domain = tuple(map(self.canonical, op.domain))
        reads: list[tuple[Ssa, IndexingMap] | None] = [
            self.read(o, domain) if at not in gathered_only(op) else None
            for at, o in enumerate(op.inputs)
        ]
        starts = [self.start(op, i, r) for i, r in zip(op.inits, op.results, strict=True)]
        outs = []
        for init, start in zip(op.inits, starts, strict=True):
            shown = self.shown(init.map)
            for expr, extent in zip(shown.results, start.extents or (), strict=True):
                dim = expr.as_dim()
                fits = expr.as_constant() is not None if dim is None else domain[dim] == extent
                if not fits:
                    raise self.unsupported(op, f"results are written in part, by {init.map}")
            outs.append((start, shown))
        ins = [r for r in reads if r is not None]
        if is_matrix_product(op) and len(ins) == 2:
            (a, _), (b, _), out = *ins, starts[0]
            name = self.define(
                f"linalg.matmul ins({a.name}, {b.name} : {a.type}, {b.type}) "
                f"outs({out.name} : {out.type}) -> {out.type}"
            )
            self.values[op.results[0]] = Ssa(name, out.dtype, out.extents)
            return
        ins += self.shapes(domain, [*ins, *outs], outs[0][0].dtype)
        body = BodyWriter(op, self.renamed, self.symbol, op.location)
        for at, (operand, read) in enumerate(zip(op.inputs, reads, strict=True)):
            source = self.value(operand.value)
            body.add_input(at, source.name, source.type, has_argument=read is not None)
        lines = body.write()
        arguments = [f"%in{k}: {mlir_type(s.dtype)}" for k, (s, _) in enumerate(ins)]
        arguments += [f"%out{k}: {mlir_type(s.dtype)}" for k, (s, _) in enumerate(outs)]
        maps = ", ".join(f"affine_map<{map_text(m, [])}>" for _, m in (*ins, *outs))
        iterators = ", ".join(f'"{i.value}"' for i in op.iterators)
        in_text = _operands("ins", [s for s, _ in ins])
        types = [s.type for s, _ in outs]
        name = f"%{self.count}"
        self.count += 1
        head = name if len(outs) == 1 else f"{name}:{len(outs)}"
        self.lines += [
            f"{head} = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{iterators}]}} "
            f"{in_text}{_operands('outs', [s for s, _ in outs])}{{",
            f"^bb0({', '.join(arguments)}):",
            *(f"  {line}" for line in lines),
            f"}} -> {types[0] if len(types) == 1 else '(' + ', '.join(types) + ')'}",
        ]
        for k, (result, (out, _)) in enumerate(zip(op.results, outs, strict=True)):
            part = name if len(outs) == 1 else f"{name}#{k}"
            self.values[result] = Ssa(part, out.dtype, out.extents)

    def shown(self, indexing_map: IndexingMap) -> IndexingMap:
        return IndexingMap(indexing_map.num_dims, tuple(map(self.canonical, indexing_map.results)))

    def read(
        self, operand: Operand, domain: tuple[AffineExpr, ...]
    ) -> tuple[Ssa, IndexingMap] | None:
        """The tensor and map of an input; None if its elements are read in the body."""
        source = self.value(operand.value)
        shown = self.shown(operand.map)
        if source.extents is None:
            return source, shown
        cut = cut_of(shown, domain, source.extents, everything=False)
        if cut is None:
            return None
        if not cut.is_whole:
            source = self.slice(source, cut)
        return source, IndexingMap(shown.num_dims, cut.results)

    def shapes(
        self,
        domain: tuple[AffineExpr, ...],
        operands: Sequence[tuple[Ssa, IndexingMap]],
        dtype: np.dtype,
    ) -> list[tuple[Ssa, IndexingMap]]:
        """An operand that only has a shape, for the dims that no other operand gives an extent."""
        known = {r.as_dim() for s, m in operands if s.extents is not None for r in m.results}
        missing = [d for d in range(len(domain)) if d not in known]
        if not missing:
            return []
        shape = self.empty(dtype, tuple(domain[d] for d in missing))
        return [(shape, IndexingMap.select(len(domain), missing))]


def _operands(word: str, ssas: Sequence[Ssa]) -> str:
    if not ssas:
        return ""
    return f"{word}({', '.join(s.name for s in ssas)} : {', '.join(s.type for s in ssas)}) "


def gathered_only(op: GenericOp) -> frozenset[int]:
    """Inputs that are read at computed subscripts and nowhere else."""
    gathered = {i.attr for i in op.payload.instrs if i.op == "extract"}
    read = set(op.payload.results).union(*(i.operands for i in op.payload.instrs))
    return frozenset(gathered - read)
