"""Lines of the user's program that a variant computes."""

from __future__ import annotations

from collections.abc import Iterator

from fusejit.explain.remedies import REMEDIES
from fusejit.explain.report import VariantReport
from fusejit.explain.user_lines import COMPILED, MEMORY, NUMPY, PYTHON, SCALAR, SERIAL, UserLines
from fusejit.ir.analysis.lines import by_line
from fusejit.ir.execution_plan import (
    INDEPENDENT,
    SPLIT,
    BindStep,
    HostStep,
    KernelStep,
    LibraryStep,
    walk_steps,
)

NOTHING = "nothing"  # the first word of a remedy where nothing is to be done


def note_variant(lines: UserLines, of: VariantReport, numbers: Iterator[int]) -> None:
    """Note where each line of a variant runs, and what holds it back.

    ``numbers`` are those of its loops.
    """
    for step in walk_steps(of.schedule.steps):
        if isinstance(step, KernelStep):
            for nest in of.nests[step]:
                loop = next(numbers) if nest.is_loop else 0
                for origins in nest.members:
                    for location, _ in by_line(origins):
                        lines.add(location, loop=loop, runs="" if loop else COMPILED)
        elif isinstance(step, LibraryStep):
            lines.add(step.op.location, runs="BLAS")
        elif isinstance(step, HostStep):
            what = "is called between loops" if step.op.pure else "is called once, in order"
            lines.add(step.op.location, remark=f"{step.op.function} {what}", held=NUMPY)
        elif not isinstance(step, BindStep):
            why = "Python runs this loop or condition, because NumPy is called in it"
            lines.add(step.op.location, remark=why, held=PYTHON)
    _note_refusals(lines, of)
    for note in of.report.loops:
        if note.rule not in (INDEPENDENT, SPLIT):
            lines.add(note.location, remark=f"iterations in order: {note.reason}", held=SERIAL)
    for name, location in of.scalar_functions():
        lines.add(location, remark=f"no vector form of {name} on this machine", held=SCALAR)


def _note_refusals(lines: UserLines, of: VariantReport) -> None:
    """List the values stored in memory between two loops, where the user can change that."""
    for refusal in of.report.refused:
        remedy = REMEDIES.get(refusal.rule, NOTHING)
        if not remedy.startswith(NOTHING) and not of.shares_a_loop(refusal):
            remark = f"{of.producer_name(refusal)} is stored in memory: {remedy}"
            lines.add(refusal.location, remark=remark, held=MEMORY)
