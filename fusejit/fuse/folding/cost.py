"""Profitability of folding: which legal folds make the program faster.

A `ControlFusionFn` is asked about every legal fold; `fold_if_profitable` is the default. Times are
per element of the consumer's domain and rough: they rank choices, they do not predict. Sizes are
symbolic, so domains are compared by their dims: a dim that the producer does not depend on is one
along which it would be computed again.
"""

from __future__ import annotations

from collections.abc import Callable

from fusejit.dataclass import dataclass
from fusejit.fuse.folding.fold import fold
from fusejit.fuse.folding.fold_context import BlockContext, Use
from fusejit.fuse.folding.legality import check_fold
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.ops import GenericOp
from fusejit.ir.payload import Instr, Payload
from fusejit.ir.scalar_ops.scalar_op_table import SCALAR_OPS
from fusejit.ir.target_facts import Target
from fusejit.ir.types import dtype_name
from fusejit.ir.values import Value

MAX_ARRAYS = 24  # distinct arrays of one op (MLX's bound on the arrays of a kernel)
MAX_INSTRS = 160  # payload instructions of one op: registers, compile time
BROADCAST_NS = 0.3  # recomputed per element of the larger domain
RECOMPUTE_NS = 0.45  # recomputed per element, all uses but the first together
SHIFTS_NS = 0.3  # recomputed per element in one op that reads a producer at several points
PLAIN_NS = 0.02  # an instruction or a load of a row that is in the first cache, in such an op
MAX_DISTINCT_USES = 8  # ops into which one producer is recomputed
WRITE_FACTOR = 2  # a line that is written is also read first
SCALAR_CALL_FACTOR = 8.0  # a function without a vector form against one with it
_INSTR_NS = {"const": 0.0, "index": 0.0, "cast": 0.05, "extract": 1.0}


@dataclass(frozen=True, slots=True)
class Accept:
    """The fusion pays: the name of the reason, and the reason in words."""

    rule: str = "policy"
    reason: str = "the fusion policy accepts"


@dataclass(frozen=True, slots=True)
class Reject:
    """The fold does not pay: the name of the reason, and the reason in words."""

    rule: str
    reason: str


ACCEPT = Accept("all that is legal", "whatever is computed again")
Places = tuple[tuple[Use, IndexingMap], ...]
"""Uses of a producer, each with the points that it needs."""
ControlFusionFn = Callable[[GenericOp, int, GenericOp, BlockContext], Accept | Reject]


# --------------------------------------------------------------------------------------- policies
def fold_aggressively(
    producer: GenericOp, operand_index: int, consumer: GenericOp, context: BlockContext
) -> Accept | Reject:
    """Fold whatever is legal and leaves something out: not what is only copied and kept as well.

    Two arrays of the same numbers are handed out by computing them once and copying them.
    """
    kept = context.kept_for(producer)
    is_copy = consumer.is_elementwise and not consumer.payload.instrs
    is_told = is_copy or producer.is_materialized
    return Reject("kept anyway", kept) if kept and is_told else ACCEPT


def fold_if_profitable(
    producer: GenericOp, operand_index: int, consumer: GenericOp, context: BlockContext
) -> Accept | Reject:
    """Fold unless something expensive would be computed more often, or the op would grow too big.

    A producer needed at one place only is folded if no dim of the consumer repeats it, or it is
    cheap. One needed at several is folded into all of them or none: if recomputing it is cheap and
    moves fewer bytes than writing it once and reading it back (at several points of one op, what
    these have in common is computed once). One that stays in memory anyway is read from there.
    """
    kept = context.kept_for(producer)
    if kept:
        return Reject("kept anyway", kept)
    refused = _too_big(producer, consumer, context) or _repeated(
        producer, operand_index, consumer, context
    )
    if refused:
        return refused
    if not producer.payload.instrs:
        return ACCEPT  # a copy: to read what it has read costs the same
    if context.num_users(producer) > MAX_DISTINCT_USES:
        return Reject("several uses", f"{context.num_users(producer)} ops read it")
    places = distinct_uses(producer, context)
    if len(places) == 1:
        return _single_use(producer, places, consumer, context)
    return _recompute_or_keep(producer, places, context)


# ------------------------------------------------------------------------------------ the reasons
def _single_use(
    producer: GenericOp,
    places: Places,
    consumer: GenericOp,
    context: BlockContext,
) -> Accept:
    keep, again = moved_bytes(producer, places, context)
    ((_, needed),) = places
    dims = needed.lost_dims(consumer.domain)
    if not dims:
        saved = f", {keep - again} bytes an element not moved" if keep > again else ""
        return Accept("one place", f"needed at one place{saved}")
    cost = payload_cost_ns(producer.payload, context.target)
    names = ", ".join(f"d{d}" for d in dims)
    return Accept("cheap broadcast", f"only {cost:.1f} ns, though again along {names}")


def _too_big(producer: GenericOp, consumer: GenericOp, context: BlockContext) -> Reject | None:
    instrs = len(producer.payload.instrs) + len(consumer.payload.instrs)
    if instrs > MAX_INSTRS:
        return Reject("payload size", f"the payload would have up to {instrs} instructions")
    arrays = len(context.arrays(producer) | context.arrays(consumer)) + len(consumer.results) - 1
    if arrays > MAX_ARRAYS:
        return Reject("number of arrays", f"the op would read and write {arrays} arrays")
    return None


def _repeated(
    producer: GenericOp, operand_index: int, consumer: GenericOp, context: BlockContext
) -> Reject | None:
    """Whether the consumer has dims along which an expensive producer would be recomputed."""
    needed = context.needed(producer, operand_index, consumer)
    dims = needed.lost_dims(consumer.domain)
    if not dims:
        return None
    names = ", ".join(f"d{d}" for d in dims)
    cost = payload_cost_ns(producer.payload, context.target)
    if consumer.reduction_dims and cost > 0:
        return Reject("broadcast into a reduction", f"it would be recomputed along {names}")
    if cost > BROADCAST_NS:
        return Reject("expensive broadcast", f"{cost:.1f} ns would be spent again along {names}")
    if len(context.arrays(producer)) > 2:
        return Reject("load-heavy broadcast", f"its loads would be repeated along {names}")
    return None


def _recompute_or_keep(
    producer: GenericOp, places: Places, context: BlockContext
) -> Accept | Reject:
    for use, _ in places:
        pair = (producer, use.operand_index, use.consumer)
        illegal = check_fold(*pair, context)
        refused = illegal or _too_big(producer, use.consumer, context) or _repeated(*pair, context)
        if refused:
            reason = f"{use.consumer.name} reads it from memory anyway: {refused.reason}"
            return Reject("several uses", reason)
    keep, again = moved_bytes(producer, places, context)
    stream = context.target.stream_ns_per_byte
    if _are_shifts(places):
        trial = _recomputed_at_shifts(producer, places[0][0].consumer, context)
        if isinstance(trial, Reject):
            return trial
        if again > keep:
            return Reject("several uses", f"{again} bytes to read again instead of {keep}")
        where = f"at the {len(places)} points that {places[0][0].consumer.name} reads"
        return Accept(
            "shared by neighbours",
            f"{trial:.1f} ns more {where}, {keep - again} bytes less to move",
        )
    extra = payload_cost_ns(producer.payload, context.target) * (len(places) - 1)
    if extra > RECOMPUTE_NS:
        reason = f"{extra:.1f} ns more to compute it at {len(places)} places"
        return Reject("several uses", reason)
    if again * stream + extra > keep * stream:
        return Reject("several uses", f"{again} bytes to read again instead of {keep}")
    where = f"at {len(places)} places"
    return Accept(
        "cheap to compute again", f"{extra:.1f} ns more {where}, {keep - again} bytes less to move"
    )


def _are_shifts(places: Places) -> bool:
    """Whether one op needs them all, at constant distances from each other."""
    (first, base), *others = places
    return all(
        use.consumer is first.consumer
        and not any((a - b).dims() for a, b in zip(needed.results, base.results, strict=True))
        for use, needed in others
    )


def _recomputed_at_shifts(
    producer: GenericOp, consumer: GenericOp, context: BlockContext
) -> Reject | float:
    """The time it takes one op to compute the producer at several points, or why it reads it there.

    The producer is folded into a trial op point by point: what several points have in common is
    computed once, as for ``v[i] = u[i + 1] - u[i]`` and ``u[i] = t[i + 1] - t[i]``, where both
    points of ``u`` need ``t[i + 1]``.
    """
    if (producer, consumer) not in context.verdicts:
        context.verdicts[producer, consumer] = _trial_at_shifts(producer, consumer, context)
    verdict: Reject | float = context.verdicts[producer, consumer]
    return verdict


def _trial_at_shifts(
    producer: GenericOp, consumer: GenericOp, context: BlockContext
) -> Reject | float:
    target = context.target
    before = _work_at_shifts_ns(producer, target) + _work_at_shifts_ns(consumer, target)
    trial = consumer
    while True:
        reads = [k for k, o in enumerate(trial.inputs) if o.value in producer.results]
        if not reads:
            return max(_work_at_shifts_ns(trial, target) - before, 0.0)
        if refused := _too_big(producer, trial, context):
            return Reject("several uses", f"computed where it is read, {refused.reason}")
        trial = fold(producer, reads[0], trial)
        if _work_at_shifts_ns(trial, target) - before > SHIFTS_NS:
            reason = f"over {SHIFTS_NS} ns more to compute it at each point that {consumer.name}"
            return Reject("several uses", f"{reason} reads")


def _work_at_shifts_ns(op: GenericOp, target: Target) -> float:
    """Rough time of one point, memory not counted.

    Neighbouring points are computed in one vector loop from rows that are in the first cache:
    arithmetic and loads cost less there than `payload_cost_ns`, which stands for whole passes.
    """
    plain = SCALAR_OPS["add"].cost_ns
    costs = [_instr_cost_ns(op.payload, instr, target) for instr in op.payload.instrs]
    return sum(min(c, PLAIN_NS) if c <= plain else c for c in costs) + PLAIN_NS * len(op.inputs)


# ---------------------------------------------------------------------------------------- measures
def is_needed_once(producer: GenericOp, context: BlockContext) -> bool:
    """Whether all that reads the producer needs the same points of it in the same op."""
    few = context.num_users(producer) <= MAX_DISTINCT_USES
    return few and len(distinct_uses(producer, context)) == 1


def distinct_uses(producer: GenericOp, context: BlockContext) -> Places:
    """The uses of a producer, those that need the same points in the same op counted once."""
    known: Places | None = context.distinct_uses.get(producer)
    if known is not None:
        return known
    places: dict[tuple[GenericOp, IndexingMap | int], tuple[Use, IndexingMap]] = {}
    for use in context.uses(producer):
        if check_fold(producer, use.operand_index, use.consumer, context):
            unknown = IndexingMap.scalar(len(use.consumer.domain))
            places[use.consumer, use.operand_index] = (use, unknown)
            continue
        needed = context.needed(producer, use.operand_index, use.consumer)
        places.setdefault((use.consumer, needed), (use, needed))
    known = context.distinct_uses[producer] = tuple(places.values())
    return known


def moved_bytes(producer: GenericOp, places: Places, context: BlockContext) -> tuple[int, int]:
    """Bytes per element to compute, write and read back the producer, and those to recompute it.

    The second counts only arrays that the consumers do not read anyway.
    """
    inputs = context.arrays(producer)
    written = sum(r.type.dtype.itemsize for r in producer.results)
    keep = (WRITE_FACTOR + len(places)) * written + _num_bytes(inputs)
    return keep, sum(_num_bytes(inputs - context.arrays(use.consumer)) for use, _ in places)


def payload_cost_ns(payload: Payload, target: Target) -> float:
    """Rough time to compute a payload once, its loads not counted."""
    costs = (_instr_cost_ns(payload, instr, target) for instr in payload.instrs)
    return round(sum(costs), 6)  # three times 0.1 is not more than 0.3


def _instr_cost_ns(payload: Payload, instr: Instr, target: Target) -> float:
    if instr.op in _INSTR_NS:
        return _INSTR_NS[instr.op]
    row = SCALAR_OPS[instr.op]
    if row.exact:
        return row.cost_ns
    vector = f"{row.name}.{dtype_name(instr.dtype)}"
    return row.cost_ns * (1.0 if vector in target.vector_functions else SCALAR_CALL_FACTOR)


def _num_bytes(values: frozenset[Value]) -> int:
    """Bytes per element of all of them."""
    return sum(v.type.dtype.itemsize for v in values)
