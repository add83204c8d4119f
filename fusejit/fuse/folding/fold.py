"""The mechanism of folding: one function of map algebra, which neither asks nor decides.

With ``p`` the map of the result that is consumed and ``c`` the map through which the consumer
reads it, a point of the consumer's domain needs the point ``inverse(p) . c`` of the producer's
domain; the producer's other maps and its ``index`` instructions are composed with that. Source:
MLIR's ``ElementwiseOpFusion.cpp`` (``getIndexingMapOfProducerOperandsInCoordinatesOfFusedOp``).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fusejit.dataclass import replace
from fusejit.fuse.canonical.tidy_operands import merge_operands, tidy
from fusejit.ir.analysis.reduction_starts import writes_every_element
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.ops import GenericOp, Init, Operand, Origin
from fusejit.ir.payload import PayloadBuilder


def fused_to_producer(producer: GenericOp, operand_index: int, consumer: GenericOp) -> IndexingMap:
    """From the consumer's domain to the point of the producer's domain that it needs.

    A producer that writes through ``(d0, d1) -> (d1, d0)`` and is read through
    ``(d0, d1) -> (d0, d1)`` is needed at ``(d0, d1) -> (d1, d0)``.
    """
    consumed = consumer.inputs[operand_index]
    written = producer.inits[producer.results.index(consumed.value)].map
    return written.inverse().compose(consumed.map)


def operands_at_the_same_point(
    producer: GenericOp, operand_index: int, consumer: GenericOp
) -> tuple[int, ...]:
    """The inputs that are folded along with ``operand_index``: they need the same points.

    They read the same result once more, or another result of a producer with several.
    """
    needed = fused_to_producer(producer, operand_index, consumer)
    gathered = consumer.payload.gathered()

    def is_alike(k: int, operand: Operand) -> bool:
        if operand.value not in producer.results or k in gathered:
            return False
        init = producer.inits[producer.results.index(operand.value)]
        whole = writes_every_element(init, producer.domain, operand.value.type)
        return whole and fused_to_producer(producer, k, consumer) == needed

    others = (k for k, o in enumerate(consumer.inputs) if k != operand_index and is_alike(k, o))
    return tuple(sorted((operand_index, *others)))


def fold(
    producer: GenericOp,
    operand_index: int,
    consumer: GenericOp,
    preserved: Iterable[int] = (),
) -> GenericOp:
    """The consumer with the producer's payload in place of input ``operand_index``.

    Inputs that need the same points of the producer are folded along with it.

    Before and after::

        %t = multiply domain(s0, s1) ins(%a [(d0, d1) -> (d1, d0)])        { in0 * in0 }
        %r = exp      domain(s0, s1) ins(%t [(d0, d1) -> (d1, d0)])        { exp in0 }

        %r = exp+1    domain(s0, s1) ins(%a [(d0, d1) -> (d0, d1)])        { exp (in0 * in0) }

    Parameters
    ----------
    producer, operand_index, consumer
        A pair that `fusejit.fuse.folding.legality.check_fold` finds no fault with.
    preserved : iterable of int
        Results of the producer that become results of the fused op, before the consumer's;
        each must be written whole there (`fusejit.fuse.folding.legality.check_preserved`).

    Returns
    -------
    GenericOp
        Defines the preserved values and the consumer's. Inputs: the consumer's before the folded
        one, the producer's, the consumer's after it; equal ones once, dead ones dropped.
    """
    to_producer = fused_to_producer(producer, operand_index, consumer)
    folded = operands_at_the_same_point(producer, operand_index, consumer)
    kept = tuple(preserved)
    composed = [Operand(o.value, o.map.compose(to_producer)) for o in producer.inputs]
    before = [o for k, o in enumerate(consumer.inputs) if k not in folded and k < operand_index]
    after = [o for k, o in enumerate(consumer.inputs) if k not in folded and k > operand_index]
    inputs, place = merge_operands([*before, *composed, *after])
    producer_place = place[len(before) : len(before) + len(composed)]
    places = iter([*place[: len(before)], *place[len(before) + len(composed) :]])
    consumer_place = [-1 if k in folded else next(places) for k in range(len(consumer.inputs))]

    inits = (
        *(Init(producer.inits[i].map.compose(to_producer)) for i in kept),
        *consumer.inits,
    )
    payload_p, payload_c = producer.payload, consumer.payload
    builder = PayloadBuilder(
        [o.value.type.dtype for o in inputs],
        [*(producer.results[i].type.dtype for i in kept), *payload_c.inits],
    )

    produced = builder.inline(
        payload_p.over(to_producer.results),
        [*producer_place, *([None] * len(producer.inits))],
    )

    def element(k: int) -> int:
        value = consumer.inputs[k].value
        return builder.cast(produced[producer.results.index(value)], value.type.dtype)

    arguments: list[int | None] = [element(k) if p < 0 else p for k, p in enumerate(consumer_place)]
    arguments += [len(inputs) + len(kept) + i for i in range(len(consumer.inits))]
    yielded = builder.inline(payload_c, arguments)
    return tidy(
        replace(
            consumer,
            results=(*(producer.results[i] for i in kept), *consumer.results),
            inputs=inputs,
            inits=inits,
            payload=builder.finish([*(produced[i] for i in kept), *yielded]),
            name=fused_name(consumer, [producer]),
            absorbed=Origin.each_once([*producer.origins, *consumer.absorbed]),
        )
    )


def fused_name(root: GenericOp, folded: Sequence[GenericOp]) -> str:
    """The root's name and the number of ops that went into it: ``exp+2``."""
    name, count = _split_name(root.name)
    return f"{name}+{count + sum(1 + _split_name(op.name)[1] for op in folded)}"


def _split_name(name: str) -> tuple[str, int]:
    base, plus, count = name.rpartition("+")
    return (base, int(count)) if plus and count.isdigit() else (name, 0)
