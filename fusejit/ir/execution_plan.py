"""What fuse hands to codegen: steps in order, and the report of what was fused and what was not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fusejit.dataclass import dataclass, field
from fusejit.ir.graph import Graph
from fusejit.ir.ops import Bind, Cond, GenericOp, HostCall, Loop, Op, Store
from fusejit.ir.source import Location
from fusejit.ir.values import Value


@dataclass(eq=False, slots=True)
class Group:
    """Ops that share outer loops over a tile (tile-and-fuse); neighbours in their block.

    Attributes
    ----------
    ops : tuple of GenericOp
        In program order.
    shared_dims : tuple of tuple of int
        For each op its dims that are the shared outer loops, the outermost shared loop first: all
        parallel, of equal extents, and every value that passes inside the group is read at the very
        point of the shared loops where it was written.
    local : tuple of Value
        Values that nothing outside the group reads: only a tile of them ever exists.
    store : Store or None
        The store after the group that takes the last op's value, if a tile may be stored as soon
        as it is computed.
    halos : tuple of tuple of (int, int)
        For each op and shared loop how much earlier (if negative) it begins than the tile, and how
        much later it ends: what reads it needs its neighbours. Ops with a halo are local.
    rule, reason : str
        Why they are a group.
    """

    ops: tuple[GenericOp, ...]
    shared_dims: tuple[tuple[int, ...], ...]
    local: tuple[Value, ...]
    store: Store | None = None
    halos: tuple[tuple[tuple[int, int], ...], ...] = ()
    rule: str = ""
    reason: str = ""


@dataclass(eq=False, slots=True)
class KernelStep:
    """Ops that become one kernel: one nest each, in order, sharing one call.

    Ops of a group run tile by tile.
    """

    ops: tuple[Op, ...]
    groups: tuple[Group, ...] = ()


@dataclass(eq=False, slots=True)
class LibraryStep:
    """A generic op that a library routine computes (``library_call`` of the op)."""

    op: Op


@dataclass(eq=False, slots=True)
class HostStep:
    """A Python function called between kernels."""

    op: HostCall


@dataclass(eq=False, slots=True)
class BindStep:
    """An integer of a kernel that the launcher reads."""

    op: Bind


@dataclass(eq=False, slots=True)
class RegionStep:
    """A loop or conditional that the launcher runs, with the steps of each of its blocks."""

    op: Loop | Cond
    blocks: tuple[tuple[Step, ...], ...]


Step = KernelStep | LibraryStep | HostStep | BindStep | RegionStep


def walk_steps(steps: Sequence[Step]) -> Iterator[Step]:
    """Every step in program order, each before the steps inside it."""
    for step in steps:
        yield step
        for block in step.blocks if isinstance(step, RegionStep) else ():
            yield from walk_steps(block)


@dataclass(frozen=True, slots=True)
class Folded:
    """A producer that was folded into a consumer, or a sibling that was merged with it, and why.

    Also an op that was hoisted out of a loop, which then stands for the consumer. ``values`` are
    what the producer and the consumer define: later passes keep them.
    """

    producer: str
    consumer: str
    location: Location
    how: str = "fold"  # or "merge", or "hoist"
    rule: str = ""
    reason: str = ""
    values: tuple[Value, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class Refusal:
    """A fusion that did not happen: the named rule, the reason in words, and where.

    ``value`` is what the consumer reads, ``result`` what it defines: they find the ops again.
    """

    producer: str
    consumer: str
    rule: str
    reason: str
    location: Location
    value: Value | None = None
    result: Value | None = None
    how: str = "fold"  # or "merge", or "group"


INDEPENDENT = "independent"  # the rule of loops whose iterations run in parallel


SPLIT = "split"  # the rule of loops of which one half does


@dataclass(frozen=True, slots=True)
class LoopNote:
    """A counted loop of the program: the rule by which its iterations are independent, or not.

    ``because`` is the line that makes them depend on each other, if there is one.
    """

    rule: str
    reason: str
    location: Location
    because: Location | None = None


@dataclass(eq=False, slots=True)
class FusionReport:
    """What the passes did, collected for `explain`."""

    ops_before: int = 0
    ops_after: int = 0
    folded: list[Folded] = field(default_factory=list)
    grouped: list[Group] = field(default_factory=list)
    refused: list[Refusal] = field(default_factory=list)
    loops: list[LoopNote] = field(default_factory=list)


@dataclass(eq=False, slots=True)
class ExecutionPlan:
    """The fused graph cut into steps. ``unfused`` is the graph as it was traced."""

    graph: Graph
    unfused: Graph
    steps: tuple[Step, ...]
    report: FusionReport
