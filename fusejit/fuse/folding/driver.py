"""The driver: which pairs are tried, in which order, and what is reported.

Producers that are needed at one place are folded first, to a fixpoint: a diamond such as
``e / (1 + e)`` closes by itself that way, because ``1 + e`` goes into the division, which then
reads ``e`` once. Only then are producers with several places recomputed, where that is cheap.
"""

from __future__ import annotations

from fusejit.dataclass import dataclass, field, replace
from fusejit.fuse.folding.cost import (
    Accept,
    ControlFusionFn,
    Reject,
    fold_if_profitable,
    is_needed_once,
)
from fusejit.fuse.folding.fold import fold
from fusejit.fuse.folding.fold_context import BlockContext
from fusejit.fuse.folding.legality import Illegal, check_fold
from fusejit.fuse.rewrite_blocks import definitions, rewrite_blocks
from fusejit.ir.execution_plan import Folded, FusionReport, Refusal
from fusejit.ir.graph import Graph
from fusejit.ir.ops import Block, GenericOp, Op, Operand
from fusejit.ir.target_facts import GENERIC, Target
from fusejit.ir.values import Value


def fold_producers(
    graph: Graph,
    target: Target = GENERIC,
    control: ControlFusionFn = fold_if_profitable,
    report: FusionReport | None = None,
) -> Graph:
    """Fold elementwise producers into their consumers, in every block, until nothing folds.

    Before and after::

        %t = generic domain(s0) name "multiply" ins(%a, %b) { in0 * in1 }
        %r = generic domain(s0) name "add" ins(%t, %c) { in0 + in1 }

        %r = generic domain(s0) name "add+1" ins(%a, %b, %c) { (in0 * in1) + in2 }

    Parameters
    ----------
    graph : Graph
        A canonical graph.
    target : Target
        The machine, for the cost model.
    control : ControlFusionFn
        Decides which legal folds are done.
    report : FusionReport, optional
        Gets each fold, and a refusal for each pair that stays apart; refusals of an earlier run
        are replaced, since this run tried those pairs again.

    Returns
    -------
    Graph
        The same object if nothing was folded.
    """
    outer = definitions(graph.block)
    notes = FusionReport() if report is None else report
    notes.refused[:] = [r for r in notes.refused if r.how != "fold"]

    def rewrite(block: Block, leaving: frozenset[Value]) -> Block:
        context = BlockContext(block, leaving, outer, target)
        session = _Session(context, control, notes)
        session.run()
        return replace(block, ops=list(context.ops())) if session.changed else block

    return rewrite_blocks(graph, rewrite)


@dataclass(slots=True)
class _Session:
    """One block being folded."""

    context: BlockContext
    control: ControlFusionFn
    report: FusionReport
    changed: bool = False
    refused: dict[tuple[str, str, str], Refusal] = field(default_factory=dict)

    def run(self) -> None:
        sweep, fold_into = self.context.sweep, self._fold_into
        while sweep(lambda op: fold_into(op, True)) or sweep(lambda op: fold_into(op, False)):
            pass
        for consumer in self.context.generics():
            for k in range(len(consumer.operand_values)):
                self._note_refusal(k, consumer)
        self.report.refused.extend(self.refused.values())

    def _fold_into(self, consumer: GenericOp, single: bool) -> GenericOp | None:
        """Fold the first producer that may be; returns the op that takes the consumer's place."""
        for k, operand in enumerate(consumer.inputs):
            producer = self.context.producer(operand.value)
            if not isinstance(producer, GenericOp):
                continue
            if check_fold(producer, k, consumer, self.context):
                continue
            if is_needed_once(producer, self.context) != single:
                continue
            verdict = self.control(producer, k, consumer, self.context)
            if isinstance(verdict, Reject):
                continue
            if single:
                return self._fold(producer, k, consumer, verdict)
            return self._fold_into_all_uses(producer, consumer)
        return None

    def _fold_into_all_uses(self, producer: GenericOp, consumer: GenericOp) -> GenericOp | None:
        """Fold a producer wherever that is accepted now; returns what replaces ``consumer``.

        All at once: once it is needed at one place less, the producer may take in what it reads,
        become too expensive for the places that are left, and be computed and kept as well.
        """
        places: dict[GenericOp, list[tuple[Operand, Accept]]] = {}
        for use in self.context.uses(producer):
            pair = (producer, use.operand_index, use.consumer, self.context)
            if check_fold(*pair) or isinstance(verdict := self.control(*pair), Reject):
                continue
            operand = use.consumer.inputs[use.operand_index]
            places.setdefault(use.consumer, []).append((operand, verdict))
        replaced: GenericOp | None = None
        for user, operands in places.items():
            fused = user
            for operand, why in operands:
                if operand in fused.inputs:  # it may have been folded along with another
                    fused = self._fold(producer, fused.inputs.index(operand), fused, why)
            if user is consumer:
                replaced = fused
        return replaced

    def _fold(
        self, producer: GenericOp, operand_index: int, consumer: GenericOp, why: Accept
    ) -> GenericOp:
        fused = fold(producer, operand_index, consumer)
        self.context.replace([consumer], fused, at=consumer)
        names, reason = (producer.name, consumer.name), (why.rule, why.reason)
        values = (consumer.inputs[operand_index].value, consumer.results[-1])
        self.report.folded.append(Folded(*names, producer.location, "fold", *reason, values))
        if self.context.is_dead(producer):
            self.context.remove(producer)
        self.changed = True
        return fused

    def _note_refusal(self, operand_index: int, consumer: GenericOp) -> None:
        """Say why a pair of generic ops stays apart."""
        value = consumer.operand_values[operand_index]
        producer: Op | None = self.context.producer(value)
        if not isinstance(producer, GenericOp):
            return
        broken = check_fold(producer, operand_index, consumer, self.context)
        verdict = broken or self.control(producer, operand_index, consumer, self.context)
        # a schedule has put both into the loops of a register tile
        are_in_one_tile = any(op.register_tile is not None for op in (producer, consumer))
        if isinstance(verdict, Illegal | Reject) and not are_in_one_tile:
            names = (producer.name, consumer.name)
            why = (verdict.rule, verdict.reason)
            refusal = Refusal(*names, *why, consumer.location, value, consumer.results[-1])
            key = (producer.results[0].name, consumer.results[0].name, refusal.rule)
            self.refused.setdefault(key, refusal)
