"""`SymbolSubstitution`: a block in which symbols are replaced by expressions.

Values and local buffers whose extents mention the symbols become new ones; all else is shared.
"""

from __future__ import annotations

from collections.abc import Mapping

from fusejit.dataclass import dataclass, replace
from fusejit.fuse.clone import Rewriting
from fusejit.ir.affine import AffineExpr
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.ops import Assert, Bind, GenericOp, HostCall, Loop, Op, Operand, Scatter, ViewOp
from fusejit.ir.tiles import LoopTile
from fusejit.ir.values import Buffer, Value, View


@dataclass(eq=False)
class SymbolSubstitution(Rewriting):
    """What stands for what in the blocks rewritten so far.

    Attributes
    ----------
    symbols : mapping
        From symbols to expressions. A symbol that a loop, a `Bind` or a `HostCall` defines must
        become another symbol.
    """

    symbols: Mapping[str, AffineExpr]

    def expr(self, expr: AffineExpr) -> AffineExpr:
        """An expression with the symbols replaced."""
        return expr.substitute(symbols=self.symbols)

    def _name(self, name: str) -> str:
        if name not in self.symbols:
            return name
        new = self.symbols[name].as_symbol()
        assert new is not None, f"{name} is defined here"
        return new

    def _map(self, map: IndexingMap) -> IndexingMap:
        return map.substitute_symbols(self.symbols)

    def value(self, value: Value) -> Value:
        type_ = value.type.substitute_symbols(self.symbols)
        if type_ == value.type:
            return value
        self.values[value] = replace(value, type=type_)
        return self.values[value]

    def buffer(self, buffer: Buffer) -> Buffer:
        type_ = buffer.type.substitute_symbols(self.symbols)
        base = buffer.base and self.buffers.get(buffer.base, buffer.base)
        if type_ == buffer.type and base is buffer.base:
            return buffer
        self.buffers[buffer] = replace(buffer, type=type_, base=base)
        return self.buffers[buffer]

    def view(self, view: View) -> View:
        extents = tuple(map(self.expr, view.extents))
        return View(super().view(view).buffer, self._map(view.map), extents)

    def op(self, op: Op) -> Op:
        op = super().op(op)
        match op:
            case GenericOp():
                return replace(
                    op,
                    domain=tuple(map(self.expr, op.domain)),
                    inputs=tuple(Operand(o.value, self._map(o.map)) for o in op.inputs),
                    inits=tuple(replace(i, map=self._map(i.map)) for i in op.inits),
                    payload=op.payload.over({}, self.symbols),
                )
            case ViewOp():
                return replace(op, map=self._map(op.map))
            case Scatter():
                subscripts = tuple(
                    Operand(s.value, self._map(s.map)) if isinstance(s, Operand) else self.expr(s)
                    for s in op.subscripts
                )
                return replace(op, subscripts=subscripts)
            case Bind():
                return replace(op, symbol=self._name(op.symbol))
            case HostCall():
                return replace(op, sizes=tuple(map(self._name, op.sizes)))
            case Assert() if op.shown is not None:
                index, size = op.shown.index, self.expr(op.shown.size)
                index = self.expr(index) if isinstance(index, AffineExpr) else index
                return replace(op, shown=replace(op.shown, index=index, size=size))
            case Loop() if op.induction is not None:
                induction, lower, upper = op.counted
                return replace(
                    op,
                    induction=self._name(induction),
                    lower=self.expr(lower),
                    upper=self.expr(upper),
                    tiles=tuple(
                        LoopTile(self._name(t.length), self.expr(t.extent), self.expr(t.largest))
                        for t in op.tiles
                    ),
                )
        return op
