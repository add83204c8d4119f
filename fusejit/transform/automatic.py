"""`automatic_recipe`: what the automatic passes fuse, as a recipe that makes the same choices.

The passes note each fold and merge with the values of both ops, and each group with its ops. These
decisions are repeated step by step on the schedule, whose steps are written down as they succeed.
So the text is legal for the traced arguments, and names are those that ops have at each step.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fusejit.dataclass import replace
from fusejit.errors import ScheduleError
from fusejit.fuse.canonical.canonicalize import canonicalize
from fusejit.ir.execution_plan import Folded, Group, KernelStep, walk_steps
from fusejit.ir.ops import GenericOp, walk
from fusejit.ir.values import Value
from fusejit.transform.core.base import BaseHandle, ScheduleState
from fusejit.transform.core.costs import CACHED_BYTES, num_bytes
from fusejit.transform.core.lookup import labels, op_of
from fusejit.transform.primitives.canonicalized import canonicalized
from fusejit.transform.primitives.fuse import fuse
from fusejit.transform.primitives.fuse_siblings import fuse_siblings
from fusejit.transform.primitives.rematerialize import rematerialize
from fusejit.transform.primitives.threads import threads
from fusejit.transform.primitives.tile import tile

FOLDS: dict[str, tuple[Callable[..., BaseHandle], str]] = {
    "fold": (rematerialize, "folded into"),
    "merge": (fuse_siblings, "merged with"),
}
"""The step that repeats a decision, and the decision in words."""

MAX_TILE = 64
"""Largest suggested number of rows of a tile."""


def automatic_recipe(schedule: ScheduleState) -> str:
    """The text of a recipe with the decisions of the automatic passes."""
    traced = replace(schedule.stage.traced, graph=schedule.graph)
    fused = replace(schedule.stage, traced=traced).fuse().schedule
    writer = _Writer(schedule)
    if canonicalize(schedule.graph) is not schedule.graph:
        writer.schedule = canonicalized(schedule, check=False)
        writer.lines.append("s = s.canonicalize()")
    for decision in fused.report.folded:
        if decision.how in FOLDS:
            writer.fold(decision)
    for step in walk_steps(fused.steps):
        for group in step.groups if isinstance(step, KernelStep) else ():
            writer.group(group)
    name = schedule.graph.name if schedule.graph.name.isidentifier() else "function"
    parameters = "".join(f", {name}={size}" for name, size in writer.sizes.items())
    lines = [f"def {name}_recipe(s{parameters}):", *(f"    {line}" for line in writer.lines)]
    return "\n".join([*lines, "    return s"])


class _Writer:
    def __init__(self, schedule: ScheduleState) -> None:
        self.schedule = schedule
        self.lines: list[str] = []
        self.sizes: dict[str, int] = {}
        self.last: Value | None = None  # whose step the last line ends with

    def fold(self, decision: Folded) -> None:
        """Compute a producer, or a sibling, where another op is computed."""
        one, other = (op_of(self.schedule.graph, value) for value in decision.values)
        primitive, words = FOLDS[decision.how]
        what = f"{decision.producer} {words} {decision.consumer}"
        if one is None or other is None or one is other:
            self.leave(what, "the passes made one of them")
            return
        names = labels(self.schedule.graph)
        try:
            handle = primitive(self.handle(other), names[one], check=False)
        except ScheduleError as error:
            self.leave(what, str(error))
            return
        self.schedule = handle.schedule
        applied = f'.{primitive.__name__}("{names[one]}").schedule'
        if self.last in other.results:
            self.lines[-1] = self.lines[-1].removesuffix(".schedule") + applied
        else:
            self.lines.append(f's = s["{names[other]}"]{applied}')
        self.last = handle.value

    def group(self, group: Group) -> None:
        """Tile the last op of a group, and fuse what only the group reads."""
        graph = self.schedule.graph
        ops = [op_of(graph, op.results[0]) for op in group.ops]
        last = ops[-1]
        what = f"{', '.join(op.name for op in group.ops)} in one loop over tiles"
        if last is None or last.domain != group.ops[-1].domain:
            self.leave(what, "the passes changed the last one")
            return
        handle = self.handle(last)
        dim = handle.dims[group.shared_dims[-1][0]]
        label = labels(graph)[last]
        parameter = f"rows{len(self.sizes) + 1}" if self.sizes else "rows"
        size = self.rows(group)
        given: dict[str, Any] = {dim: size, "check": False}
        try:
            handle = tile(handle, **given)
        except ScheduleError as error:
            self.leave(what, str(error))
            return
        fused: list[str] = []
        for op, made in zip(reversed(ops[:-1]), reversed(group.ops[:-1]), strict=True):
            if op is None or not {*made.results} <= {*group.local}:
                continue
            name = labels(handle.schedule.graph).get(op, "")
            try:
                new = fuse(handle, name, check=False)
            except ScheduleError:
                continue
            if op not in walk(new.schedule.graph.block):  # or it would be computed twice
                handle = new
                fused.append(f'"{name}"')
        if not fused:
            self.leave(what, "they only read one array together")
            return
        loop = next(name for name in handle.schedule.loops if name not in self.schedule.loops)
        self.schedule = threads(handle, loop).schedule
        self.sizes[parameter] = size
        steps = f'tile({dim}={parameter}).fuse({", ".join(fused)}).threads("{loop}")'
        self.lines.append(f's = s["{label}"].{steps}.schedule')

    def rows(self, group: Group) -> int:
        """How many rows of what stays in the group fit into the cache; a power of two."""
        sizes = self.schedule.sizes
        row = 1
        for op, dims in zip(group.ops, group.shared_dims, strict=True) if sizes else ():
            num_rows = max(op.domain[dims[0]].evaluate((), sizes), 1)
            row += sum(num_bytes(r, sizes) for r in op.results if r in group.local) // num_rows
        return min(MAX_TILE, 1 << max(CACHED_BYTES // row, 1).bit_length() - 1)

    def handle(self, op: GenericOp) -> BaseHandle:
        return BaseHandle(self.schedule, op.results[0])

    def leave(self, what: str, why: str) -> None:
        self.last = None
        self.lines.append(f"# left to the passes: {what} ({why})".replace("\n", " "))
