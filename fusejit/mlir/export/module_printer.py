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

import numpy as np

from fusejit.dataclass import replace
from fusejit.ir.affine import AffineExpr
from fusejit.ir.definitions.definition import Role
from fusejit.ir.graph import Graph
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.ops import (
    Alias,
    Alloc,
    ConstantOp,
    GenericOp,
    Init,
    Load,
    Op,
    Operand,
    ReshapeOp,
    ViewOp,
    Write,
    base_name,
)
from fusejit.ir.payload import I64
from fusejit.ir.scalar_ops.combiners import COMBINERS
from fusejit.ir.types import IteratorType
from fusejit.ir.values import Value
from fusejit.mlir.export.body import BodyPrinter
from fusejit.mlir.export.categories import category_of
from fusejit.mlir.export.mlir_op_table import literal, mlir_type
from fusejit.mlir.export.named import named_form
from fusejit.mlir.export.patterns import (
    constant_written,
    cut_of,
    is_matrix_product,
    live_ops,
    map_text,
)
from fusejit.mlir.export.plain_division import with_plain_division
from fusejit.mlir.export.size_printer import Ssa
from fusejit.mlir.export.tensors import TensorPrinter


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
    return _Emitter(with_plain_division(graph)).text()


class _Emitter(TensorPrinter):
    """The text of one graph under construction."""

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
            if scalar.value.type.dtype == I64 and self.is_computed(scalar.expr):
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
            case ReshapeOp():
                extents = op.results[0].type.extents
                source = self.value(op.source)
                self.values[op.results[0]] = self.reshape(source, op.reassociation, extents)
            case Alias():
                pass  # it is reshaped where it is loaded from
            case Write() | Alloc():
                raise self.unsupported(op, "a store into an array has no form on tensors")
            case _:
                raise self.unsupported(op, f"a {type(op).__name__.lower()} has no form on tensors")

    # -- generic ops ----------------------------------------------------------------------------
    def start(self, init: Init, result: Value) -> Ssa:
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
        if IteratorType.SEQUENTIAL in op.iterators and not _is_carried(op):
            raise self.unsupported(op, "linalg has no sequential dims")
        if self.named(op):
            return
        written = constant_written(op)
        if written is not None:
            scalar = self.value(written) if isinstance(written, Value) else self.number(*written)
            if scalar.extents is None:
                type_ = self.canonical_type(op.results[0].type)
                self.values[op.results[0]] = self.fill(scalar, type_.extents)
                return
        domain = tuple(map(self.canonical, op.domain))
        in_body = gathered_only(op)
        reads = [None if at in in_body else self.read(o, domain) for at, o in enumerate(op.inputs)]
        starts = list(map(self.start, op.inits, op.results))
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
        if is_matrix_product(op) and base_name(op.name) == "matmul" and len(ins) == 2:
            (a, _), (b, _), out = *ins, starts[0]
            name = self.define(
                f"linalg.matmul ins({a.name}, {b.name} : {a.type}, {b.type}) "
                f"outs({out.name} : {out.type}) -> {out.type}"
            )
            self.values[op.results[0]] = Ssa(name, out.dtype, out.extents)
            return
        ins += self.shapes(domain, [*ins, *outs], outs[0][0].dtype)
        body = BodyPrinter(op, self.renamed, self.symbol, op.location)
        for at, (operand, read) in enumerate(zip(op.inputs, reads, strict=True)):
            source = self.value(operand.value)
            body.add_input(at, source.name, source.type, has_argument=read is not None)
        lines = body.write()
        arguments = [f"%in{k}: {mlir_type(s.dtype)}" for k, (s, _) in enumerate(ins)]
        arguments += [f"%out{k}: {mlir_type(s.dtype)}" for k, (s, _) in enumerate(outs)]
        maps = ", ".join(f"affine_map<{map_text(m, [])}>" for _, m in (*ins, *outs))
        kinds = [
            IteratorType.REDUCTION if i is IteratorType.SEQUENTIAL else i for i in op.iterators
        ]
        iterators = ", ".join(f'"{i.value}"' for i in kinds)
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

    def named(self, op: GenericOp) -> bool:
        """Write an op that is a named op of linalg under its name; False if it is none."""
        if not op.is_named:
            return False
        shown = replace(
            op,
            domain=tuple(map(self.canonical, op.domain)),
            inputs=tuple(Operand(o.value, self.shown(o.map)) for o in op.inputs),
            inits=tuple(Init(self.shown(i.map), i.combiner, i.start) for i in op.inits),
        )
        form = named_form(shown)
        if form is None:
            return self.category(shown)
        reads = iter(op.inputs)
        ins = []
        for operand in form.definition.inputs:
            if operand.role is Role.SHAPE:
                dims = [d for a in form.definition.accesses if a.operand == operand.name
                        for s in a.subscripts for d in s.names("dim")]  # fmt: skip
                at = [form.definition.dims.index(d) for d in dims]
                dtype = op.results[0].type.dtype
                ins.append(self.empty(dtype, tuple(self.canonical(op.domain[d]) for d in at)))
            else:
                ins.append(self.value(next(reads).value))
        outs = list(map(self.start, op.inits, op.results))
        given = ", ".join(
            f"{name} = dense<{list(value)}> : tensor<{len(value)}xi64>"
            for name, value in form.attributes.items()
            if isinstance(value, tuple) and value
        )
        (out,) = outs
        name = self.define(
            f"linalg.{form.definition.name} {f'{{{given}}} ' if given else ''}"
            f"{_operands('ins', ins)}{_operands('outs', outs)}-> {out.type}"
        )
        self.values[op.results[0]] = Ssa(name, out.dtype, out.extents)
        return True

    def category(self, op: GenericOp) -> bool:
        """Write an op as a category of linalg; False if it is in none."""
        form = category_of(op)
        if form is None:
            return False
        ins = [self.value(o.value) for o in op.inputs]
        (out,) = map(self.start, op.inits, op.results)
        name = self.define(
            f"linalg.{form.name} {form.attributes()}{_operands('ins', ins)}"
            f"{_operands('outs', [out])}-> {out.type}"
        )
        self.values[op.results[0]] = Ssa(name, out.dtype, out.extents)
        return True

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


def _is_carried(op: GenericOp) -> bool:
    """Whether its sequential dims are reductions, which linalg runs in order."""
    in_order = {d for d, i in enumerate(op.iterators) if i is IteratorType.SEQUENTIAL}
    return not any(init.map.dims() & in_order for init in op.inits)


def _operands(word: str, ssas: Sequence[Ssa]) -> str:
    if not ssas:
        return ""
    return f"{word}({', '.join(s.name for s in ssas)} : {', '.join(s.type for s in ssas)}) "


def gathered_only(op: GenericOp) -> frozenset[int]:
    """Inputs that are read at computed subscripts and nowhere else."""
    gathered = {i.attr for i in op.payload.instrs if i.op == "extract"}
    read = set(op.payload.results).union(*(i.operands for i in op.payload.instrs))
    return frozenset(gathered - read)
