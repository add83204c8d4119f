"""Legality of folding: a closed list of named rules.

Each rule looks at a producer, the number of an operand of the consumer (its inputs, then its inits)
and the consumer, and returns None, or the reason why the fold would not compute the same numbers.
Whether a fold is worth it is not asked here.
"""

from __future__ import annotations

from collections.abc import Callable

from fusejit.dataclass import dataclass
from fusejit.fuse.canonical.tidy_operands import gathered_inputs
from fusejit.fuse.folding.fold import fused_to_producer
from fusejit.fuse.folding.fold_context import BlockContext
from fusejit.ir.analysis.reduction_starts import writes_every_element
from fusejit.ir.ops import GenericOp, Init, Op


@dataclass(frozen=True, slots=True)
class Illegal:
    """A broken rule, with the reason in words."""

    rule: str
    reason: str


Rule = Callable[[Op, int, Op, BlockContext], str | None]


def both_are_generic_ops_of_one_block(
    producer: Op, operand_index: int, consumer: Op, context: BlockContext
) -> str | None:
    """Only generic ops have a payload to splice, and a block runs a number of times of its own."""
    for op in (producer, consumer):
        if not isinstance(op, GenericOp):
            return f"a {type(op).__name__.lower()} has no payload"
    if producer not in context or consumer not in context:
        return "they stand in different blocks"
    return None


def neither_is_a_library_call(
    producer: Op, operand_index: int, consumer: Op, context: BlockContext
) -> str | None:
    """A library routine computes the op as it is."""
    for op in (producer, consumer):
        if isinstance(op, GenericOp) and op.library_call is not None:
            return f"{op.name} is the library call {op.library_call}"
    return None


def neither_is_in_registers(
    producer: Op, operand_index: int, consumer: Op, context: BlockContext
) -> str | None:
    """A tile of sums in vector registers is computed as it is."""
    for op in (producer, consumer):
        if isinstance(op, GenericOp) and op.register_tile is not None:
            return f"sums of {op.name} are in registers"
    return None


def neither_is_kept_apart(
    producer: Op, operand_index: int, consumer: Op, context: BlockContext
) -> str | None:
    """A schedule may keep an op as it is."""
    for op in (producer, consumer):
        if isinstance(op, GenericOp) and op.is_unfused:
            return f"{op.name} is kept apart by no_fuse"
    return None


def operand_is_an_input(
    producer: Op, operand_index: int, consumer: Op, context: BlockContext
) -> str | None:
    """The start of a result is read as an array."""
    if isinstance(consumer, GenericOp) and operand_index >= len(consumer.inputs):
        return f"it is the start of a result of {consumer.name}"
    return None


def operand_is_not_gathered_from(
    producer: Op, operand_index: int, consumer: Op, context: BlockContext
) -> str | None:
    """Which element a gather reads is known only at run time."""
    if isinstance(consumer, GenericOp) and operand_index in gathered_inputs(consumer.payload):
        return f"{consumer.name} reads it at computed subscripts"
    return None


def producer_is_parallel(
    producer: Op, operand_index: int, consumer: Op, context: BlockContext
) -> str | None:
    """A number that takes many points to make has no payload that makes it at one point."""
    if isinstance(producer, GenericOp) and not producer.is_elementwise:
        kind = "reduction" if any(i.combiner for i in producer.inits) else "sequential"
        return f"{kind} producer {producer.name}"
    return None


def producer_writes_each_element_once(
    producer: Op, operand_index: int, consumer: Op, context: BlockContext
) -> str | None:
    """The map of the consumed result is a permutation, so each element tells its point."""
    if not isinstance(producer, GenericOp) or not isinstance(consumer, GenericOp):
        return None
    value = consumer.inputs[operand_index].value
    init = producer.inits[producer.results.index(value)]
    if not writes_every_element(init, producer.domain, value.type):
        return f"{producer.name} writes only part of %{value.name}, through {init.map}"
    return None


def producer_reads_no_init(
    producer: Op, operand_index: int, consumer: Op, context: BlockContext
) -> str | None:
    """A start that is read is turned into an input by `fuse.canonical.constants.detach_starts`."""
    if isinstance(producer, GenericOp):
        for i in range(len(producer.inits)):
            if producer.payload.reads_init(i):
                return f"{producer.name} reads the start of its result {i}"
    return None


def memory_is_unchanged_between(
    producer: Op, operand_index: int, consumer: Op, context: BlockContext
) -> str | None:
    """What the producer has loaded is still in memory where the consumer stands."""
    for alias_class in context.reads(producer):
        if context.written_between(alias_class, producer, consumer):
            return "memory that it reads is stored to before the consumer"
    return None


# What the maps and payloads must be, and what memory must be besides.
STRUCTURAL_RULES: tuple[Rule, ...] = (
    both_are_generic_ops_of_one_block,
    neither_is_a_library_call,
    neither_is_in_registers,
    neither_is_kept_apart,
    operand_is_an_input,
    operand_is_not_gathered_from,
    producer_is_parallel,
    producer_writes_each_element_once,
    producer_reads_no_init,
)
RULES: tuple[Rule, ...] = (*STRUCTURAL_RULES, memory_is_unchanged_between)


def check_fold(
    producer: Op,
    operand_index: int,
    consumer: Op,
    context: BlockContext,
    rules: tuple[Rule, ...] = RULES,
) -> Illegal | None:
    """The first of the rules that a fold would break, or None."""
    if rules is not RULES:
        return _first_broken(rules, producer, operand_index, consumer, context)
    key = (producer, operand_index, consumer)
    if key not in context.legality:
        context.legality[key] = _first_broken(RULES, *key, context)
    broken: Illegal | None = context.legality[key]
    return broken


# ---------------------------------------------------------------- keeping results of the producer
def consumer_is_parallel(
    producer: Op, operand_index: int, consumer: Op, context: BlockContext
) -> str | None:
    """A reduction does not also write what it reads."""
    if isinstance(consumer, GenericOp) and not consumer.is_elementwise:
        return f"{consumer.name} is a reduction"
    return None


def preserved_results_are_written_whole(
    producer: Op, operand_index: int, consumer: Op, context: BlockContext
) -> str | None:
    """The fused op runs over the consumer's domain: elements may be left out, or repeated."""
    if not isinstance(producer, GenericOp) or not isinstance(consumer, GenericOp):
        return None
    to_producer = fused_to_producer(producer, operand_index, consumer)
    for value, init in zip(producer.results, producer.inits, strict=True):
        fused = Init(init.map.compose(to_producer))
        if not writes_every_element(fused, consumer.domain, value.type):
            return f"{consumer.name} needs only part of %{value.name}, or parts of it twice"
    return None


def consumer_reads_the_producer_at_one_point(
    producer: Op, operand_index: int, consumer: Op, context: BlockContext
) -> str | None:
    """An op cannot read elements that it defines at another point."""
    if not isinstance(producer, GenericOp) or not isinstance(consumer, GenericOp):
        return None
    needed = fused_to_producer(producer, operand_index, consumer)
    for k, value in enumerate(consumer.operand_values):
        if value in producer.results and (
            k >= len(consumer.inputs) or fused_to_producer(producer, k, consumer) != needed
        ):
            return f"{consumer.name} reads %{value.name} at other points too"
    return None


PRESERVING_RULES: tuple[Rule, ...] = (
    consumer_is_parallel,
    preserved_results_are_written_whole,
    consumer_reads_the_producer_at_one_point,
)


def check_preserved(
    producer: Op, operand_index: int, consumer: Op, context: BlockContext
) -> Illegal | None:
    """The first of `PRESERVING_RULES` that keeping the producer's results would break, or None.

    The fold itself must be legal, and nothing may read the results before the consumer. (linalg
    asks less here, and writes preserved results in part.)
    """
    return _first_broken(PRESERVING_RULES, producer, operand_index, consumer, context)


def _first_broken(
    rules: tuple[Rule, ...], producer: Op, operand_index: int, consumer: Op, context: BlockContext
) -> Illegal | None:
    for rule in rules:
        reason = rule(producer, operand_index, consumer, context)
        if reason is not None:
            return Illegal(rule.__name__.replace("_", " "), reason)
    return None
