"""Legality of folding: a closed list of named rules.

Each rule looks at a `Fold` and returns None, or why it would not compute the same numbers. Whether
a fold is worth it is not asked here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from fusejit.dataclass import dataclass
from fusejit.fuse.folding.fold import fused_to_producer
from fusejit.fuse.folding.fold_context import BlockContext
from fusejit.ir.analysis.reduction_starts import writes_every_element
from fusejit.ir.ops import GenericOp, Init, Op


@dataclass(frozen=True, slots=True)
class Illegal:
    """A broken rule, with the reason in words."""

    rule: str
    reason: str


@dataclass(frozen=True, slots=True)
class Fold:
    """What a rule looks at: ``operand_index`` counts the inputs of the consumer, then its inits.

    Rules after the first one take it for granted that both ops are generic.
    """

    producer: GenericOp
    operand_index: int
    consumer: GenericOp
    context: BlockContext

    @property
    def ops(self) -> tuple[Op, ...]:
        """Both ops, whatever they are."""
        return self.producer, self.consumer


Rule = Callable[[Fold], str | None]


def both_are_generic_ops_of_one_block(fold: Fold) -> str | None:
    """Only generic ops have a payload to splice, and a block runs a number of times of its own."""
    for op in fold.ops:
        if not isinstance(op, GenericOp):
            return f"a {type(op).__name__.lower()} has no payload"
    if any(op not in fold.context for op in fold.ops):
        return "they stand in different blocks"
    return None


def neither_is_a_library_call(fold: Fold) -> str | None:
    """A library routine computes the op as it is."""
    for op in (fold.producer, fold.consumer):
        if op.library_call is not None:
            return f"{op.name} is the library call {op.library_call}"
    return None


def neither_is_in_registers(fold: Fold) -> str | None:
    """A tile of sums in vector registers is computed as it is."""
    for op in (fold.producer, fold.consumer):
        if op.register_tile is not None:
            return f"sums of {op.name} are in registers"
    return None


def neither_is_kept_apart(fold: Fold) -> str | None:
    """A schedule may keep an op as it is."""
    for op in (fold.producer, fold.consumer):
        if op.is_unfused:
            return f"{op.name} is kept apart by no_fuse"
    return None


def operand_is_an_input(fold: Fold) -> str | None:
    """The start of a result is read as an array."""
    if fold.operand_index >= len(fold.consumer.inputs):
        return f"it is the start of a result of {fold.consumer.name}"
    return None


def operand_is_not_gathered_from(fold: Fold) -> str | None:
    """Which element a gather reads is known only at run time."""
    if fold.operand_index in fold.consumer.payload.gathered():
        return f"{fold.consumer.name} reads it at computed subscripts"
    return None


def producer_is_parallel(fold: Fold) -> str | None:
    """A number that takes many points to make has no payload that makes it at one point."""
    if not fold.producer.is_elementwise:
        kind = "reduction" if any(i.combiner for i in fold.producer.inits) else "sequential"
        return f"{kind} producer {fold.producer.name}"
    return None


def producer_writes_each_element_once(fold: Fold) -> str | None:
    """The map of the consumed result is a permutation, so each element tells its point."""
    producer, value = fold.producer, fold.consumer.inputs[fold.operand_index].value
    init = producer.inits[producer.results.index(value)]
    if not writes_every_element(init, producer.domain, value.type):
        return f"{producer.name} writes only part of %{value.name}, through {init.map}"
    return None


def producer_reads_no_init(fold: Fold) -> str | None:
    """A start that is read is turned into an input by `fuse.canonical.constants.detach_starts`."""
    for i in range(len(fold.producer.inits)):
        if fold.producer.payload.reads_init(i):
            return f"{fold.producer.name} reads the start of its result {i}"
    return None


def memory_is_unchanged_between(fold: Fold) -> str | None:
    """What the producer has loaded is still in memory where the consumer stands."""
    for alias_class in fold.context.reads(fold.producer):
        if fold.context.written_between(alias_class, *fold.ops):
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
def consumer_is_parallel(fold: Fold) -> str | None:
    """A reduction does not also write what it reads."""
    if not fold.consumer.is_elementwise:
        return f"{fold.consumer.name} is a reduction"
    return None


def preserved_results_are_written_whole(fold: Fold) -> str | None:
    """The fused op runs over the consumer's domain: elements may be left out, or repeated."""
    producer, consumer = fold.producer, fold.consumer
    to_producer = fused_to_producer(producer, fold.operand_index, consumer)
    for value, init in zip(producer.results, producer.inits, strict=True):
        fused = Init(init.map.compose(to_producer))
        if not writes_every_element(fused, consumer.domain, value.type):
            return f"{consumer.name} needs only part of %{value.name}, or parts of it twice"
    return None


def consumer_reads_the_producer_at_one_point(fold: Fold) -> str | None:
    """An op cannot read elements that it defines at another point."""
    producer, consumer = fold.producer, fold.consumer
    needed = fused_to_producer(producer, fold.operand_index, consumer)
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
    fold = Fold(cast(GenericOp, producer), operand_index, cast(GenericOp, consumer), context)
    for rule in rules:
        reason = rule(fold)
        if reason is not None:
            return Illegal(rule.__name__.replace("_", " "), reason)
    return None
