"""Payloads as the body of a ``linalg.generic``.

Equal lines are written once, and each where it is first needed, so that the text of a body depends
on what it computes and not on how it was found.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from fusejit.errors import UnsupportedError
from fusejit.ir.affine import AffineExpr, FloorDiv, Mod, Sym
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.ops import GenericOp
from fusejit.ir.payload import Instr
from fusejit.ir.scalar_ops.combiners import COMBINERS
from fusejit.ir.scalar_ops.row import Lines
from fusejit.ir.scalar_ops.scalar_op_table import SCALAR_OPS
from fusejit.ir.source import Location
from fusejit.mlir.export.mlir_op_table import cast_lines, literal, literals, mlir_type
from fusejit.mlir.export.patterns import map_text

_LOCAL = re.compile(r"%t\d+")


class BodyPrinter:
    """Writes the lines of one payload.

    Parameters
    ----------
    op : GenericOp
        The op.
    renamed : mapping
        The symbols of the text for those of the graph.
    symbol : callable
        The name of a symbol in the text.
    location : Location
        The user's line, for errors.
    """

    def __init__(
        self,
        op: GenericOp,
        renamed: Mapping[str, AffineExpr],
        symbol: Callable[[str], str],
        location: Location,
    ) -> None:
        self.op = op
        self.payload = op.payload
        self.renamed = renamed
        self.symbol = symbol
        self.location = location
        self.made: dict[str, str] = {}  # the name of each line by its text
        self.names: dict[int, str] = {}  # of refs
        self.sources: list[tuple[str, str]] = []  # inputs outside the body
        self.num_arguments = 0

    def add_input(self, number: int, name: str, type_: str, *, has_argument: bool) -> None:
        """Input ``number``: an argument of the body, or read from ``name`` when it is needed."""
        self.sources.append((name, type_))
        if has_argument:
            self.names[number] = f"%in{self.num_arguments}"
            self.num_arguments += 1

    def write(self) -> list[str]:
        """The lines, with the yield."""
        payload = self.payload
        for k in range(len(self.op.inits)):
            self.names[payload.num_inputs + k] = f"%out{k}"
        for at, instr in enumerate(payload.instrs):
            if instr.op != "index":
                self.names[payload.num_arguments + at] = self.instr(instr)
        yielded = [self.ref(r) for r in payload.results]
        for k, (init, result) in enumerate(zip(self.op.inits, self.op.results, strict=True)):
            if init.combiner is not None:
                row = COMBINERS[init.combiner].scalar_op
                dtype = result.type.dtype
                lines = self.form(row, dtype)
                yielded[k] = self.expand(lines, (f"%out{k}", yielded[k]), dtype, dtype)
        types = ", ".join(mlir_type(r.type.dtype) for r in self.op.results)
        return self.in_order(f"linalg.yield {', '.join(yielded)} : {types}")

    # -- lines ----------------------------------------------------------------------------------
    def in_order(self, last: str) -> list[str]:
        """The lines that ``last`` needs, each where it is first needed, numbered again."""
        text_of = {name: text for text, name in self.made.items()}
        renamed: dict[str, str] = {}
        lines: list[str] = []
        pending = [("", last)]
        while pending:
            name, text = pending[-1]
            missing = [n for n in _LOCAL.findall(text) if n not in renamed]
            if missing:
                pending.append((missing[0], text_of[missing[0]]))
                continue
            pending.pop()
            shown = _LOCAL.sub(lambda m: renamed[m[0]], text)
            if name and name not in renamed:
                renamed[name] = f"%t{len(renamed)}"
                lines.append(f"{renamed[name]} = {shown}")
        return [*lines, shown]

    def define(self, text: str) -> str:
        """The name of what a line computes; equal lines are written once."""
        if text not in self.made:
            self.made[text] = f"%t{len(self.made)}"
        return self.made[text]

    def expand(
        self, lines: Lines, operands: tuple[str, ...], dtype: np.dtype, result: np.dtype
    ) -> str:
        """The name of what the lines of a row compute."""
        types = {"t": mlir_type(dtype), "r": mlir_type(result), **literals(dtype)}
        name = operands[0]
        parts: dict[str, str] = {}
        for at, line in enumerate(lines):
            text = line.format(*operands, **types, **parts)
            if text.startswith("arith.constant") and dtype.kind == "b":
                text = text.removesuffix(" : i1")
            name = parts[f"p{at}"] = self.define(text)
        return name

    def form(self, row: str, dtype: np.dtype, operands: Sequence[int] = ()) -> Lines:
        """The lines of a row for operands of a dtype."""
        known = SCALAR_OPS.get(row)
        lines = None if known is None else known.mlir.get(dtype.kind)
        if known is None or lines is None:
            raise UnsupportedError(
                f"{row} of {dtype} at {self.location} has no operation in MLIR's arith and math "
                "that gives NumPy's numbers"
            )
        if known.mlir_defines is not None:
            number = self.payload.constant_of(operands[1])
            if number is None or not known.mlir_defines(number, dtype):
                raise UnsupportedError(
                    f"{row} of {dtype} at {self.location} by a number that is not a constant: "
                    f"{lines[0].split()[0]} of MLIR is undefined where NumPy has a number"
                )
        return lines

    # -- refs -----------------------------------------------------------------------------------
    def ref(self, ref: int) -> str:
        """The name of an argument or an instruction."""
        if ref in self.names:
            return self.names[ref]
        if ref < self.payload.num_inputs:
            exprs = self.op.inputs[ref].map.results
            subscripts = [self.index(self.shown(e)) for e in exprs]
            self.names[ref] = self.extract(ref, subscripts)
            return self.names[ref]
        index = self.index(self.shown(self.payload.instrs[ref - self.payload.num_arguments].attr))
        return self.define(f"arith.index_cast {index} : index to i64")

    def shown(self, expr: AffineExpr) -> AffineExpr:
        return expr.substitute(symbols=self.renamed)

    def extract(self, number: int, subscripts: list[str]) -> str:
        name, type_ = self.sources[number]
        return self.define(f"tensor.extract {name}[{', '.join(subscripts)}] : {type_}")

    def index(self, expr: AffineExpr) -> str:
        """An affine expression of dims and symbols as an index."""
        constant, dim, symbol = expr.as_constant(), expr.as_dim(), expr.as_symbol()
        if constant is not None:
            return self.define(f"arith.constant {constant} : index")
        if dim is not None:
            return self.define(f"linalg.index {dim} : index")
        if symbol is not None:
            return self.symbol(symbol)
        if _divides_by_a_symbol(expr):
            raise UnsupportedError(
                f"{self.op.name} at {self.location}: MLIR does not lower the index {expr}, which "
                "divides by a size"
            )
        dims, symbols = sorted(expr.dims()), sorted(expr.symbols())
        places: list[AffineExpr] = [AffineExpr.dim(0)] * len(self.op.domain)
        for at, d in enumerate(dims):
            places[d] = AffineExpr.dim(at)
        text = map_text(IndexingMap(len(dims), (expr.substitute(dims=places),)), symbols)
        given = ", ".join(self.define(f"linalg.index {d} : index") for d in dims)
        names = f"[{', '.join(map(self.symbol, symbols))}]" if symbols else ""
        return self.define(f"affine.apply affine_map<{text}>({given}){names}")

    def instr(self, instr: Instr) -> str:
        """The name of what an instruction computes."""
        if instr.op == "const":
            typed = "" if instr.dtype.kind == "b" else f" : {mlir_type(instr.dtype)}"
            return self.define(f"arith.constant {literal(instr.attr, instr.dtype)}{typed}")
        if instr.op == "extract":
            return self.extract(instr.attr, [self.subscript(o) for o in instr.operands])
        operands = tuple(map(self.ref, instr.operands))
        dtype = self.payload.dtype_of(instr.operands[0])
        if instr.op == "cast":
            return self.expand(cast_lines(dtype, instr.dtype), operands, dtype, instr.dtype)
        lines = self.form(instr.op, dtype, instr.operands)
        return self.expand(lines, operands, dtype, instr.dtype)

    def subscript(self, ref: int) -> str:
        """An integer of the payload as an index."""
        at = ref - self.payload.num_arguments
        if at >= 0 and self.payload.instrs[at].op == "index":
            return self.index(self.shown(self.payload.instrs[at].attr))
        dtype = self.payload.dtype_of(ref)
        cast = "index_castui" if dtype.kind == "u" else "index_cast"
        return self.define(f"arith.{cast} {self.ref(ref)} : {mlir_type(dtype)} to index")


def _divides_by_a_symbol(expr: AffineExpr) -> bool:
    return any(
        isinstance(atom, FloorDiv | Mod)
        and (isinstance(atom.denominator, Sym) or _divides_by_a_symbol(atom.numerator))
        for atom, _ in expr.terms
    )
