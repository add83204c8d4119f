"""The graph: values, memory, ops and blocks.

Values are pure, named, typed and compared by identity; memory (buffers and views on them) is kept
apart. Between loads and stores, which stand in program order, everything is pure. Each alias class
of buffers has a version that a store advances (memory SSA): two loads of one view give the same
value exactly if their versions are equal. See `fusejit.ir` for the grammar of the printed form.
"""

from __future__ import annotations

from fusejit.dataclass import dataclass, field
from fusejit.ir.host import HostExpr
from fusejit.ir.ops import Block
from fusejit.ir.source import UNKNOWN, Location
from fusejit.ir.values import Buffer, Value, View


# ----------------------------------------------------------------------------------------- graph
@dataclass(frozen=True, slots=True)
class HostSymbol:
    """An integer that the launcher computes once per call: ``symbol s0 = size(arg:a, 0)``."""

    name: str
    expr: HostExpr


@dataclass(eq=False, slots=True)
class HostScalar:
    """A number that the launcher computes once per call and hands to the kernels as a value."""

    value: Value
    expr: HostExpr


@dataclass(frozen=True, slots=True)
class Guard:
    """A decision of the trace: the variant serves a call only if ``expr`` is ``expected``."""

    expr: HostExpr
    expected: bool
    location: Location = UNKNOWN
    reason: str = ""


@dataclass(eq=False, slots=True)
class Graph:
    """A traced function: what comes in, the block of ops, what goes out.

    ``buffers`` are those of arguments (which have an ``origin``) and those the block allocates.
    ``results`` are values (fresh arrays and scalars), views (of arguments or of local buffers that
    are handed out) in the order of the result structure's leaves.
    """

    name: str
    symbols: list[HostSymbol] = field(default_factory=list)
    guards: list[Guard] = field(default_factory=list)
    buffers: list[Buffer] = field(default_factory=list)
    scalars: list[HostScalar] = field(default_factory=list)
    block: Block = field(default_factory=Block)
    results: tuple[Value | View, ...] = ()
