"""Sibling merge: ops over one domain become one op with several results.

Cases, all only for equal domains and reads of the same point, so that nothing is recomputed:

- an op whose value another op reads, and which stays in memory for others as well, joins its
  reader, which writes that value too (`return v, 2 * v` reads nothing back);
- two elementwise ops that read a common array are computed side by side, and read it once;
- so are two reductions of floats over the same dims: mean, variance and maximum of one array;
- two ops that compute the same from numbers alone do it once.

An op may move to its sibling's place: down, if nothing in between reads it and the memory it has
loaded stays as it is; up, if what it reads is defined there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from fusejit.dataclass import dataclass, field, replace
from fusejit.fuse.canonical.tidy_operands import merge_operands, tidy
from fusejit.fuse.folding.cost import MAX_ARRAYS, MAX_INSTRS, Accept, Reject
from fusejit.fuse.folding.fold import fold, fused_name, fused_to_producer
from fusejit.fuse.folding.fold_context import BlockContext
from fusejit.fuse.folding.legality import STRUCTURAL_RULES, check_fold, check_preserved
from fusejit.fuse.rewrite_blocks import definitions, rewrite_blocks
from fusejit.ir.analysis.writes import store_that_takes
from fusejit.ir.execution_plan import Folded, FusionReport, Refusal
from fusejit.ir.graph import Graph
from fusejit.ir.ops import Block, GenericOp, Origin
from fusejit.ir.payload import PayloadBuilder
from fusejit.ir.target_facts import GENERIC, Target
from fusejit.ir.types import IteratorType
from fusejit.ir.values import Value
from fusejit.ir.verifier.scope_rules import symbols_of

ControlMergeFn = Callable[[GenericOp, GenericOp, BlockContext], Accept | Reject]
"""Asked about an op and a later one that may be merged with it; neither is computed again."""


def why_merged(other: GenericOp, op: GenericOp, context: BlockContext) -> Accept | Reject:
    """Merge whatever may be: say which bytes are not read a second time."""
    saved = saved_by_merge(other, op)
    if any(v in other.results for v in op.operand_values):
        reason = f"it stays in memory, but {saved} bytes an element are not read back"
        return Accept("kept and used", reason)
    return Accept("read once", f"what both read is read once, {saved} bytes an element less")


def saved_by_merge(other: GenericOp, op: GenericOp) -> int:
    """Bytes per element that two ops do not read a second time when they are one."""
    read_back = {v for v in op.operand_values if v in other.results and v.type.rank}
    shared = {o.value for o in other.inputs if o.value.type.rank and o in op.inputs}
    return sum(v.type.dtype.itemsize for v in read_back | shared)


def merge_siblings(
    graph: Graph,
    target: Target = GENERIC,
    report: FusionReport | None = None,
    control: ControlMergeFn = why_merged,
) -> Graph:
    """Merge ops over one domain that share what they read, in every block.

    Before and after::

        %v = generic domain(s0) name "add" ins(%a, %b) { in0 + in1 }
        %w = generic domain(s0) name "exp" ins(%v) { exp in0 }
        return %v, %w

        %v, %w = generic domain(s0) name "exp+1" ins(%a, %b) { t = in0 + in1; yield t, exp t }
    """
    outer = definitions(graph.block)
    notes = FusionReport() if report is None else report
    fixed = frozenset(s.name for s in graph.symbols)

    def rewrite(block: Block, leaving: frozenset[Value]) -> Block:
        session = _Session(BlockContext(block, leaving, outer, target), control, notes, fixed)
        changed = session.run()
        return replace(block, ops=list(session.context.ops())) if changed else block

    return rewrite_blocks(graph, rewrite)


@dataclass(slots=True)
class _Session:
    """One block whose siblings are merged; ``fixed`` are the integers that each call has."""

    context: BlockContext
    control: ControlMergeFn
    notes: FusionReport
    fixed: frozenset[str]
    refused: dict[tuple[GenericOp, GenericOp], Refusal] = field(default_factory=dict)

    def run(self) -> bool:
        """Merge until nothing changes; whether anything did."""
        changed = False
        while self.context.sweep(self._merge_into):
            changed = True
            self.refused.clear()  # the last sweep says what stays apart
        self.notes.refused.extend(self.refused.values())
        return changed

    def _merge_into(self, op: GenericOp) -> GenericOp | None:
        """Merge an earlier sibling with ``op``; returns the op that took its place, if it did."""
        context = self.context
        has_loops = bool(op.domain) or any(r.type.rank for r in op.results)
        if op.is_fixed or op.is_unfused or not has_loops:
            return None
        if not op.is_elementwise and not (op.domain and _reduces_floats(op)):
            return None
        if _is_stored_straight(op, context):
            return None
        for other in _earlier_siblings(op, context):
            if _is_stored_straight(other, context):
                continue
            fused = _fused(other, op, context)
            if fused is None or not _fits(fused):
                continue
            if may_move_down(other, op, context):
                place = op
            elif not op.payload.has_extract() and may_move_up(op, other, context, self.fixed):
                # (a gather stays after the check of its integers)
                place = other
            else:
                continue
            verdict = self.control(other, op, context)
            names, why = (other.name, op.name), (verdict.rule, verdict.reason)
            if isinstance(verdict, Reject):
                ends = (other.results[-1], op.results[-1])
                self.refused[other, op] = Refusal(*names, *why, op.location, *ends, "merge")
                continue
            values = (other.results[-1], op.results[-1])
            self.notes.folded.append(Folded(*names, other.location, "merge", *why, values))
            context.replace([other, op], fused, at=place)
            return fused
        return None


def _is_stored_straight(op: GenericOp, context: BlockContext) -> bool:
    """Whether its one result is computed straight into the view that it is stored to.

    An op with several results is computed into memory of its own, from which each store copies.
    """
    if len(op.results) > 1 or op.results[0] in context.leaving:
        return False
    store = store_that_takes(op.results[0], context.users(op.results[0]))
    return store is not None and store.view.buffer.alias_class not in context.reads(op)


def _fused(other: GenericOp, op: GenericOp, context: BlockContext) -> GenericOp | None:
    """Both as one op, if one reads the other at its own points, or they read or compute alike."""
    if any(v in other.results for v in op.operand_values):
        if not op.is_elementwise:
            return None
        return joined_with_reader(other, op, context)
    alike = _share_an_array(other, op) or _compute_the_same(other, op)
    return merge(other, op) if alike else None


def merge(first: GenericOp, second: GenericOp) -> GenericOp:
    """One op that computes two ops over the same domain side by side; the first's results first."""
    inputs, place = merge_operands([*first.inputs, *second.inputs])
    pairs = ((first, place[: len(first.inputs)]), (second, place[len(first.inputs) :]))
    inits = (*first.inits, *second.inits)
    builder = PayloadBuilder(
        [o.value.type.dtype for o in inputs],
        [d for op, _ in pairs for d in op.payload.inits],
    )
    yielded: list[int] = []
    next_init = len(inputs)
    for op, new_input in pairs:
        arguments = [*new_input, *range(next_init, next_init + len(op.inits))]
        next_init += len(op.inits)
        yielded += builder.inline(op.payload, arguments)
    return tidy(
        replace(
            second,
            results=(*first.results, *second.results),
            inputs=inputs,
            inits=inits,
            payload=builder.finish(yielded),
            name=fused_name(second, [first]),
            absorbed=Origin.each_once([*first.origins, *second.absorbed]),
            is_materialized=first.is_materialized or second.is_materialized,
        )
    )


# ---------------------------------------------------------------------------------------- the parts
def _earlier_siblings(op: GenericOp, context: BlockContext) -> Iterator[GenericOp]:
    """Elementwise ops over the same domain before ``op``: it reads them, or what they read."""
    near: dict[GenericOp, None] = {}
    for value in op.operand_values:
        for other in (context.producer(value), *context.users(value)):
            if isinstance(other, GenericOp) and other in context:
                near[other] = None
    for other in sorted(near, key=context.position):
        if context.position(other) < context.position(op) and _is_sibling(other, op):
            yield other


def _is_sibling(other: GenericOp, op: GenericOp) -> bool:
    if other.is_fixed or other.is_unfused or other.domain != op.domain:
        return False
    if op.is_elementwise:
        return other.is_elementwise
    return other.iterators == op.iterators and _reduces_floats(other)


def _reduces_floats(op: GenericOp) -> bool:
    """Whether all that an op does is to reduce floats, which one nest does in lanes."""
    return (
        IteratorType.REDUCTION in op.iterators
        and IteratorType.SEQUENTIAL not in op.iterators
        and not op.payload.has_extract()
        and all(i.combiner is not None and i.start is None for i in op.inits)
        and all(r.type.dtype.kind == "f" for r in op.results)
    )


def joined_with_reader(
    producer: GenericOp, consumer: GenericOp, context: BlockContext
) -> GenericOp | None:
    """The consumer that computes and also writes the producer's results, read at its own points."""
    reads = [k for k, v in enumerate(consumer.operand_values) if v in producer.results]
    if tidy(consumer) is not consumer:
        return None
    for k in reads:
        pair = (producer, k, consumer, context)
        if check_fold(*pair, rules=STRUCTURAL_RULES) or check_preserved(*pair):
            return None
        if not fused_to_producer(producer, k, consumer).is_identity:
            return None
    return fold(producer, reads[0], consumer, preserved=range(len(producer.results)))


def _share_an_array(first: GenericOp, second: GenericOp) -> bool:
    """Whether some array is read by both at the same points."""
    return any(o.value.type.rank and o in second.inputs for o in first.inputs)


def _compute_the_same(first: GenericOp, second: GenericOp) -> bool:
    """Whether they compute equal values that are kept apart, as NumPy hands out two arrays."""
    return first.inputs == second.inputs and first.payload == second.payload


def _fits(op: GenericOp) -> bool:
    arrays = {v for v in (*op.operand_values, *op.results) if v.type.rank}
    return len(arrays) <= MAX_ARRAYS and len(op.payload.instrs) <= MAX_INSTRS


def may_move_down(op: GenericOp, to: GenericOp, context: BlockContext) -> bool:
    """Whether ``op`` may run where ``to`` does: nobody misses it, its memory is unchanged."""
    end = context.position(to)
    needed_before = any(context.position(u) < end for r in op.results for u in context.users(r))
    return not needed_before and not any(
        context.written_between(c, op, to) for c in context.reads(op)
    )


def may_move_up(op: GenericOp, to: GenericOp, context: BlockContext, fixed: frozenset[str]) -> bool:
    """Whether ``op`` may run where ``to`` does: what it reads, but for ``to``, is defined there.

    Integers of the kernel are bound there, and what has been checked of them is, as that an array
    of so many elements is as long as the domain.
    """
    read = {name for v in op.operand_values for e in v.type.extents for name in e.symbols()}
    start, varying = context.position(to), (symbols_of(op) | read) - fixed
    if varying and context.is_checked_between(to, op):
        return False
    if any(context.is_bound_after(name, to) for name in varying):
        return False
    producers = (context.producer(v) for v in op.operand_values)
    return all(
        p is None or p is to or p not in context or context.position(p) < start for p in producers
    )
