"""Copies of ops that define values and memory of their own: one program text, run in two places."""

from __future__ import annotations

from fusejit.dataclass import dataclass, field, replace
from fusejit.fuse.rewrite_blocks import map_blocks, substitute_in_op
from fusejit.ir.ops import Alias, Alloc, Block, Load, Op, Write
from fusejit.ir.values import Buffer, Value, View


@dataclass(eq=False)
class Clone:
    """What stands for what in the copies made so far; all else is shared with the original.

    Attributes
    ----------
    values : dict
        Value of the original -> its own one.
    buffers : dict
        Buffer that the original allocates -> its own one, of an alias class of its own.
    next_class : int
        The first alias class that is free.
    """

    next_class: int
    values: dict[Value, Value] = field(default_factory=dict)
    buffers: dict[Buffer, Buffer] = field(default_factory=dict)

    def block(self, block: Block) -> Block:
        """A block with arguments, results and memory of its own."""
        arguments = tuple(map(self.value, block.arguments))
        ops = [self.op(op) for op in block.ops]
        return Block(arguments, ops, tuple(self.values.get(v, v) for v in block.yields))

    def op(self, op: Op) -> Op:
        """An op after those that were copied so far, which it may read."""
        if isinstance(op, Alloc | Alias):
            return replace(op, buffer=self.buffer(op.buffer))
        if op.blocks:
            op = map_blocks(op, self.block)
        op = substitute_in_op(op, self.values)
        if isinstance(op, Load | Write) and op.view.buffer in self.buffers:
            op = replace(op, view=self.view(op.view))
        return replace(op, results=tuple(map(self.value, op.results))) if op.results else op

    def value(self, value: Value) -> Value:
        """The copy's own value."""
        if value not in self.values:
            self.values[value] = replace(value)
        return self.values[value]

    def buffer(self, buffer: Buffer) -> Buffer:
        """The copy's own memory: that of an alias is its base's."""
        if buffer not in self.buffers:
            base = None if buffer.base is None else self.buffers.get(buffer.base, buffer.base)
            alias_class = self.next_class if base is None else base.alias_class
            self.next_class += base is None
            self.buffers[buffer] = replace(buffer, alias_class=alias_class, base=base)
        return self.buffers[buffer]

    def view(self, view: View) -> View:
        return replace(view, buffer=self.buffers[view.buffer])
