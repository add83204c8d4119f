"""Fusion policies: which of the legal fusions are done.

A policy is a name of `POLICIES`, or a function that is asked about each legal fold, merge and step
of a group:

    def keep_exp(candidate):
        if "exp" in candidate.producer.name:
            return "exp is looked at on its own"     # refused, with this reason in explain()
        return candidate.default                     # what fusejit would do
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from fusejit.dataclass import dataclass
from fusejit.fuse.folding.cost import (
    Accept,
    ControlFusionFn,
    Places,
    Reject,
    distinct_uses,
    fold_aggressively,
    fold_if_profitable,
    moved_bytes,
    payload_cost_ns,
)
from fusejit.fuse.folding.fold_context import BlockContext
from fusejit.fuse.folding.siblings import ControlMergeFn, saved_by_merge, why_merged
from fusejit.fuse.grouping.forming import ControlGroupFn, neighbour, saved_by_join, why_joined
from fusejit.ir.ops import GenericOp
from fusejit.ir.target_facts import Target
from fusejit.options import check_fusion
from fusejit.support.interrupts import is_from_handler


@dataclass(frozen=True, slots=True)
class FusionCandidate:
    """A legal fusion that a policy is asked about.

    Attributes
    ----------
    kind : {"fold", "merge", "group"}
        A fold computes the producer where the consumer reads it. A merge computes both side by side
        in one loop. A group runs both on one tile after the other, in one loop over tiles.
    producer, consumer : GenericOp
        The ops; their names, domains, payloads and source locations can be read. The producer of a
        merge, or of a group, may be an op that reads the same array as the consumer.
    producers : tuple of GenericOp
        The ops that the consumer would join: those of the group so far, else the producer alone.
    operand_index : int or None
        Which input of the consumer reads the producer; None if none does.
    uses : int
        How many operands read the producer (of the consumer, for a merge and a group).
    places : int
        At how many different places its elements are needed: folding computes them so often.
        Merges and groups compute them once.
    cost_ns : float
        Estimated nanoseconds to compute one element of the producer, its loads not counted.
    bytes_saved : int
        Bytes per element that are not moved if it is folded at all its places: it is not written
        (nor is the memory fetched for that) and not read back, but what it reads may have to be
        read at each place. Negative if folding moves more. For a merge and a group: bytes that the
        consumer does not read from memory again.
    default : Accept or Reject
        What ``fusion="auto"`` decides, with its reason.
    """

    kind: str
    producer: GenericOp
    producers: tuple[GenericOp, ...]
    operand_index: int | None
    consumer: GenericOp
    uses: int
    places: int
    cost_ns: float
    bytes_saved: int
    default: Accept | Reject


FusionPolicyFn = Callable[[FusionCandidate], "Accept | Reject | bool | str | None"]
"""True or None folds, False or a text (the reason) refuses; `Accept` and `Reject` say the same."""


@dataclass(frozen=True, slots=True)
class Policy:
    """What the passes ask about folds, merges and groups; None where nothing is fused at all.

    Then reshapes stay where they are, too, and reductions are neither unrolled nor split: each op
    of the program is a loop nest of its own.
    """

    folds: ControlFusionFn
    merges: ControlMergeFn
    groups: ControlGroupFn


POLICIES: dict[str, Policy | None] = {
    "auto": Policy(fold_if_profitable, why_merged, why_joined),
    "aggressive": Policy(fold_aggressively, why_merged, why_joined),
    "none": None,
}


def policy(fusion: str | FusionPolicyFn) -> Policy | None:
    """The policy of a name, or of a function that decides; None if nothing is fused.

    Raises
    ------
    ValueError
        If there is no policy of this name.
    TypeError
        If it is neither a name nor callable.
    """
    check_fusion(fusion)
    if isinstance(fusion, str):
        return POLICIES[fusion]
    return Policy(_about_folds(fusion), _about_merges(fusion), _about_groups(fusion))


def _about_folds(decide: FusionPolicyFn) -> ControlFusionFn:
    def control(
        producer: GenericOp, operand_index: int, consumer: GenericOp, context: BlockContext
    ) -> Accept | Reject:
        places = distinct_uses(producer, context)
        candidate = FusionCandidate(
            "fold",
            producer,
            (producer,),
            operand_index,
            consumer,
            len(context.uses(producer)),
            len(places),
            payload_cost_ns(producer.payload, context.target),
            _bytes_saved(producer, places, context),
            fold_if_profitable(producer, operand_index, consumer, context),
        )
        return _asked(decide, candidate, "into")

    return control


def _about_merges(decide: FusionPolicyFn) -> ControlMergeFn:
    def control(other: GenericOp, op: GenericOp, context: BlockContext) -> Accept | Reject:
        saved, default = saved_by_merge(other, op), why_merged(other, op, context)
        candidate = _beside("merge", other, (other,), op, context.target, saved, default)
        return _asked(decide, candidate, "beside")

    return control


def _about_groups(decide: FusionPolicyFn) -> ControlGroupFn:
    def control(members: Sequence[GenericOp], op: GenericOp, target: Target) -> Accept | Reject:
        member, saved = neighbour(members, op), saved_by_join(members, op)
        default = why_joined(members, op, target)
        candidate = _beside("group", member, tuple(members), op, target, saved, default)
        return _asked(decide, candidate, "in one loop with")

    return control


def _beside(
    kind: str,
    producer: GenericOp,
    producers: tuple[GenericOp, ...],
    consumer: GenericOp,
    target: Target,
    bytes_saved: int,
    default: Accept | Reject,
) -> FusionCandidate:
    """A candidate whose producer is computed once."""
    reads = [k for k, v in enumerate(consumer.operand_values) if v in producer.results]
    first, cost_ns = reads[0] if reads else None, payload_cost_ns(producer.payload, target)
    return FusionCandidate(
        kind, producer, producers, first, consumer, len(reads), 1, cost_ns, bytes_saved, default
    )


def _asked(decide: FusionPolicyFn, candidate: FusionCandidate, word: str) -> Accept | Reject:
    try:
        answer = decide(candidate)
    except Exception as error:
        if is_from_handler(error):
            raise
        pair = f"{candidate.producer.name} {word} {candidate.consumer.name}"
        error.add_note(f"raised by the fusion policy, asked about {pair}")
        raise PolicyFailed(error) from error
    return _decision(answer)


def _bytes_saved(producer: GenericOp, places: Places, context: BlockContext) -> int:
    keep, again = moved_bytes(producer, places, context)
    if not context.kept_for(producer):
        return keep - again
    # it is computed and written all the same
    return len(places) * sum(r.type.dtype.itemsize for r in producer.results) - again


def _decision(answer: Any) -> Accept | Reject:
    if isinstance(answer, Accept | Reject):
        return answer
    if answer is None or answer is True:
        return Accept()
    if answer is False:
        return Reject("policy", "the fusion policy refuses")
    if isinstance(answer, str):
        return Reject("policy", answer)
    kind = type(answer).__name__
    raise PolicyFailed(
        TypeError(f"a fusion policy returns True, False, None or a reason, not {kind}")
    )


class PolicyFailed(Exception):
    """A user's policy failed; ``error`` is what the user should see."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error
