"""`SymbolSubstitution`: a block in which symbols are replaced by expressions.

Values and local buffers whose extents mention the symbols become new ones; all else is shared.
"""

from __future__ import annotations

from collections.abc import Mapping

from fusejit.dataclass import dataclass, field, replace
from fusejit.fuse.rewrite_blocks import map_blocks, substitute_in_op
from fusejit.ir.affine import AffineExpr
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.ops import (
    Alias,
    Alloc,
    Assert,
    Bind,
    Block,
    GenericOp,
    HostCall,
    Load,
    Loop,
    Op,
    Operand,
    Scatter,
    ViewOp,
    Write,
)
from fusejit.ir.payload import Instr
from fusejit.ir.tiles import LoopTile
from fusejit.ir.values import Buffer, Value, View


@dataclass(eq=False)
class SymbolSubstitution:
    """What stands for what in the blocks rewritten so far.

    Attributes
    ----------
    symbols : mapping
        From symbols to expressions. A symbol that a loop, a `Bind` or a `HostCall` defines must
        become another symbol.
    values, buffers : dict
        From those whose extents mention the symbols to the new ones.
    """

    symbols: Mapping[str, AffineExpr]
    values: dict[Value, Value] = field(default_factory=dict)
    buffers: dict[Buffer, Buffer] = field(default_factory=dict)

    def block(self, block: Block) -> Block:
        """The block with the symbols replaced."""
        arguments = tuple(map(self._value, block.arguments))
        ops = [self._op(op) for op in block.ops]
        return Block(arguments, ops, tuple(self.values.get(v, v) for v in block.yields))

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

    def _value(self, value: Value) -> Value:
        type_ = value.type.substitute_symbols(self.symbols)
        if type_ == value.type:
            return value
        self.values[value] = replace(value, type=type_)
        return self.values[value]

    def _buffer(self, buffer: Buffer) -> Buffer:
        type_ = buffer.type.substitute_symbols(self.symbols)
        base = buffer.base and self.buffers.get(buffer.base, buffer.base)
        if type_ == buffer.type and base is buffer.base:
            return buffer
        self.buffers[buffer] = replace(buffer, type=type_, base=base)
        return self.buffers[buffer]

    def _instr(self, instr: Instr) -> Instr:
        return replace(instr, attr=self.expr(instr.attr)) if instr.op == "index" else instr

    def _op(self, op: Op) -> Op:
        op = substitute_in_op(map_blocks(op, self.block), self.values)
        if op.results:
            op = replace(op, results=tuple(map(self._value, op.results)))
        match op:
            case GenericOp():
                instrs = tuple(map(self._instr, op.payload.instrs))
                return replace(
                    op,
                    domain=tuple(map(self.expr, op.domain)),
                    inputs=tuple(Operand(o.value, self._map(o.map)) for o in op.inputs),
                    inits=tuple(replace(i, map=self._map(i.map)) for i in op.inits),
                    payload=replace(op.payload, instrs=instrs),
                )
            case ViewOp():
                return replace(op, map=self._map(op.map))
            case Load() | Write():
                extents = tuple(map(self.expr, op.view.extents))
                buffer = self.buffers.get(op.view.buffer, op.view.buffer)
                view = View(buffer, self._map(op.view.map), extents)
                if not isinstance(op, Scatter):
                    return replace(op, view=view)
                subscripts = tuple(
                    Operand(s.value, self._map(s.map)) if isinstance(s, Operand) else self.expr(s)
                    for s in op.subscripts
                )
                return replace(op, view=view, subscripts=subscripts)
            case Alloc() | Alias():
                return replace(op, buffer=self._buffer(op.buffer))
            case Bind():
                return replace(op, symbol=self._name(op.symbol))
            case HostCall():
                return replace(op, sizes=tuple(map(self._name, op.sizes)))
            case Assert() if op.shown is not None:
                index, size = op.shown.index, self.expr(op.shown.size)
                index = self.expr(index) if isinstance(index, AffineExpr) else index
                return replace(op, shown=replace(op.shown, index=index, size=size))
            case Loop() if op.induction is not None:
                assert op.lower is not None
                assert op.upper is not None
                return replace(
                    op,
                    induction=self._name(op.induction),
                    lower=self.expr(op.lower),
                    upper=self.expr(op.upper),
                    tiles=tuple(
                        LoopTile(self._name(t.length), self.expr(t.extent), self.expr(t.largest))
                        for t in op.tiles
                    ),
                )
        return op
