"""What a traced program costs in NumPy and what it costs compiled: whether compiling it pays.

Both are nanoseconds, a pure function of the graph as it was traced and of the sizes of the call. So
the choice is the same in every run and process; no clock is asked. NumPy pays for each call and for
each element of each temporary, Python for each statement on numbers. What is compiled pays for the
hand-over, for each kernel that is launched, and for its points.

Figures are medians of one machine; only their ratios matter, and those are alike on others. A
program that is close to the border costs about the same either way.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from fusejit.dataclass import dataclass, replace
from fusejit.ir.affine import AffineExpr
from fusejit.ir.analysis.estimated_work import ASSUMED, UNTIL, payload_ps
from fusejit.ir.graph import Graph
from fusejit.ir.host import HostExpr, Path, is_column
from fusejit.ir.host_calls import is_draw
from fusejit.ir.ops import (
    Alloc,
    Assert,
    Bind,
    Block,
    Cond,
    GenericOp,
    HostCall,
    Load,
    Loop,
    Op,
    Scatter,
    Store,
    ViewOp,
    walk,
)
from fusejit.ir.traced import CheckKind, TracedFunction
from fusejit.ir.types import IteratorType, Kind
from fusejit.ir.values import Buffer, Value
from fusejit.tiering.list_costs import KERNELS, WRITTEN_ITEM, list_memory, made_ns

# NumPy and Python, in nanoseconds
STATEMENT = 40  # an operation on Python's numbers
SCALAR = 70  # an operation on NumPy's numbers, an element that is read or stored
LIST_ITEM = 10  # a number in a list that is read
LIST_STORE = 20  # an item that is stored or appended
UFUNC = 450  # a call of a ufunc, and the array of its result
SUM = 900
REDUCTION = 1800  # a call of max, prod, ...
PRODUCT = 450  # of matrices and vectors
PRODUCT_PS = 100  # a multiplication and an addition
SLICE = 150
ASSIGN = 350  # a store into a part of an array
ALLOCATION = 150
MADE = 200  # a copy, an array of one number
ELEMENT_PS = 700  # an element of a temporary that is written and read again
RETURNED_PS = 500  # an element of a result, which nothing here reads
REDUCED_PS = 300  # an element that a reduction reads: it writes few
ROW = 20  # of elements, each reduced by itself
DRAW = 300
LINALG = 6000  # of a small matrix: most of it in Python

# ours
HAND_OVER = 130
PART = 200  # more, for a segment
ARGUMENT = 25
WRITTEN_ATTRIBUTE = 250  # of an object from outside
COLUMN = 900  # of a list that is read
GUARD = 40
VALUE_GUARD = 250  # another value makes another variant, which is asked in its turn
GENERATOR = 400  # of random numbers: its lock, and where its state lies
RESULT = 110
LAUNCH = 40  # a kernel, at the top
LIBRARY = 250  # besides the product itself
STEP = 1200  # a kernel that the launcher runs in a loop of its own
HOST_CALL = 900  # what a call of NumPy costs besides itself
POINT_PS = 300
LOOP_TRIP_PS = 1000


@dataclass(frozen=True, slots=True)
class CostEstimate:
    """Nanoseconds of one call.

    Attributes
    ----------
    numpy_ns : float
        As plain NumPy, without what both forms pay (host calls: nothing is known of their time).
    compiled_ns : float
        Compiled.
    is_scalar : bool
        Whether it has no arrays and no loops.
    is_conditional : bool
        Whether other values may lead another way through the program.
    is_guess : bool
        Whether only the kernel knows how often some loop runs, or how many items it returns.
    is_measured : bool
        Whether calls were timed.
    ended : int
        How many calls were counted that ended in Python, as they raise or kernels give them back.
    counted : int
        Of how many.
    """

    numpy_ns: float
    compiled_ns: float
    is_scalar: bool
    is_conditional: bool
    is_guess: bool = False
    is_measured: bool = False
    ended: int = 0
    counted: int = 0

    @property
    def pays(self) -> bool:
        """Whether the compiled form is faster."""
        return self.compiled_ns < self.numpy_ns

    def __str__(self) -> str:
        times = f"NumPy {_time(self.numpy_ns)}, compiled {_time(self.compiled_ns)}"
        text = f"{times}, {'measured' if self.is_measured else 'estimated'}"
        return f"{text}; {self.ended} of {self.counted} end in Python" if self.ended else text


def estimate_cost(
    traced: TracedFunction, find: Callable[[Path], Any], *, is_segment: bool = False
) -> CostEstimate:
    """What a traced function costs both ways for one call.

    Parameters
    ----------
    traced : TracedFunction
    find : callable
        Finds the objects of the call: see `fusejit.path_resolver`.
    is_segment : bool
        Whether Python calls it between statements of its own.
    """
    sizes: dict[str, int] = {}
    for symbol in traced.graph.symbols:
        try:
            sizes[symbol.name] = int(symbol.expr.evaluate(find, sizes))
        except KeyError:  # the size of a result of a host call
            sizes[symbol.name] = ASSUMED
    made = cost_of_sizes(traced, sizes, is_segment=is_segment)
    back = sum(WRITTEN_ITEM * len(find(path)) for path, name in traced.written if not name)
    for one in traced.classes:
        if one.given is not None and one.written:
            back += WRITTEN_ATTRIBUTE * len(one.written) * len(find(one.given))
    return replace(made, compiled_ns=made.compiled_ns + back)


def cost_of_sizes(
    traced: TracedFunction, sizes: Mapping[str, int], *, is_segment: bool = False
) -> CostEstimate:
    """What a traced function costs both ways for a call with these values of symbols."""
    graph = traced.graph
    estimate = _Estimate(graph, sizes, list_memory(traced))
    numpy_ns, kernel_ns = estimate.block(graph.block, 0)
    arrays = sum(buffer.origin is not None for buffer in graph.buffers)
    handed = arrays + len(graph.scalars) + len(graph.symbols) + len(traced.checks) / 2
    draws = [op for op in walk(graph.block) if is_draw(op) and op.inline]
    kernel_ns += GENERATOR * len({op.arguments for op in draws})
    results = len({r for r in graph.results if isinstance(r, Value)})
    ours = HAND_OVER + is_segment * PART + ARGUMENT * handed + RESULT * results + kernel_ns
    for column in filter(_is_column, graph.buffers):
        assert column.origin is not None
        of = column.origin.attr.steps[-1][1].of  # a class of `fusejit.ir.columns.list_columns`
        ours += COLUMN + of.nanoseconds * estimate.points(column.type.extents)
    made = made_ns(traced.structure)
    ours += made + sum(VALUE_GUARD if _asks_value(guard.expr) else GUARD for guard in graph.guards)
    is_scalar = not arrays and not any(_makes_arrays(op) for op in walk(graph.block))
    asks = any(check.kind in (CheckKind.EQUAL, CheckKind.KEYS) for check in traced.checks)
    return CostEstimate(
        numpy_ns,
        ours,
        is_scalar,
        is_conditional=asks or bool(graph.guards),
        is_guess=estimate.is_guess or made > 0,
    )


def _columns(graph: Graph, lists: frozenset[Buffer]) -> frozenset[Value]:
    """The columns of lists, from outside and of ``lists`` that the kernel fills."""
    loads = [op for op in walk(graph.block) if isinstance(op, Load)]
    found = [op for op in loads if _is_column(op.view.buffer) or op.view.buffer in lists]
    return frozenset(op.results[0] for op in found)


def _is_column(buffer: Buffer) -> bool:
    return buffer.origin is not None and is_column(buffer.origin.attr)


class _Estimate:
    """Nanoseconds of blocks, in NumPy and compiled; where they stand decides about launches."""

    def __init__(
        self, graph: Graph, sizes: Mapping[str, int], lists: frozenset[Buffer] = frozenset()
    ) -> None:
        self.sizes = dict(sizes)
        self.graph = graph
        self.is_guess = False
        self.assumed: set[str] = set()
        self.asked = _only_asked(graph)
        self.used = _used(graph)
        self.augmented = _augmented(graph)
        self.lists = lists
        self.columns = _columns(graph, lists)

    def block(self, block: Block, depth: int) -> tuple[float, float]:
        """A block that the launcher runs, in ``depth`` loops of its own, if it has host calls."""
        is_launchers = depth == 0 or _has_host_calls(block)
        numpy_ns = ours = 0.0
        in_kernel = False
        for op in block.ops:
            theirs, own = self.op(op, depth)
            numpy_ns += theirs
            ours += own
            if not is_launchers:
                continue
            if _is_launchers(op):
                in_kernel = False
            elif not in_kernel and not isinstance(op, Alloc):
                in_kernel = True
                ours += STEP if depth else LAUNCH
        return numpy_ns, ours

    def op(self, op: Op, depth: int) -> tuple[float, float]:
        """Nanoseconds of one op in NumPy, and in a kernel."""
        if isinstance(op, Loop):
            return self.loop(op, depth)
        if isinstance(op, Cond):
            both = [self.block(b, depth + 1) for b in (op.then_block, op.else_block)]
            return STATEMENT + sum(b[0] for b in both) / 2, 2 + sum(b[1] for b in both) / 2
        if isinstance(op, GenericOp):
            return self.generic(op)
        if isinstance(op, Bind):
            self.assume(op.symbol)
        elif isinstance(op, HostCall):
            for name in op.sizes:
                self.assume(name)
            if not op.inline:
                return 0.0, HOST_CALL
            return (LINALG, LINALG / 20) if op.pure else (DRAW, DRAW / 30)
        elif isinstance(op, Scatter):
            points = self.points(op.value.type.extents)
            return (ASSIGN + 4 * points, 2 * points) if points > 1 else (SCALAR, 2)
        elif isinstance(op, Store) and op.view.buffer.origin is None and not op.view.type.rank:
            is_counter = not op.view.buffer.type.rank  # the length of a list
            item = LIST_STORE if op.view.buffer in self.lists else STATEMENT
            return (0.0 if is_counter else item), 0.3
        elif isinstance(op, Store):
            points = self.points(op.view.extents)
            if op in self.augmented:
                return 0.0, 0.3 * points
            is_element = not op.view.extents
            return (SCALAR if is_element else ASSIGN + 0.5 * points), 0.3 * points
        elif isinstance(op, Load):
            if op.view.extents == op.view.buffer.type.extents:
                return 0.0, 1
            return (SLICE if op.view.extents else SCALAR), 1
        elif isinstance(op, ViewOp):
            if not self.columns.isdisjoint(op.operand_values):
                return LIST_ITEM, 1
            return (SLICE if op.results[0].type.extents else SCALAR), 1
        elif isinstance(op, Alloc):
            return ALLOCATION, ALLOCATION / 3
        return 0.0, 0.0

    def generic(self, op: GenericOp) -> tuple[float, float]:
        points = self.points(op.domain)
        own = points * (POINT_PS + payload_ps(op.payload)) / 1000
        is_asked = op.name in KERNELS or self.asked.issuperset(op.results)
        if not op.domain and (not op.payload.instrs or is_asked):
            return 0.0, own  # a name, and what only we ask
        if not op.domain:
            kinds = {v.kind for v in op.results}
            return (STATEMENT if kinds == {Kind.PYTHON} else SCALAR), own
        reduces = IteratorType.REDUCTION in op.iterators
        combiners = {i.combiner for i in op.inits}
        call = UFUNC
        if op.library_call is not None:
            product = PRODUCT + points * PRODUCT_PS / 1000
            return product, product + LIBRARY
        if reduces:
            call = SUM if combiners <= {"add"} else REDUCTION
            rows = self.points(op.results[0].type.extents)
            call += ROW * rows if op.iterators[-1] is IteratorType.REDUCTION else 0
            return call + points * (REDUCED_PS + payload_ps(op.payload)) / 1000, own
        if not op.payload.instrs or not op.inputs:
            call = MADE
        element_ps = RETURNED_PS if self.used.isdisjoint(op.results) else ELEMENT_PS
        return call + points * (element_ps + payload_ps(op.payload)) / 1000, own

    def loop(self, op: Loop, depth: int) -> tuple[float, float]:
        trips = self.trips(op)
        if op.induction is not None:
            lower = 0 if op.lower is None else self.size(op.lower)
            self.sizes[op.induction] = lower + trips * op.step // 2
        numpy_ns, ours = self.block(op.body, depth + 1)
        if op.condition is not None:
            test = self.block(op.condition, depth + 1)
            numpy_ns, ours = numpy_ns + test[0], ours + test[1]
        return trips * (STATEMENT + numpy_ns), trips * (LOOP_TRIP_PS / 1000 + ours)

    def trips(self, op: Loop) -> int:
        """How often the body runs, as far as it is known."""
        if op.condition is not None or op.lower is None or op.upper is None:
            self.is_guess = True
            return UNTIL
        distance = self.size(op.upper) - self.size(op.lower)
        self.is_guess |= not self.assumed.isdisjoint(op.upper.symbols() | op.lower.symbols())
        return max(0, -(-distance // op.step))

    def points(self, extents: tuple[AffineExpr, ...]) -> int:
        return math.prod(max(0, self.size(extent)) for extent in extents)

    def assume(self, name: str) -> None:
        """Take an integer that nothing is known of for a few."""
        if name not in self.sizes:
            self.sizes[name] = ASSUMED
            self.assumed.add(name)

    def size(self, expr: AffineExpr) -> int:
        """The value of an expression; what only the kernel knows is taken for a few."""
        for name in expr.symbols():
            self.assume(name)
        try:
            return expr.evaluate(symbols=self.sizes)
        except ZeroDivisionError:
            return ASSUMED


def _only_asked(graph: Graph) -> frozenset[Value]:
    """The conditions of checks: Python does not compute them."""
    asked: set[Value] = set()
    used: set[Value] = {r for r in graph.results if isinstance(r, Value)} | {*graph.block.yields}
    for op in walk(graph.block):
        (asked if isinstance(op, Assert) else used).update(op.operand_values)
        for block in op.blocks:
            used.update(block.yields)
    return frozenset(asked - used)


def _used(graph: Graph) -> frozenset[Value]:
    """The values that are operands, or are yielded by loops and conditionals."""
    used: set[Value] = set()
    for op in walk(graph.block):
        used.update(op.operand_values, *(block.yields for block in op.blocks))
    return frozenset(used)


def _augmented(graph: Graph) -> frozenset[Op]:
    """The stores of ``x += y`` to whole arrays: the ufunc itself writes there."""
    loaded: dict[Value, Buffer] = {}
    makers: dict[Value, GenericOp] = {}
    found: set[Op] = set()
    for op in walk(graph.block):
        if isinstance(op, Load) and op.view.extents == op.view.buffer.type.extents:
            loaded[op.results[0]] = op.view.buffer
        elif isinstance(op, GenericOp):
            makers.update(dict.fromkeys(op.results, op))
        elif isinstance(op, Store) and op.view.extents == op.view.buffer.type.extents:
            maker = makers.get(op.value)
            read = () if maker is None else (loaded.get(v) for v in maker.operand_values)
            is_whole = bool(op.view.extents) and op.mask is None
            if is_whole and any(buffer is op.view.buffer for buffer in read):
                found.add(op)
    return frozenset(found)


def _is_launchers(op: Op) -> bool:
    """Whether the launcher does it, not a kernel."""
    if isinstance(op, HostCall):
        return not op.inline
    return any(_has_host_calls(block) for block in op.blocks)


def _asks_value(expr: HostExpr) -> bool:
    """Whether an expression depends on a number of the call, not on sizes alone."""
    return expr.op == "path" or any(map(_asks_value, expr.operands))


def _has_host_calls(block: Block) -> bool:
    return any(isinstance(op, HostCall) and not op.inline for op in walk(block))


def _makes_arrays(op: Op) -> bool:
    """Whether an op is a loop, or has to do with arrays."""
    if isinstance(op, Loop | Alloc | HostCall | Load | Store | Scatter):
        return True
    return isinstance(op, GenericOp) and bool(op.domain)


def _time(ns: float) -> str:
    if ns < 1000:
        return f"{ns:.0f} ns"
    return f"{ns / 1000:.1f} us" if ns < 1e6 else f"{ns / 1e6:.1f} ms"
