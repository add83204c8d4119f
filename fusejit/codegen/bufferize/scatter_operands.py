"""Operands of a scatter that are computed point by point where they are written.

    %i, %q = generic ..           %i are the subscripts, %q the elements
    scatter @a at (%i) = %q

needs no memory for ``%i`` and ``%q`` if the scatter alone reads them and their op reads nothing
that the scatter writes. An op that reads the same memory may do so at the very places that the
scatter writes, if no two points have the same one: ``x[p::p] -= x[p::p] // p``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from fusejit.ir.ops import GenericOp, Load, Op, Operand, Scatter
from fusejit.ir.values import Value

Root = Callable[[Value], Value]
"""The value behind a chain of views."""


def reads_allow_scatter(
    scatter: Scatter,
    producer: GenericOp,
    defining: Mapping[Value, Op],
    root: Root,
    versions: Mapping[int, int],
) -> bool:
    """Whether what ``producer`` reads is the same while the scatter runs.

    Parameters
    ----------
    producer : GenericOp
        Computes operands of the scatter elementwise, with the scatter's dims as its domain.
    defining : mapping
        The op of each value.
    versions : mapping
        Version of each alias class before the scatter.
    """
    for at, operand in enumerate(producer.inputs):
        load = defining.get(root(operand.value))
        if not isinstance(load, Load):
            continue
        alias_class = load.view.buffer.alias_class
        if versions.get(alias_class, 0) != load.version:
            return False
        is_written = alias_class == scatter.view.buffer.alias_class
        if is_written and not _reads_what_it_writes(scatter, producer, at, defining):
            return False
    return True


def _reads_what_it_writes(
    scatter: Scatter, producer: GenericOp, at: int, defining: Mapping[Value, Op]
) -> bool:
    """Whether each point reads, through input ``at``, only the element that it alone writes."""
    source = defining.get(producer.inputs[at].value)
    if not (scatter.distinct and scatter.from_start and isinstance(source, Load)):
        return False
    if source.view.buffer is not scatter.view.buffer or source.view.map != scatter.view.map:
        return False
    payload = producer.payload
    direct = {ref for instr in payload.instrs for ref in instr.operands}
    if at in direct.union(payload.results):
        return False
    places = dict(zip(producer.results, payload.results, strict=True))

    def is_scatter_index(ref: int, axis: int) -> bool:
        subscript = scatter.subscripts[axis]
        if isinstance(subscript, Operand):
            return subscript.map.is_identity and places.get(subscript.value) == ref
        number = ref - payload.num_arguments
        instr = payload.instrs[number] if number >= 0 else None
        return instr is not None and instr.op == "index" and instr.attr == subscript

    return all(
        is_scatter_index(ref, axis)
        for instr in payload.instrs
        if instr.op == "extract" and instr.attr == at
        for axis, ref in enumerate(instr.operands)
    )
