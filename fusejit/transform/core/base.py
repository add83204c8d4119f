"""`BaseHandle`: an op of a schedule, without the primitives, which are functions of a handle.

A primitive returns `BaseHandle.after`: the op in a schedule with one more step, which is verified,
and compared with the schedule before it on small arrays.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import Any, TypeVar

from fusejit.dataclass import dataclass, field, replace
from fusejit.errors import ScheduleError
from fusejit.fuse.tiling.illegal import illegal
from fusejit.fuse.tiling.rules import enclosing
from fusejit.ir.graph import Graph
from fusejit.ir.ops import GenericOp, base_name
from fusejit.ir.text.printer import print_op
from fusejit.ir.values import Value
from fusejit.ir.verifier.verify import verify
from fusejit.stages import Traced
from fusejit.support.package_files import is_package_code
from fusejit.transform.core.costs import sizes_of
from fusejit.transform.core.equivalence import check_equivalent
from fusejit.transform.core.lookup import find_op, forwarded, op_of, removed_by
from fusejit.transform.core.steps import LoopInfo, Step

H = TypeVar("H", bound="BaseHandle")
S = TypeVar("S", bound="ScheduleState")

DIM_NAMES = {
    "matmul": "m n k",
    "batch_matmul": "b m n k",
    "matvec": "m k",
    "vecmat": "n k",
    "dot": "k",
    "conv_1d": "ow kw",
    "conv_1d_ncw_fcw": "n f ow c kw",
    "conv_1d_nwc_wcf": "n ow f kw c",
    "conv_2d": "oh ow kh kw",
    "conv_2d_nchw_fchw": "n f oh ow c kh kw",
    "conv_2d_ngchw_fgchw": "n g fg oh ow c kh kw",
    "conv_2d_ngchw_gfchw": "n g fg oh ow c kh kw",
    "conv_2d_nhwc_fhwc": "n oh ow f kh kw c",
    "conv_2d_nhwc_hwcf": "n oh ow f kh kw c",
    "conv_2d_nhwgc_gfhwc": "n oh ow g fg kh kw c",
    "conv_3d_ncdhw_fcdhw": "n f od oh ow c kd kh kw",
    "conv_3d_ndhwc_dhwcf": "n od oh ow f kd kh kw c",
    "depthwise_conv_2d_nchw_chw": "n oh ow ic kh kw",
    "depthwise_conv_2d_nhwc_hwc": "n oh ow ic kh kw",
}
"""The names of the dims of these ops; those of others are i, j, k, .."""

MAX_SHOWN = 80
"""Characters of an argument in errors and in the log."""

_LETTERS = "ijklpqrstuvwxyz"


@dataclass(frozen=True)
class ScheduleState:
    """A traced function and the steps that were applied to it. Nothing changes it.

    Attributes
    ----------
    stage : Traced
        The function as it was traced.
    graph : Graph
        The ops after the steps.
    steps : tuple of Step
    is_checked : bool
        Whether steps are compared on small arrays.
    """

    stage: Traced
    args: tuple[Any, ...]
    graph: Graph
    steps: tuple[Step, ...] = ()
    names: Mapping[Value, tuple[str, ...]] = field(default_factory=dict)
    loops: Mapping[str, LoopInfo] = field(default_factory=dict)
    is_checked: bool = True

    @property
    def graphs(self) -> tuple[Graph, ...]:
        """The graph before the first step, and after each one."""
        return (self.stage.graph, *(step.graph for step in self.steps))

    @property
    def sizes(self) -> Mapping[str, int]:
        """The symbols of the graph for the traced arguments; empty in a recipe of `fuse_jit`."""
        return sizes_of(self.stage, self.args) if self.args else {}

    def op_named(self, op: str | BaseHandle) -> GenericOp:
        """The op of a name or of a handle."""
        return BaseHandle(self, self.find(op)).op

    def find(self, op: str | BaseHandle) -> Value:
        """The value of an op, given as to `Schedule.__getitem__`."""
        if isinstance(op, str):
            return find_op(self.graphs, self.steps, op).results[0]
        if not isinstance(op, BaseHandle):
            raise TypeError(f"an op is found by its name or by a handle, not by {short(op)}")
        num_known = len(op.schedule.steps)
        if self.steps[:num_known] != op.schedule.steps or op.schedule.stage is not self.stage:
            raise ScheduleError("this op is of another schedule, or of a step after this one")
        value = forwarded(self.steps[num_known:], op.value)
        BaseHandle(self, value).op  # noqa: B018  it raises if there is none any more
        return value


@dataclass(frozen=True)
class BaseHandle:
    """An op of a schedule. Each primitive returns the op in a new schedule."""

    schedule: ScheduleState
    value: Value

    def __getitem__(self: H, op: str | BaseHandle) -> H:
        """Another op of the same schedule: `Schedule.__getitem__`."""
        return replace(self, value=self.schedule.find(op))

    def __repr__(self) -> str:
        return f"<op {base_name(self.op.name)} of {self.schedule!r}, dims {' '.join(self.dims)}>"

    @property
    def op(self) -> GenericOp:
        """The op."""
        op, old = op_of(self.schedule.graph, self.value), self.schedule
        if op is not None:
            return op
        gone = removed_by(old.graphs, old.steps, lambda graph: op_of(graph, self.value))
        raise ScheduleError(f"%{self.value.name} is not computed any more{gone}")

    @property
    def dims(self) -> tuple[str, ...]:
        """The names of the dims, in the order of the domain."""
        known = self.schedule.names.get(self.value)
        if known is not None:
            return known
        op = self.op
        named = DIM_NAMES.get(base_name(op.name), "").split()
        return tuple(named if len(named) == len(op.domain) else _LETTERS[: len(op.domain)])

    def show(self) -> str:
        """The printed form of the op with the loops around it."""
        op = self.op
        loops, _ = enclosing(self.schedule.graph, op)
        return print_op(loops[0] if loops else op)

    def dim(self, name: str, step: str) -> int:
        """The index of a dim; a `ScheduleError` if there is none of this name."""
        if name not in self.dims:
            raise illegal(step, self.op.name, f"it has no dim {name}", self.dims)
        return self.dims.index(name)

    def after(
        self: H,
        call: str,
        tag: str,
        what: str,
        graph: Graph,
        op: GenericOp,
        *,
        check: bool = True,
        dims: Sequence[str] | None = None,
        loops: Mapping[str, LoopInfo] | None = None,
        others: Mapping[Value, Sequence[str]] | None = None,
        moved: Mapping[Value, Value] | None = None,
        tolerance: float = 1e-3,
    ) -> H:
        """The op in the schedule with one more step.

        Parameters
        ----------
        call : str
            The step as the user wrote it (`call`).
        tag : str
            What it keeps: bits, reassoc or approx.
        what : str
            What became of the op, for the log.
        graph : Graph
            The graph after the step.
        op : GenericOp
            The op after the step.
        check : bool, optional
            Whether to compare the graphs before and after on small arrays.
        dims : sequence of str, optional
            The names of the op's dims, if they have changed.
        loops : mapping, optional
            New loops by name.
        others : mapping, optional
            The names of the dims of other new ops, by their values: of an op that took over a
            result, for example.
        moved : mapping, optional
            Values of other ops that handles find under another value now.
        tolerance : float, optional
            The error of a step that is approx, as a part of the largest number of a result.
        """
        value = op.results[0]
        renamed = {self.value: value, **(moved or {})}
        new = with_step(
            self.schedule,
            call,
            tag,
            what,
            graph,
            op=op.name,
            check=check,
            moved=renamed,
            tolerance=tolerance,
        )
        new = replace(
            new,
            names={
                **new.names,
                **{v: tuple(names) for v, names in (others or {}).items()},
                value: tuple(self.dims if dims is None else dims),
            },
            loops={**new.loops, **(loops or {})},
        )
        return replace(self, schedule=new, value=value)


def call(name: str, *arguments: Any, **keywords: Any) -> str:
    """A step as the user wrote it."""
    given = [*map(short, arguments), *(f"{key}={short(value)}" for key, value in keywords.items())]
    return f"{name}({', '.join(given)})"


def short(value: Any) -> str:
    """An argument as errors and the log show it: one line."""
    text = " ".join(repr(value).split())
    return text if len(text) <= MAX_SHOWN else f"{text[: MAX_SHOWN - 3]}..."


def with_step(
    old: S,
    call: str,
    tag: str,
    what: str,
    graph: Graph,
    *,
    op: str = "",
    check: bool = True,
    moved: Mapping[Value, Value] | None = None,
    tolerance: float = 1e-3,
) -> S:
    """The schedule with one more step; `BaseHandle.after` describes the parameters."""
    verify(graph)
    num_checked = 0
    if check and old.is_checked and old.args:
        graphs = (old.graph, graph)
        num_checked = check_equivalent(old.stage, old.args, *graphs, tag, call, tolerance)
    step = Step(call, op, tag, graph, what, num_checked, _line_of_recipe(), moved or {})
    return replace(old, graph=graph, steps=(*old.steps, step))


def _line_of_recipe() -> str:
    """The line outside of fusejit that applies a step."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and is_package_code(frame.f_code):
        frame = frame.f_back
    return "" if frame is None else f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno}"
