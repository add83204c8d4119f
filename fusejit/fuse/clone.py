"""Copies of ops that define values and memory of their own: one program text, run in two places."""

from __future__ import annotations

from fusejit.dataclass import dataclass, field, replace
from fusejit.fuse.rewrite_blocks import map_blocks, substitute_in_op
from fusejit.ir.ops import Alias, Alloc, Block, Load, Op, Write
from fusejit.ir.values import Buffer, Value, View


@dataclass(eq=False)
class Rewriting:
    """Blocks with other values and memory.

    Attributes
    ----------
    values : dict
        Value -> the one that has taken its place.
    buffers : dict
        Buffer -> the one that has taken its place.
    """

    values: dict[Value, Value] = field(default_factory=dict, init=False)
    buffers: dict[Buffer, Buffer] = field(default_factory=dict, init=False)

    def block(self, block: Block) -> Block:
        """A block with what takes the place of its arguments, results and memory."""
        arguments = tuple(map(self.value, block.arguments))
        ops = [self.op(op) for op in block.ops]
        return Block(arguments, ops, tuple(self.values.get(v, v) for v in block.yields))

    def op(self, op: Op) -> Op:
        """An op after those that were rewritten so far, which it may read."""
        if isinstance(op, Alloc | Alias):
            return replace(op, buffer=self.buffer(op.buffer))
        op = substitute_in_op(map_blocks(op, self.block), self.values)
        if isinstance(op, Load | Write):
            op = replace(op, view=self.view(op.view))
        return replace(op, results=tuple(map(self.value, op.results))) if op.results else op

    def value(self, value: Value) -> Value:
        """What takes the place of a value that is defined here."""
        raise NotImplementedError

    def buffer(self, buffer: Buffer) -> Buffer:
        """What takes the place of memory that is allocated here."""
        raise NotImplementedError

    def view(self, view: View) -> View:
        """The same part of what has taken the place of a buffer."""
        return replace(view, buffer=self.buffers.get(view.buffer, view.buffer))


@dataclass(eq=False)
class Clone(Rewriting):
    """What stands for what in the copies made so far; all else is shared with the original.

    Attributes
    ----------
    next_class : int
        The first alias class that is free.
    """

    next_class: int

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
