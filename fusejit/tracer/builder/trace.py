"""The trace: the graph under construction, and what is known of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from types import CodeType
from typing import Any, Protocol, TypeVar

import numpy as np

from fusejit.errors import UnsupportedError
from fusejit.ir.affine import AffineExpr, Atom
from fusejit.ir.graph import Graph, HostSymbol
from fusejit.ir.host import HostExpr, Path
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.ops import Alloc, Block, GenericOp, Init, Load, Op, Operand, Store
from fusejit.ir.payload import Payload
from fusejit.ir.source import UNKNOWN, Location
from fusejit.ir.traced import PathCheck
from fusejit.ir.types import IteratorType, Kind, TensorType
from fusejit.ir.values import Buffer, Value, View
from fusejit.support.budget import check_budget
from fusejit.tracer.builder.local_symbols import LocalSymbols
from fusejit.tracer.builder.shapes import Decisions
from fusejit.tracer.program.active_trace import ACTIVE
from fusejit.tracer.program.fallback import Fallback
from fusejit.tracer.program.locations import SourceSpan, current_location, unsupported
from fusejit.tracer.program.trace_interface import CapturedReadsInterface

MAX_OPS = 2000
MAX_RANK = 16
"""Axes of an array, dims of an operation: compilers take ever longer for deeper nests."""

_S = TypeVar("_S")


def too_many_axes(what: str) -> str:
    """Why a call falls back whose arrays or operations have too many axes."""
    return f"{what}: more than {MAX_RANK} are left to NumPy; reshape it to fewer axes"


class CapturedReadsOfTrace(CapturedReadsInterface, Protocol):
    """The reads of a trace from outside: `fusejit.tracer.values.captured_reads`."""

    checks: list[PathCheck]
    constants: dict[str, np.ndarray]
    made: dict[str, HostExpr]
    lists: dict[Path, Any]
    containers: list[tuple[Any, Any, Path]]
    originals: dict[Path, np.ndarray]
    writeable: set[Path]

    def path_of(self, obj: Any) -> Path | None:
        """A place where a captured object was found."""

    def paths_to(self, obj: Any) -> list[Path]:
        """All places where a captured object was found."""

    def paths_to_type(self, kind: type) -> list[Path]:
        """All places where a captured object of a type was found."""

    def seen(self, path: Path) -> Any:
        """What the program has seen at a path."""

    def make(self, sample: Any, expr: HostExpr) -> None:
        """Have each call make an object, for which ``sample`` stands in the program."""

    def note_part(self, part: str, text: str) -> None:
        """Note a part of a string."""

    def ask_for_characters(self, text: str) -> None:
        """Start again with a string argument as characters that kernels read."""

    def overwrite(self, owner: Any, path: Path, seen: Any) -> None:
        """Note that an effect has written to a captured object."""

    def table(self, array: np.ndarray) -> Any:
        """The traced value of a constant array that calls share."""

    def unfollowed(self, array: np.ndarray) -> Any:
        """The traced value of an array that no callback has seen."""


class Trace:
    """One run of the user's function on traced arguments.

    Attributes
    ----------
    location : Location
        The ``def`` of the user's function.
    decisions : Decisions
        Symbols, what is known of them, and the guards.
    captured_reads : CapturedReadsOfTrace
        What was read from outside.
    locals : LocalSymbols
        Symbols of the blocks of the graph.
    table : dict
        Decisions that survive a restart of the trace.
    """

    def __init__(
        self, name: str, table: dict[Any, Any] | None = None, location: Location = UNKNOWN
    ) -> None:
        self.graph = Graph(name)
        self.locals = LocalSymbols(self)
        self.location = location
        self.captured_reads: CapturedReadsOfTrace
        self.handler: Callable[[Any], Callable[..., Any] | None]  # of calls; set by the entry
        self.is_traced: Callable[[object], bool]  # likewise
        self.is_segment = False
        self.given: frozenset[str] | None = None  # of a segment: the whole function's parameters
        self.has_memmaps = False  # whether an array that the program reads is an np.memmap
        self.varying: frozenset[str] = frozenset()  # parameters for lists of ever other lengths
        self.formats_in_python = False  # whether Python makes all text of numbers
        self.shows_numbers = False  # whether some text shows what is exact for its sake
        self.is_bounded = False  # whether long loops that are no loops of the kernel end the trace
        self.is_general = False  # whether extents of 1 are symbols like others
        self.undoes = False  # whether stores are undone where a check fails after them
        self.decisions = Decisions()
        self.graph.guards = self.decisions.guards
        self.notes: list[str] = []
        self.untraced: dict[CodeType, str] = {}  # code that is traced without callbacks, and why
        self.computes_everywhere = False  # of elements that a mask does not select, too
        self.errstate: dict[str, str] = {}  # what the program has set with np.errstate
        self.has_untraced_callee = False  # some function is traced without callbacks
        self.inlined: Callable[..., Any]  # stages a function of fusejit's own; set by the callbacks
        self.table = {} if table is None else table
        self.versions: dict[int, int] = {}
        self.checked: dict[Value, list[Any]] = {}  # what has been checked of integers
        self.nonnegative: set[Value] = set()  # scalars that a guard keeps from being negative
        self.scalars: dict[str, Value] = {}  # numbers of the call, by their expressions
        self._derived: dict[str, AffineExpr] = {}
        self.products: dict[str, tuple[Atom, ...]] = {}  # symbols that are products of atoms
        self._names: set[str] = set()
        self._num_values = 0
        self._num_ops = 0
        self.assumes_sizes = False  # the kernel checks some that only the call knows
        self.made_within: set[Value] = set()  # integers that are no indices from the end
        self.progressions: set[Value] = set()  # integers of rank 1 of which no two are equal
        self.row_counts: set[str] = set()  # symbols that elements decide: how many rows are left
        self.effects: dict[Op, SourceSpan] = {}  # where the program makes them
        self.blocks: list[Block] = [self.graph.block]  # from the outermost to the current one
        self.regions: list[Any] = []  # loops and conditionals that are being traced
        self.tries = False  # whether a `try` was met
        self.num_changes = 0  # of objects of Python's, so far
        self.defined: dict[Value, Op] = {}
        self.chosen_from: dict[Value, tuple[Any, ...]] = {}  # ints that each call knows before
        self._owned: dict[type, Any] = {}
        self._visits: dict[Any, int] = {}

    def owned(self, kind: type[_S]) -> _S:
        """The trace's one object of a class of a floor above; it is made when needed."""
        if kind not in self._owned:
            self._owned[kind] = kind()
        found: _S = self._owned[kind]
        return found

    @contextmanager
    def everywhere(self) -> Iterator[None]:
        """What is traced within is computed of all elements, though a mask selects some."""
        before, self.computes_everywhere = self.computes_everywhere, True
        try:
            yield
        finally:
            self.computes_everywhere = before

    def visit(self, place: tuple[Any, ...]) -> tuple[Any, ...]:
        """A place of the program with the number of times that this run of it has been there."""
        self._visits[place] = self._visits.get(place, 0) + 1
        return (*place, self._visits[place])

    # -- symbols and scalars ----------------------------------------------------------------------
    def symbol(
        self, expr: HostExpr, hint: int, low: int | None = None, high: int | None = None
    ) -> AffineExpr:
        """The symbol that names a host integer; one symbol for equal expressions."""
        key = str(expr)
        if key not in self._derived:
            name = f"s{len(self.graph.symbols)}"
            self.graph.symbols.append(HostSymbol(name, expr))
            self._derived[key] = self.decisions.add_symbol(name, hint, low, high)
        return self._derived[key]

    # -- building the graph -----------------------------------------------------------------------
    def new_value(
        self,
        dtype: np.dtype,
        extents: tuple[AffineExpr, ...],
        kind: Kind = Kind.ARRAY,
        order: tuple[int, ...] | None = None,
    ) -> Value:
        """A value with a fresh name."""
        self._num_values += 1
        canonical = tuple(map(self.decisions.canonical, extents))
        name = self.unique_name(f"v{self._num_values - 1}")
        return Value(name, TensorType(dtype, canonical), kind, order)

    def emit(self, op: Op) -> None:
        """Append an op at this place of the program."""
        if self._num_ops >= MAX_OPS:
            what = f"more than {MAX_OPS} array operations (loops are unrolled while tracing)"
            raise unsupported(what, "move the loop outside the decorated function")
        self._num_ops += 1
        check_budget()
        if isinstance(op, GenericOp) and len(op.domain) > MAX_RANK:
            raise Fallback(too_many_axes(f"{op.name} over {len(op.domain)} axes"))
        op.location = current_location()
        self.append(op, self.block)

    def emit_generic(
        self,
        name: str,
        result: Value,
        inputs: Sequence[Operand],
        payload: Payload,
        *,
        domain: tuple[AffineExpr, ...] | None = None,
        reduced: Collection[int] = (),
        init: Init | None = None,
        library_call: str | None = None,
    ) -> Value:
        """Append a generic op with one result, and return that.

        The op is elementwise unless ``domain``, the dims that are ``reduced`` and ``init`` say
        something else.
        """
        domain = result.type.extents if domain is None else domain
        self.emit(
            GenericOp(
                results=(result,),
                domain=domain,
                iterators=tuple(
                    IteratorType.REDUCTION if d in reduced else IteratorType.PARALLEL
                    for d in range(len(domain))
                ),
                inputs=tuple(inputs),
                inits=(Init(IndexingMap.identity(len(domain))) if init is None else init,),
                payload=payload,
                name=name,
                library_call=library_call,
            )
        )
        return result

    def num_traced(self) -> int:
        """How much the trace has made so far: ops, numbers that are inputs, and checks."""
        return self._num_ops + len(self.graph.scalars) + len(self.captured_reads.checks)

    def append(self, op: Op, block: Block) -> None:
        """Put an op at the end of an open block."""
        block.ops.append(op)
        for result in op.results:
            self.defined[result] = op

    @property
    def block(self) -> Block:
        """The block to which ops are appended."""
        return self.blocks[-1]

    @contextmanager
    def before_regions(self) -> Iterator[None]:
        """Append ops to the outermost block, before the loops and conditionals being traced."""
        blocks, regions = self.blocks, self.regions
        self.blocks, self.regions = blocks[:1], []
        try:
            yield
        finally:
            self.blocks, self.regions = blocks, regions

    def is_repeated_since(self, home: Block) -> bool:
        """Whether a loop that was begun after ``home`` runs what is traced now."""
        depth = next((k for k, block in enumerate(self.blocks) if block is home), 0)
        return any(region.repeats for region in self.regions[depth:])

    def is_open(self, block: Block) -> bool:
        """Whether what a block defines is visible here."""
        return any(block is one for one in self.blocks)

    def load(self, buffer: Buffer) -> Value:
        """The contents of a whole buffer at this place."""
        result = self.new_value(buffer.type.dtype, buffer.type.extents, Kind.ARRAY, buffer.order)
        version = self.versions[buffer.alias_class]
        extents = result.type.extents  # as they are known here: sizes may have been checked equal
        view = View(buffer, IndexingMap.identity(buffer.type.rank), extents)
        self.emit(Load(results=(result,), view=view, version=version))
        return result

    def store(self, view: View, value: Value, mask: Value | None = None) -> None:
        """Store a value."""
        version = self.version_after_store(view.buffer)
        self.emit(Store(view=view, value=value, version=version, mask=mask))

    def version_after_store(self, buffer: Buffer) -> int:
        """Advance the version of a buffer's alias class: the op that is emitted next stores."""
        buffer.writeable = buffer.root.writeable = True
        self.versions[buffer.alias_class] += 1
        return self.versions[buffer.alias_class]

    def allocate(
        self,
        base: str,
        type_: TensorType,
        order: tuple[int, ...] | None,
        block: Block,
        location: Location,
    ) -> Buffer:
        """Memory of its own that is there from the end of an open block on."""
        extents = tuple(map(self.decisions.canonical, type_.extents))
        type_ = TensorType(type_.dtype, extents)
        buffer = Buffer(self.unique_name(base), type_, self.new_alias_class(), order=order)
        self.graph.buffers.append(buffer)
        alloc = Alloc(buffer=buffer)
        alloc.location = location
        self.append(alloc, block)
        return buffer

    def new_alias_class(self) -> int:
        """A class of memory that nothing else overlaps."""
        self.versions[len(self.versions)] = 0
        return len(self.versions) - 1

    def unique_name(self, base: str) -> str:
        """``base`` as an identifier that no other value or buffer has."""
        base = re.sub(r"\W", "_", base)
        if not base.isidentifier() or re.fullmatch(r"([sdi]|at)\d+", base):
            base = "_" + base
        name, k = base, 1
        while name in self._names:
            name, k = f"{base}_{k}", k + 1
        self._names.add(name)
        return name


@contextmanager
def activated(trace: Trace) -> Iterator[Trace]:
    """Make a trace that of the current context."""
    token = ACTIVE.set(trace)
    try:
        yield trace
    finally:
        ACTIVE.reset(token)


def running_trace() -> Trace | None:
    """The trace that runs in this context, if any."""
    trace = ACTIVE.get()
    return trace if isinstance(trace, Trace) else None


def current_trace() -> Trace:
    """The trace that runs in this context."""
    trace = running_trace()
    if trace is None:
        raise UnsupportedError(
            "a traced array was used after its trace had ended: the decorated function kept it "
            "somewhere; return it instead"
        )
    return trace


def note_change() -> None:
    """Note that the program changes an object of Python's."""
    trace = running_trace()
    if trace is not None:
        trace.num_changes += 1
