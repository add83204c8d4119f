"""Sizes and other integers of MLIR text: what they are called and where they are computed.

Extents that are axes of arguments are ``tensor.dim``, arithmetic on them is ``affine.apply`` or on
``index``; other integers of the launcher are ``index`` parameters. Symbols are called in the order
of the axes that have them, whatever the graph calls them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from fusejit.dataclass import dataclass
from fusejit.ir.affine import AffineExpr
from fusejit.ir.graph import Graph
from fusejit.ir.host import HostExpr
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.types import TensorType
from fusejit.ir.values import Buffer, Value
from fusejit.mlir.export.mlir_op_table import INDEX_OPS, affine_of, mlir_type
from fusejit.mlir.export.patterns import map_text


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
    return sized_type(ssa.dtype, [e.as_constant() for e in ssa.extents or ()])


def sized_type(dtype: np.dtype, sizes: Sequence[int | None]) -> str:
    """``tensor<?x3xf64>`` for the sizes None and 3."""
    return (
        "tensor<" + "".join(f"{'?' if n is None else n}x" for n in sizes) + mlir_type(dtype) + ">"
    )


class SizePrinter:
    """The part of a text under construction that knows sizes."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.lines: list[str] = []
        self.values: dict[Value, Ssa] = {}
        self.arrays: dict[Buffer, Ssa] = {}  # buffers of arguments, and their memory reshaped
        self.parameters: list[str] = []
        self.names: set[str] = set()
        self.count = 0
        self.indices: dict[AffineExpr, str] = {}  # index arithmetic written so far
        self.host_indices: dict[HostExpr, str] = {}
        self.used_symbols: set[str] = set()
        self._name_symbols()

    def parameter(self, type_: str, origin: HostExpr, otherwise: str) -> None:
        """One more parameter of the function, called as the user calls it."""
        text = origin.attr.user_text() if origin.op == "path" else otherwise
        base = name = re.sub(r"\W+", "_", text).strip("_") or "argument"
        while name in self.names:
            name = f"{base}_{len(self.names)}"
        self.names.add(name)
        self.parameters.append(f'%arg{len(self.parameters)}: {type_} loc("{name}")')

    def _name_symbols(self) -> None:
        order: list[str] = []
        whole: dict[AffineExpr, str] = {}
        self.axis_of: dict[str, tuple[Buffer, int]] = {}
        sizes = {s.expr.attr: s.name for s in self.graph.symbols if s.expr.op == "size"}
        for buffer in self.graph.buffers:
            for axis, extent in enumerate(buffer.type.extents if buffer.origin else ()):
                name = extent.as_symbol()
                if name is None and extent.symbols() and buffer.origin is not None:
                    # the axis is known to be twice another number, say: its size is its name
                    name = sizes.get((buffer.origin.attr, axis))
                    if name is not None:
                        whole[extent] = name
                if name is not None and name not in order:
                    order.append(name)
                    self.axis_of[f"s{len(order) - 1:04d}"] = (buffer, axis)
        self.exprs = {s.name: s.expr for s in self.graph.symbols}
        order += [name for name in self.exprs if name not in order]
        self.renamed = {name: AffineExpr.symbol(f"s{at:04d}") for at, name in enumerate(order)}
        self.host_of = {f"s{at:04d}": name for at, name in enumerate(order)}
        self.whole = {extent: self.renamed[name] for extent, name in whole.items()}
        self.whole_in_text = {
            extent.substitute(symbols=self.renamed): symbol for extent, symbol in self.whole.items()
        }
        self.named_sizes = {attr: self.renamed[name] for attr, name in sizes.items()}

    def canonical(self, expr: AffineExpr) -> AffineExpr:
        """An expression of the graph in the symbols of the text."""
        return self.whole.get(expr) or expr.substitute(symbols=self.renamed)

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
        if expr.op == "size":
            return True
        has_form = expr.op in INDEX_OPS or (
            len(expr.operands) == 2 and self.affine(expr) is not None
        )
        return has_form and all(map(self.is_computed, expr.operands))

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
            if expr.attr in self.named_sizes:
                return self.named_sizes[expr.attr]
            path, axis = expr.attr
            for buffer, array in self.arrays.items():
                if buffer.origin is not None and buffer.origin.attr == path:
                    extent: AffineExpr = (array.extents or ())[axis]
                    return extent
            return None
        operands = [self.affine(o) for o in expr.operands]
        known = [self.whole_in_text.get(o, o) for o in operands if o is not None]
        return None if len(known) < 2 else affine_of(expr.op, *known)
