"""Fusion policies: which of the legal fusions are done.

A policy is a name of `POLICIES`, or a function that is asked about each legal fold:

    def keep_exp(candidate):
        if "exp" in candidate.producer.name:
            return "exp is looked at on its own"     # refused, with this reason in explain()
        return candidate.default                     # what fusejit would do
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from fusejit.fuse.context import BlockContext, Use
from fusejit.fuse.cost import (
    ACCEPT,
    Accept,
    ControlFusionFn,
    Reject,
    fold_aggressively,
    fold_when_it_pays,
    moved_bytes,
    needed_places,
    payload_cost_ns,
)
from fusejit.ir.graph import GenericOp
from fusejit.ir.indexing_map import IndexingMap


@dataclass(frozen=True, slots=True)
class FusionCandidate:
    """A legal fold that a policy is asked about.

    Attributes
    ----------
    producer, consumer : GenericOp
        The ops; their names, domains, payloads and source locations can be read.
    operand_index : int
        Which input of the consumer reads the producer.
    uses : int
        How many operands read the producer.
    places : int
        At how many different places its elements are needed: folding computes them so often.
    cost_ns : float
        Estimated nanoseconds to compute one element of the producer, its loads not counted.
    bytes_saved : int
        Bytes per element that are not moved if it is folded at all its places: it is not written
        (nor is the memory fetched for that) and not read back, but what it reads may have to be
        read at each place. Negative if folding moves more.
    default : Accept or Reject
        What ``fusion="auto"`` decides, with its reason.
    """

    producer: GenericOp
    operand_index: int
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
    """What the passes ask: ``folds`` is None where nothing is fused at all."""

    folds: ControlFusionFn | None
    merges: bool
    groups: bool


POLICIES: dict[str, Policy] = {
    "auto": Policy(fold_when_it_pays, merges=True, groups=True),
    "aggressive": Policy(fold_aggressively, merges=True, groups=True),
    "none": Policy(None, merges=False, groups=False),
}


def policy(fusion: str | FusionPolicyFn) -> Policy:
    """The policy of a name, or of a function that decides about folds.

    Raises
    ------
    ValueError
        If there is no policy of this name.
    TypeError
        If it is neither a name nor callable.
    """
    if isinstance(fusion, str):
        if fusion not in POLICIES:
            names = ", ".join(repr(name) for name in POLICIES)
            raise ValueError(f"fusion={fusion!r} is not one of {names}, nor a function")
        return POLICIES[fusion]
    if not callable(fusion):
        raise TypeError(f"fusion must be a name or a function, not {type(fusion).__name__}")
    return Policy(_asking(fusion), merges=True, groups=True)


def _asking(decide: FusionPolicyFn) -> ControlFusionFn:
    def control(
        producer: GenericOp, operand_index: int, consumer: GenericOp, context: BlockContext
    ) -> Accept | Reject:
        places = needed_places(producer, context)
        candidate = FusionCandidate(
            producer,
            operand_index,
            consumer,
            len(context.uses(producer)),
            len(places),
            payload_cost_ns(producer.payload, context.target),
            _bytes_saved(producer, places, context),
            fold_when_it_pays(producer, operand_index, consumer, context),
        )
        try:
            answer = decide(candidate)
        except Exception as error:
            error.add_note(
                f"raised by the fusion policy, asked about {producer.name} into {consumer.name}"
            )
            raise PolicyFailed(error) from error
        return _decision(answer)

    return control


def _bytes_saved(
    producer: GenericOp, places: tuple[tuple[Use, IndexingMap], ...], context: BlockContext
) -> int:
    keep, again = moved_bytes(producer, places)
    if not context.kept_for(producer):
        return keep - again
    # it is computed and written all the same
    return len(places) * sum(r.type.dtype.itemsize for r in producer.results) - again


def _decision(answer: Any) -> Accept | Reject:
    if isinstance(answer, Accept | Reject):
        return answer
    if answer is None or answer is True:
        return ACCEPT
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
