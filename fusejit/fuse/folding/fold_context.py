"""What legality, profitability and the driver may ask about the block in which they fold."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from fusejit.dataclass import dataclass
from fusejit.fuse.canonical.stale_loads import read_classes
from fusejit.fuse.folding.fold import fused_to_producer
from fusejit.fuse.rewrite_blocks import used_values
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.ops import Assert, Block, GenericOp, Op, symbols_bound, written_classes
from fusejit.ir.target_facts import Target
from fusejit.ir.values import Value
from fusejit.support.budget import check_budget


@dataclass(frozen=True, slots=True)
class Use:
    """Input ``operand_index`` of ``consumer`` reads the value."""

    consumer: GenericOp
    operand_index: int


class BlockContext:
    """A block while ops are folded in it.

    Ops keep their places: a fused op stands where its consumer stood, a producer that is no longer
    read leaves its place empty. So "before" and "after" are comparisons of integers.

    Parameters
    ----------
    block : Block
        The block; it is not modified.
    leaving : frozenset of Value
        The values that leave the block (yielded, or results of the graph).
    outer : mapping
        The op that defines each value of the whole graph, as it was before this block changed.
    target : Target
        The machine, for the cost model.

    Attributes
    ----------
    verdicts : dict
        What the cost model has found out about pairs of ops, which do not change.
    distinct_uses : dict
        Where it finds that a producer is needed, for as long as the same ops read it.
    legality : dict
        What legality has found out about them: neither they nor stores change their places.
    """

    def __init__(
        self,
        block: Block,
        leaving: frozenset[Value],
        outer: Mapping[Value, Op],
        target: Target,
    ) -> None:
        self.target = target
        self.leaving = leaving
        self.verdicts: dict[tuple[Op, Op], Any] = {}
        self.legality: dict[tuple[Op, int, Op], Any] = {}
        self._needed: dict[tuple[Op, int, Op], IndexingMap] = {}
        self.distinct_uses: dict[GenericOp, Any] = {}
        self._arrays: dict[Op, frozenset[Value]] = {}
        self._uses: dict[Op | None, tuple[Use, ...]] = {}
        self._slots: list[Op | None] = list(block.ops)
        self._position = {op: i for i, op in enumerate(block.ops)}
        self._definitions = dict(outer)
        self._users: dict[Value, dict[Op, None]] = {}
        self._keepers: dict[Value, dict[Op, None]] = {}  # users that read it from memory
        self._writes: dict[int, list[int]] = {}
        self._checks = [place for place, op in enumerate(block.ops) if isinstance(op, Assert)]
        self._bound_at: dict[str, int] = {}
        for place, op in enumerate(block.ops):
            self._register(op)
            self._bound_at.update(dict.fromkeys(symbols_bound(op), place))
            for alias_class in sorted(written_classes(Block((), [op]))):
                self._writes.setdefault(alias_class, []).append(place)

    def _register(self, op: Op) -> None:
        for value in op.results:
            self._definitions[value] = op
        starts = {i.start for i in op.inits} if isinstance(op, GenericOp) else ()
        self._forget_uses(op)
        for value in used_values(op):
            self._users.setdefault(value, {})[op] = None
            if not isinstance(op, GenericOp) or value in starts:
                self._keepers.setdefault(value, {})[op] = None

    def _forget_uses(self, op: Op) -> None:
        """What reads the values that an op reads is about to be others."""
        for value in used_values(op):
            producer = self._definitions.get(value)
            if isinstance(producer, GenericOp):
                self._uses.pop(producer, None)
                self.distinct_uses.pop(producer, None)

    # -- questions ------------------------------------------------------------------------------
    def ops(self) -> Iterator[Op]:
        """The ops of the block in program order."""
        return (op for op in self._slots if op is not None)

    def generics(self) -> Iterator[GenericOp]:
        """The generic ops of the block, as they are when their turn comes."""
        for place in range(len(self._slots)):
            op = self._slots[place]
            if isinstance(op, GenericOp):
                yield op

    def sweep(self, fused: Callable[[GenericOp], GenericOp | None]) -> bool:
        """Fuse something with each generic op as often as possible; whether anything was fused.

        ``fused`` gives the op that has taken the place of another one, if it did.
        """
        changed = False
        for op in self.generics():
            check_budget()
            current: GenericOp | None = op
            while current is not None:
                current = fused(current)
                changed |= current is not None
        return changed

    def __contains__(self, op: object) -> bool:
        """Whether the op stands in this block."""
        return op in self._position

    def position(self, op: Op) -> int:
        """The op's position in program order."""
        return self._position[op]

    def producer(self, value: Value) -> Op | None:
        """The op that defines ``value``, in this block or around it."""
        return self._definitions.get(value)

    def users(self, value: Value) -> tuple[Op, ...]:
        """The ops of this block that read the value, themselves or in their blocks."""
        return tuple(sorted(self._users.get(value, ()), key=self.position))

    def uses(self, producer: GenericOp) -> tuple[Use, ...]:
        """The inputs of generic ops that read a result of the producer, in program order."""
        if producer not in self._uses:
            users = {u: None for r in producer.results for u in self.users(r)}
            self._uses[producer] = tuple(
                Use(user, k)
                for user in sorted(users, key=self.position)
                if isinstance(user, GenericOp)
                for k, operand in enumerate(user.inputs)
                if operand.value in producer.results
            )
        return self._uses[producer]

    def needed(self, producer: GenericOp, operand_index: int, consumer: GenericOp) -> IndexingMap:
        """From the consumer's domain to the point of the producer's that it needs, kept."""
        key = (producer, operand_index, consumer)
        if key not in self._needed:
            self._needed[key] = fused_to_producer(*key)
        return self._needed[key]

    def arrays(self, op: GenericOp) -> frozenset[Value]:
        """The values of rank 1 and more that an op reads, kept."""
        if op not in self._arrays:
            self._arrays[op] = frozenset(v for v in op.operand_values if v.type.rank)
        return self._arrays[op]

    def num_users(self, producer: GenericOp) -> int:
        """How many ops read the producer's results, those that read two of them counted twice."""
        return sum(len(self._users.get(r, ())) for r in producer.results)

    def kept_for(self, producer: GenericOp) -> str:
        """Why the producer's results stay in memory whatever is folded, or the empty text."""
        if producer.is_materialized:
            return "a schedule wants it in memory"
        for value in producer.results:
            if value in self.leaving:
                return f"%{value.name} is handed out"
            user = min(self._keepers.get(value, ()), key=self.position, default=None)
            if isinstance(user, GenericOp):
                return f"%{value.name} is the start of {user.name}"
            if user is not None:
                return f"%{value.name} is read by a {type(user).__name__.lower()}"
        return ""

    def reads(self, op: Op) -> tuple[int, ...]:
        """The alias classes whose memory the op reads through loads."""
        return read_classes(op, self._definitions)

    def written_between(self, alias_class: int, first: Op, last: Op) -> bool:
        """Whether an op between the two stores to the class."""
        places = self._writes.get(alias_class, [])
        low, high = sorted((self.position(first), self.position(last)))
        return bisect_left(places, high) > bisect_right(places, low)

    def is_checked_between(self, first: Op, last: Op) -> bool:
        """Whether a check stands between the two."""
        low, high = sorted((self.position(first), self.position(last)))
        return bisect_left(self._checks, high) > bisect_right(self._checks, low)

    def is_bound_after(self, symbol: str, op: Op) -> bool:
        """Whether an integer of this block is not known yet where an op stands."""
        return self._bound_at.get(symbol, -1) > self.position(op)

    # -- changes --------------------------------------------------------------------------------
    def replace(self, old: Sequence[Op], new: GenericOp, at: Op) -> None:
        """Put ``new`` where ``at`` stands and drop the ops ``old`` (``at`` among them)."""
        place = self._position[at]
        for op in old:
            self.remove(op)
        self._slots[place] = new
        self._position[new] = place
        self._register(new)

    def remove(self, op: Op) -> None:
        """Take an op out of the block."""
        self._slots[self._position.pop(op)] = None
        self._forget_uses(op)
        for value in used_values(op):
            self._users[value].pop(op, None)
            self._keepers.get(value, {}).pop(op, None)

    def is_dead(self, op: GenericOp) -> bool:
        """Whether nothing reads its results."""
        return not any(r in self.leaving or self._users.get(r) for r in op.results)
