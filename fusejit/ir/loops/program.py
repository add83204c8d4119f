"""A lowered function: arrays, steps in order, and how results are handed out.

step   ::= kernel call | library call | host call | integer read | loop | conditional
array  ::= argument a0, a1, .. | slot r0, r1, ..        (slots are allocated by the launcher)
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np

from fusejit.dataclass import dataclass, field
from fusejit.ir.affine import AffineExpr
from fusejit.ir.graph import Graph, Guard
from fusejit.ir.host import HostExpr
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.loops.nodes import LoopKernel
from fusejit.ir.source import UNKNOWN, Location
from fusejit.ir.types import Kind
from fusejit.ir.values import Buffer


@dataclass(frozen=True, slots=True)
class Slot:
    """An array the launcher allocates: a result, or a value that several steps need."""

    name: str
    dtype: np.dtype
    extents: tuple[AffineExpr, ...]
    order: tuple[int, ...] | None


@dataclass(frozen=True, slots=True)
class ArrayRef:
    """An array of the launcher, or a view: ``map`` takes an index of the view to the array's.

    With ``source``, the view is one of ``source`` reshaped to ``shape``, or of one ``part`` of it.
    """

    name: str
    map: IndexingMap | None = None
    extents: tuple[AffineExpr, ...] = ()
    source: ArrayRef | None = None
    shape: tuple[AffineExpr, ...] = ()
    part: str | None = None


@dataclass(frozen=True, slots=True)
class ScalarRef:
    """A scalar input of the graph, by name (a result that no kernel computes)."""

    name: str


@dataclass(eq=False, slots=True)
class KernelCall:
    """Call a kernel with arrays and numbers, by name, in the order of its parameters."""

    kernel: LoopKernel


@dataclass(frozen=True, slots=True)
class LibraryCall:
    """``function(*operands, out=out)``; ``operands`` and ``out`` name arrays."""

    function: str
    operands: tuple[ArrayRef, ...]
    out: ArrayRef


@dataclass(frozen=True, slots=True)
class HostArgument:
    """What a host call is given: an array or a number, as NumPy would hand it out (``kind``)."""

    ref: ArrayRef | ScalarRef
    kind: Kind


@dataclass(frozen=True, slots=True)
class HostStepCall:
    """``out, .. = function(call)``: each result becomes the array of a slot.

    ``sizes`` are symbols that are lengths of axes of the results: name, result, axis. ``objects``
    are outside objects that it is given. With ``is_deferred`` NumPy cannot run the whole call any
    more: the caller could see something already, or sees the call itself. Its exceptions are then
    raised at ``location``. ``errstate`` holds keywords of ``np.errstate``, under which it runs.
    """

    function: str
    call: str
    errstate: str
    operands: tuple[HostArgument, ...]
    outs: tuple[Slot, ...]
    sizes: tuple[tuple[str, int, int], ...]
    is_deferred: bool
    objects: tuple[HostExpr, ...] = ()
    location: Location = UNKNOWN


@dataclass(frozen=True, slots=True)
class ReadInteger:
    """``symbol = int(array)``: an integer that a kernel computed, for the steps after it."""

    symbol: str
    source: HostArgument


@dataclass(eq=False, slots=True)
class HostBlock:
    """Steps inside a loop or conditional of the launcher.

    ``slots`` are made again each time; at the end the arrays ``moves`` names second take, all at
    once, the names it gives first.
    """

    steps: list[Step] = field(default_factory=list)
    slots: list[Slot] = field(default_factory=list)
    moves: list[tuple[str, str]] = field(default_factory=list)


@dataclass(eq=False, slots=True)
class HostLoop:
    """A loop of the launcher: counted, or as long as ``test`` (after ``condition``) is true."""

    body: HostBlock
    induction: str | None = None
    lower: AffineExpr | None = None
    upper: AffineExpr | None = None
    step: int = 1
    condition: HostBlock | None = None
    test: HostArgument | None = None


@dataclass(eq=False, slots=True)
class HostCond:
    """A conditional of the launcher."""

    test: HostArgument
    then_block: HostBlock
    else_block: HostBlock


Step = KernelCall | LibraryCall | HostStepCall | ReadInteger | HostLoop | HostCond


def inner_blocks(step: Step) -> tuple[HostBlock, ...]:
    """The blocks of a loop or conditional, in the order in which they run."""
    if isinstance(step, HostCond):
        return step.then_block, step.else_block
    if isinstance(step, HostLoop):
        return (step.body,) if step.condition is None else (step.condition, step.body)
    return ()


def walk_steps(steps: Sequence[Step]) -> Iterator[Step]:
    """Every step in program order, each before the steps inside it."""
    for step in steps:
        yield step
        for block in inner_blocks(step):
            yield from walk_steps(block.steps)


def names_used(program: Program) -> set[str]:
    """The arrays that steps or views read or write, apart from those that a host call makes."""
    viewed = [r.ref for r in program.results if isinstance(r.ref, ArrayRef)]
    of_views = {memory_name(ref) for ref in viewed if ref.map is not None or ref.source is not None}
    return of_views | {name for step in walk_steps(program.steps) for name in _names_used(step)}


def _names_used(step: Step) -> Iterator[str]:
    if isinstance(step, KernelCall):
        yield from (p.name for p in step.kernel.parameters if p.ndim is not None)
        return
    if isinstance(step, LibraryCall):
        refs: list[ArrayRef | ScalarRef] = [*step.operands, step.out]
    elif isinstance(step, HostStepCall):
        refs = [operand.ref for operand in step.operands]
    elif isinstance(step, ReadInteger):
        refs = [step.source.ref]
    else:
        refs = [] if step.test is None else [step.test.ref]
    yield from map(memory_name, refs)
    for block in inner_blocks(step):
        yield from itertools.chain.from_iterable(block.moves)


def memory_name(ref: ArrayRef | ScalarRef) -> str:
    """The name of the array in whose memory a view lies."""
    while isinstance(ref, ArrayRef) and ref.source is not None:
        ref = ref.source
    return ref.name


@dataclass(frozen=True, slots=True)
class ResultRef:
    """One result: an array or part of one, handed out as NumPy would (``kind``)."""

    ref: ArrayRef | ScalarRef
    kind: Kind


@dataclass(frozen=True, slots=True)
class LoopNestNote:
    """Nests that became one, or one that took in the loop around it: what they compute, and why."""

    nests: tuple[str, ...]
    rule: str
    reason: str


@dataclass(eq=False, slots=True)
class Program:
    """Steps of a graph. ``host_guards`` are the guards that no kernel checks.

    ``nest_notes`` tell what became of nests after the passes over the graph. ``kept`` are the
    arguments of which the launcher keeps a copy: a kernel that undoes its stores could not undo
    those of other steps.
    """

    graph: Graph
    arguments: dict[str, Buffer] = field(default_factory=dict)
    scalars: dict[str, str] = field(default_factory=dict)  # parameter name -> scalar of the graph
    slots: list[Slot] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    results: list[ResultRef] = field(default_factory=list)
    host_guards: list[Guard] = field(default_factory=list)
    nest_notes: list[LoopNestNote] = field(default_factory=list)
    kept: tuple[str, ...] = ()
