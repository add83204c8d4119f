"""Loops and conditionals of the graph: loop buffers carry values through them."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from fusejit.codegen.bufferize.memrefs import Memory, MemRef
from fusejit.codegen.bufferize.rotations import Rotation
from fusejit.codegen.lower.kernel_memory import Enclosing
from fusejit.codegen.lower.store_emitter import StoreEmitter
from fusejit.dataclass import replace
from fusejit.errors import UnsupportedError
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.loops.mentioned_names import memory_of
from fusejit.ir.loops.nodes import For, If, Integer, Let, Number, Stmt, Var, While
from fusejit.ir.loops.polynomial import Polynomial
from fusejit.ir.loops.scalar_math import convert
from fusejit.ir.ops import Bind, Block, Cond, Loop, Op
from fusejit.ir.values import Buffer, Value


class RegionEmitter(StoreEmitter):
    """Adds ops that own blocks: carried values live in loop buffers, variables or memory."""

    def op(self, op: Op) -> None:
        """Lower one op of a kernel, with the blocks it owns."""
        if isinstance(op, Loop):
            self.loop(op)
        elif isinstance(op, Cond):
            self.cond(op)
        elif isinstance(op, Bind):
            self.statements.append(Let(op.symbol, self.number(op.value)))
            if self.regions:
                self.regions[-1].defined.add(op.symbol)
        else:
            super().op(op)

    def _loop_buffer(self, value: Value, start: Value | None = None) -> MemRef:
        """A loop buffer for a carried value: a variable for a scalar, memory for an array."""
        if value.type.rank:
            loop_buffer = MemRef.whole(self._heap(value.type, value.order))
            if start is not None:
                self._copy(start, loop_buffer, "carry")
            return loop_buffer
        name, dtype = self._name("n"), value.type.dtype
        number = Number(0, dtype) if start is None else convert(self.number(start), dtype)
        self.statements.append(Let(name, number))
        return MemRef(expr=Var(name))

    def _assign(self, loop_buffers: Sequence[MemRef], values: Sequence[Value]) -> None:
        """Give all loop buffers their new values at once: one may be the old value of another."""
        pending: list[tuple[MemRef, MemRef, Value]] = []
        for loop_buffer, value in zip(loop_buffers, values, strict=True):
            source = self.locate(value)
            if value.type.rank == 0:
                name = self._name("n")
                self.statements.append(Let(name, source.element(IndexingMap.identity(0), {})))
                pending.append((loop_buffer, MemRef(expr=Var(name)), value))
            elif any(c.memory is source.memory for c in loop_buffers if c is not loop_buffer):
                pending.append((loop_buffer, self._temporary_copy(source, value), value))
            else:
                pending.append((loop_buffer, source, value))
        for loop_buffer, source, value in pending:
            if value.type.rank == 0:
                assert isinstance(loop_buffer.expr, Var)
                assert source.expr is not None
                self.statements.append(Let(loop_buffer.expr.name, source.expr, rebind=True))
            elif source.memory is not loop_buffer.memory:
                self._copy_from(source, value, loop_buffer, "carry")

    def _results(self, op: Loop | Cond, loop_buffers: Sequence[MemRef]) -> None:
        for result, loop_buffer in zip(op.results, loop_buffers, strict=True):
            if result in self.memrefs:  # a slot
                self._copy_from(loop_buffer, result, self.memrefs[result], "result")
            else:
                self.memrefs[result] = loop_buffer

    def loop(self, op: Loop) -> None:
        """A counted or conditional loop around nests, carrying loop buffers."""
        loop_buffers = list(map(self._loop_buffer, op.body.arguments, op.carried))
        for argument, loop_buffer in zip(op.body.arguments, loop_buffers, strict=True):
            self.memrefs[argument] = loop_buffer
        rotations = self.assignment.rotations.get(op, [])
        slots = self._leave_slots(rotations)
        body = self._region(op.body, loop_buffers, True, op.induction, largest(op))
        body += self._rotate(rotations)
        if op.condition is None:
            assert op.induction is not None
            assert op.lower is not None
            assert op.upper is not None
            lower, upper = Polynomial.from_affine(op.lower), Polynomial.from_affine(op.upper)
            if op.step < 0:
                raise UnsupportedError("loops that count down are not lowered yet")
            bounds = Integer(lower), Integer(upper)
            self.statements.append(For(op.induction, *bounds, body, op.step, of_program=True))
        else:
            for argument, loop_buffer in zip(op.condition.arguments, loop_buffers, strict=True):
                self.memrefs[argument] = loop_buffer
            with self.enclosed(Enclosing(self.statements, self.frees, True)) as head:
                for inner in op.condition.ops:
                    self.op(inner)
                (value,) = op.condition.yields
                name = self._name("n")
                head.append(Let(name, self.number(value)))
            self.statements.append(While(head, Var(name), body))
        for buffer, home in slots.items():
            away, self.memory[buffer] = self.memory[buffer], home
            self._copy_memory(buffer, away, home)
        self._results(op, loop_buffers)

    def _leave_slots(self, rotations: Sequence[Rotation]) -> dict[Buffer, Memory]:
        """Memory of the kernel for the time of a loop in place of arrays of the launcher."""
        homes: dict[Buffer, Memory] = {}
        for buffer in dict.fromkeys(b for r in rotations for b in r.loop_buffers):
            if buffer not in self.assignment.slot_buffers:
                continue
            home = homes[buffer] = self.memory[buffer]
            heap = self._heap(buffer.type, buffer.order, True)
            self.memory[buffer] = replace(heap, alias_class=buffer.alias_class)
            self._copy_memory(buffer, home, self.memory[buffer])
        return homes

    def _copy_memory(self, buffer: Buffer, source: Memory, target: Memory) -> None:
        contents = Value(f"{buffer.name}_contents", buffer.type)
        self._copy_from(MemRef.whole(source), contents, MemRef.whole(target), "carry")

    def _rotate(self, rotations: Sequence[Rotation]) -> list[Stmt]:
        """Each pointer takes what the one before it was, the first what the last was."""
        moves: list[Stmt] = []
        for rotation in rotations:
            memories = [self.memory[buffer] for buffer in rotation.loop_buffers]
            if rotation.has_spare:
                spare = self.memrefs[rotation.value].memory
                assert spare is not None
                memories.insert(0, spare)
            pointers = [memory_of(memory.pointer) for memory in memories]
            last = f"p_{self._name('q')}"
            moves.append(Let(last, Var(pointers[-1])))
            for before, pointer in reversed(list(itertools.pairwise(pointers))):
                moves.append(Let(pointer, Var(before), rebind=True))
            moves.append(Let(pointers[0], Var(last), rebind=True))
        return moves

    def _region(
        self,
        block: Block,
        loop_buffers: Sequence[MemRef],
        is_loop: bool = False,
        symbol: str | None = None,
        lengths: dict[str, Polynomial] | None = None,
    ) -> list[Stmt]:
        defined = set() if symbol is None else {symbol}
        around = self.statements, self.frees
        region = Enclosing(*around, is_loop, defined, largest=lengths or {})
        with self.enclosed(region) as statements:
            for op in block.ops:
                self.op(op)
            self._assign(loop_buffers, block.yields)
        return statements

    def cond(self, op: Cond) -> None:
        """A conditional: both blocks assign the same loop buffers."""
        loop_buffers = [self._loop_buffer(result) for result in op.results]
        predicate = self.number(op.predicate)
        then = self._region(op.then_block, loop_buffers)
        orelse = self._region(op.else_block, loop_buffers)
        self.statements.append(If(predicate, then, orelse))
        self._results(op, loop_buffers)


def largest(loop: Loop) -> dict[str, Polynomial]:
    """What the lengths of the tiles of a loop are at most."""
    return {tile.length: Polynomial.from_affine(tile.largest) for tile in loop.tiles}
