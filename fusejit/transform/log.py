"""The log of a schedule: a row for each step with what it keeps and what it costs."""

from __future__ import annotations

from collections.abc import Sequence

from fusejit.ir.graph import Graph
from fusejit.ir.ops import GenericOp, Loop, walk
from fusejit.transform.core.base import ScheduleState
from fusejit.transform.core.costs import estimate

HEADS = ("", "step", "line", "keeps", "time", "moved", "flops", "scratch", "what")


def log_text(schedule: ScheduleState, seconds: Sequence[float] = ()) -> str:
    """The table of steps; with ``seconds``, those before the first step and after each one."""
    rows = [["0", "", "", "", *_costs(schedule, 0, seconds), "as traced"]]
    for number, step in enumerate(schedule.steps, 1):
        checked = f"checked on {step.num_checked} inputs" if step.num_checked else "not checked"
        what = f"{step.what}; {_count(step.graph)}; {checked}"
        costs = _costs(schedule, number, seconds)
        rows.append([str(number), step.call, step.line, step.tag, *costs, what])
    shown = [k for k in range(len(HEADS)) if k < 2 or any(row[k] for row in rows)]
    lines = table_lines([HEADS, *rows] if schedule.steps else [], shown, {0, 4, 5, 6, 7})
    head = f"{schedule.graph.name}: {_count(schedule.stage.graph)}"
    return "\n".join([head, *lines])


def table_lines(
    rows: Sequence[Sequence[str]], shown: Sequence[int], numbers: set[int]
) -> list[str]:
    """Rows with columns of equal widths; those of numbers are aligned to the right."""
    width = {k: max((len(row[k]) for row in rows), default=0) for k in shown}
    return [
        "  ".join(
            row[k].rjust(width[k]) if k in numbers else row[k].ljust(width[k]) for k in shown
        ).rstrip()
        for row in rows
    ]


def _costs(schedule: ScheduleState, number: int, seconds: Sequence[float]) -> list[str]:
    """The columns of the graph after a step; empty ones where no sizes are known."""
    time = quantity(seconds[number], "s") if seconds else ""
    if not schedule.args:
        return [time, "", "", ""]
    costs = estimate(schedule.graphs[number], schedule.sizes)
    scratch = quantity(costs.scratch, "B") if costs.scratch else "-"
    return [time, quantity(costs.moved, "B"), quantity(costs.flops, "flop"), scratch]


def quantity(number: float, unit: str) -> str:
    """A number of three digits with its unit.

    >>> quantity(1920000, "B"), quantity(0.00421, "s")
    ('1.92 MB', '4.21 ms')
    """
    for factor, prefix in ((1e9, "G"), (1e6, "M"), (1e3, "k"), (1, ""), (1e-3, "m"), (1e-6, "µ")):
        if number >= factor:
            return f"{number / factor:#.3g}".rstrip(".") + f" {prefix}{unit}"
    return f"{number:.3g} {unit}"


def _count(graph: Graph) -> str:
    ops = [*walk(graph.block)]
    num_ops = sum(isinstance(op, GenericOp) and bool(op.domain) for op in ops)
    num_loops = sum(isinstance(op, Loop) for op in ops)
    return f"{num_ops} ops, {num_loops} loops"
