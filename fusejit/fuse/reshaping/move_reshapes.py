"""Reshapes move out from between ops, so that producers fold into consumers across them.

A reshape costs nothing by itself, but what it reads lies in memory. First reshapes move up: the
producer computes the reshaped value at once, from operands that are reshaped instead (loads are,
for nothing). What cannot move up moves down: the consumer reads the value as it is, and its results
are reshaped. Before and after `move_reshapes_up`::

    %t = generic "add" domain (s0, s1) ins (%x) { in0 + 1.0 }
    %f = reshape %t collapse [[0, 1]]
    %r = generic "exp" domain (s2) ins (%f) { exp in0 }

    %x1 = reshape %x collapse [[0, 1]]
    %f = generic "add" domain (s2) ins (%x1) { in0 + 1.0 }
    %r = generic "exp" domain (s2) ins (%f) { exp in0 }
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from fusejit.dataclass import dataclass, field, replace
from fusejit.fuse.canonical.cancelled_reshapes import cancel_reshapes
from fusejit.fuse.reshaping.regroup import Refused, Regrouping, dim_groups
from fusejit.fuse.rewrite_blocks import definitions, rewrite_blocks, used_values
from fusejit.ir.execution_plan import FusionReport, Refusal
from fusejit.ir.graph import Graph
from fusejit.ir.ops import (
    Assert,
    Block,
    ConstantOp,
    GenericOp,
    Load,
    Op,
    ReshapeOp,
    ViewOp,
    symbols_bound,
)
from fusejit.ir.reassociation import Reassociation
from fusejit.ir.values import Layout, Value, View
from fusejit.ir.verifier.scope_rules import symbols_of


def move_reshapes_up(graph: Graph) -> Graph:
    """Move each reshape before the elementwise op whose result it is, where that is legal."""
    return _moved(graph, lambda session, op: session.up(op))


def move_reshapes_down(graph: Graph) -> Graph:
    """Move each reshape that is left behind the op that reads it, where its producer folds then."""
    return _moved(graph, lambda session, op: session.down(op))


def note_reshapes(graph: Graph, report: FusionReport) -> Graph:
    """Report why the reshapes that still stand between two ops do; the graph stays as it is."""
    outer = definitions(graph.block)
    fixed = frozenset(s.name for s in graph.symbols)

    def note(block: Block, leaving: frozenset[Value]) -> Block:
        session = _Session(block, leaving, outer, fixed)
        for op in block.ops:
            if not isinstance(op, ReshapeOp):
                continue
            producer = session.defined.get(op.source)
            consumers = [u for u in session.users(op.results[0]) if isinstance(u, GenericOp)]
            if not isinstance(producer, GenericOp) or not consumers:
                continue
            try:
                session.moved_up(op)
            except Refused as refused:
                names, rule = (producer.name, consumers[0].name), refused.illegal.rule
                reason = f"a reshape stands between them: {refused.illegal.reason}"
                ends = (producer.results[-1], consumers[0].results[-1])
                refusal = Refusal(*names, rule, reason, consumers[0].location, *ends)
                report.refused.append(refusal)
        return block

    rewrite_blocks(graph, note)
    return graph


Move = Callable[["_Session", ReshapeOp], bool]


def _moved(graph: Graph, move: Move) -> Graph:
    """Move reshapes in every block until none moves any more."""
    outer = definitions(graph.block)
    fixed = frozenset(s.name for s in graph.symbols)

    def rewrite(block: Block, leaving: frozenset[Value]) -> Block:
        if not any(isinstance(op, ReshapeOp) for op in block.ops):
            return block
        session = _Session(block, leaving, outer, fixed)
        while any(move(session, op) for op in [*session.ops] if isinstance(op, ReshapeOp)):
            session.changed = True
        return replace(block, ops=session.ops) if session.changed else block

    return cancel_reshapes(rewrite_blocks(graph, rewrite))


@dataclass(slots=True)
class _Session:
    """One block whose reshapes are being moved; ``fixed`` are the integers that each call has."""

    block: Block
    leaving: frozenset[Value]
    defined: dict[Value, Op]
    fixed: frozenset[str]
    ops: list[Op] = field(init=False)
    changed: bool = False

    def __post_init__(self) -> None:
        self.ops = list(self.block.ops)
        self.defined = dict(self.defined)
        for op in self.ops:
            self.defined.update(dict.fromkeys(op.results, op))

    def users(self, value: Value) -> list[Op]:
        """The ops of the block that read the value, themselves or in their blocks."""
        return [op for op in self.ops if value in used_values(op)]

    # -- up -------------------------------------------------------------------------------------
    def up(self, op: ReshapeOp) -> bool:
        """Let the producer compute the reshaped value at once."""
        try:
            regrouping = self.moved_up(op)
        except Refused:
            return False
        producer = self.defined[op.source]
        assert isinstance(producer, GenericOp)
        at = producer.results.index(op.source)
        reshaped = regrouping.op.results[at]
        results = tuple(op.results[0] if r is reshaped else r for r in regrouping.op.results)
        after = [r for r in regrouping.after if r.results[0] is not op.source]
        new = replace(regrouping.op, results=results)
        self._replace(producer, [*regrouping.before, new, *after], drop=op)
        return True

    def moved_up(self, op: ReshapeOp) -> Regrouping:
        """The producer with the dims of the reshaped value.

        Raises
        ------
        Refused
            If that is not legal, or costs a copy.
        """
        producer = self.defined.get(op.source)
        if not isinstance(producer, GenericOp) or producer not in self.ops:
            raise Refused("both are generic ops of one block", "a reshape of no generic op")
        if not producer.is_elementwise:
            raise Refused("producer is parallel", f"reduction producer {producer.name}")
        if op.source in self.leaving or self.users(op.source) != [op]:
            raise Refused("the value is used once", f"%{op.source.name} is also used as it is")
        between = self.ops[self.ops.index(producer) : self.ops.index(op)]
        late = {symbol for o in between for symbol in symbols_bound(o)} & symbols_of(op)
        if late:
            raise Refused("sizes are known", f"{', '.join(sorted(late))} is computed after it")
        extents = (*op.source.type.extents, *op.results[0].type.extents)
        is_fixed = all(e.symbols() <= self.fixed for e in extents)
        if not is_fixed and any(isinstance(o, Assert) for o in between):
            raise Refused("sizes are known", "that they fit the reshape is checked after it")
        init = producer.inits[producer.results.index(op.source)]
        groups = dim_groups(op.reassociation, init.map, op.results[0].type.extents)
        regrouping = Regrouping(producer, groups)
        if op.reassociation.expands and len(regrouping.after) > 1:
            # only merging is worth it, or the reshapes of two results would move up in turn
            raise Refused("the value is the only result", f"{producer.name} has several results")
        self._require_free(regrouping)
        return regrouping

    # -- down -----------------------------------------------------------------------------------
    def down(self, op: ReshapeOp) -> bool:
        """Let the consumer read the value as it is; its results are reshaped."""
        try:
            consumer, regrouping = self.moved_down(op)
        except Refused:
            return False
        self._replace(consumer, [*regrouping.before, regrouping.op, *regrouping.after], drop=op)
        return True

    def moved_down(self, op: ReshapeOp) -> tuple[GenericOp, Regrouping]:
        """The consumer with the dims of the value before the reshape.

        Raises
        ------
        Refused
            If that is not legal, costs a copy, or lets nothing fold.
        """
        if not self._may_fold(op.source):
            raise Refused("producer is parallel", "nothing would fold")
        if op.source in self.leaving or self.users(op.source) != [op]:
            raise Refused("the value is used once", f"%{op.source.name} is also used as it is")
        value = op.results[0]
        users = self.users(value)
        if value in self.leaving or len(users) != 1 or not isinstance(users[0], GenericOp):
            raise Refused("the value is used once", f"%{value.name} is not read by one generic op")
        consumer = users[0]
        reads = [o for o in consumer.inputs if o.value is value]
        if len({o.map for o in reads}) != 1 or any(i.start is value for i in consumer.inits):
            raise Refused("the value is used once", f"%{value.name} is read in two ways")
        back = op.reassociation.inverse()
        groups = dim_groups(back, reads[0].map, op.source.type.extents)
        regrouping = Regrouping(consumer, groups)
        for undone in regrouping.after:
            self._require_result_may_move(undone)
        self._require_free(regrouping, op)
        for other in regrouping.before:
            if other.source is not value and self._moves_back(other.source, consumer):
                reason = f"the reshape of %{other.source.name} would bring it back"
                raise Refused("operands are reshaped in place", reason)
        self._read_source(regrouping, op)
        return consumer, regrouping

    def _may_fold(self, value: Value) -> bool:
        """Whether an op computes the value that can fold into one that reads it."""
        producer = self.defined.get(value)
        return (
            isinstance(producer, GenericOp)
            and not producer.is_fixed
            and producer.is_elementwise
            and not producer.is_materialized
        )

    def _moves_back(self, value: Value, consumer: GenericOp) -> bool:
        """Whether a reshape of the value before its consumer would move down, too."""
        is_used_once = value not in self.leaving and self.users(value) == [consumer]
        return is_used_once and self._may_fold(value)

    def _require_result_may_move(self, undone: ReshapeOp) -> None:
        value = undone.results[0]
        if value in self.leaving and value.order is not None:
            raise Refused("results keep their order", f"%{value.name} is handed out")
        if any(not isinstance(u, GenericOp | ReshapeOp | ViewOp) for u in self.users(value)):
            raise Refused("results keep their place", f"%{value.name} is stored")

    @staticmethod
    def _read_source(regrouping: Regrouping, op: ReshapeOp) -> None:
        """The operand that undoes the reshape is the value before it."""
        for undone in list(regrouping.before):
            if undone.source is op.results[0]:
                inputs = tuple(
                    replace(o, value=op.source) if o.value is undone.results[0] else o
                    for o in regrouping.op.inputs
                )
                regrouping.op = replace(regrouping.op, inputs=inputs)
                regrouping.before.remove(undone)

    # -- costs ----------------------------------------------------------------------------------
    def _require_free(self, regrouping: Regrouping, undone: ReshapeOp | None = None) -> None:
        """Operands must be reshaped where they lie."""
        for op in regrouping.before:
            if undone is not None and op.source is undone.results[0]:
                continue
            if not is_free(op.source, op.reassociation, self.defined):
                reason = f"%{op.source.name} would have to be copied"
                raise Refused("operands are reshaped in place", reason)

    def _replace(self, old: GenericOp, new: list[Op], drop: ReshapeOp) -> None:
        """Put ``new`` where ``old`` stands, and drop a reshape."""
        at = self.ops.index(old)
        for op in new:
            if op.location != old.location:
                op.location = old.location
            self.defined.update(dict.fromkeys(op.results, op))
        self.ops[at : at + 1] = new
        self.ops.remove(drop)


def is_free(value: Value, reassociation: Reassociation, defined: Mapping[Value, Op]) -> bool:
    """Whether a value that ``defined`` says the op of can be reshaped where it lies."""
    root = defined.get(value)
    while isinstance(root, ReshapeOp):
        root = defined.get(root.source)
    if isinstance(root, ViewOp | ConstantOp) or root is None:
        return False
    order = value.order or tuple(range(value.type.rank))
    if isinstance(root, Load):
        buffer = root.view.buffer
        if root.view != View.whole(buffer):
            return False
        if buffer.layout is not Layout.CONTIGUOUS and not reassociation.expands:
            return False
    if reassociation.expands:
        return True
    for group in reassociation.groups:
        first = order.index(group[0])
        if order[first : first + len(group)] != group:
            return False
    return True
