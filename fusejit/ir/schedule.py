"""What fuse hands to codegen: steps in order, and the report of what was fused and what was not."""

from __future__ import annotations

from dataclasses import dataclass, field

from fusejit.ir.graph import Graph, HostCall, Op
from fusejit.ir.source import Location


@dataclass(eq=False, slots=True)
class KernelStep:
    """Ops that become one kernel: one nest each, in order, sharing one call."""

    ops: tuple[Op, ...]


@dataclass(eq=False, slots=True)
class LibraryStep:
    """A generic op that a library routine computes (``library_call`` of the op)."""

    op: Op


@dataclass(eq=False, slots=True)
class HostStep:
    """A Python function called between kernels."""

    op: HostCall


Step = KernelStep | LibraryStep | HostStep


@dataclass(frozen=True, slots=True)
class Folded:
    """A producer that was folded into a consumer."""

    producer: str
    consumer: str
    location: Location


@dataclass(frozen=True, slots=True)
class Refusal:
    """A fold that did not happen: the named rule, the reason in words, and where."""

    producer: str
    consumer: str
    rule: str
    reason: str
    location: Location


@dataclass(eq=False, slots=True)
class FusionReport:
    """What the passes did, collected for `explain`."""

    ops_before: int = 0
    ops_after: int = 0
    folded: list[Folded] = field(default_factory=list)
    refused: list[Refusal] = field(default_factory=list)


@dataclass(eq=False, slots=True)
class Schedule:
    """The fused graph cut into steps. ``unfused`` is the graph as it was traced."""

    graph: Graph
    unfused: Graph
    steps: tuple[Step, ...]
    report: FusionReport
