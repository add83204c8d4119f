"""The end of a trace: results, aliasing, equal symbols replaced, unused inputs dropped."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable
from types import BuiltinFunctionType, ModuleType
from typing import Any

import numpy as np

from fusejit.dataclass import replace
from fusejit.errors import NeedsPython
from fusejit.ir.affine import AffineExpr
from fusejit.ir.analysis.index_symbols import LARGEST_SYMBOL, index_symbols
from fusejit.ir.host_blocks import launcher_symbols
from fusejit.ir.host_calls import effects_for_good, late_checks
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.memory import renumber_versions
from fusejit.ir.ops import (
    Check,
    GenericOp,
    HostCall,
    Load,
    Loop,
    Op,
    Operand,
    ReshapeOp,
    Scatter,
    ViewOp,
    Write,
    walk,
)
from fusejit.ir.source import Location
from fusejit.ir.traced import (
    ArrayClass,
    CheckKind,
    ChoiceLeaf,
    HostLeaf,
    PathLeaf,
    ResultLeaf,
    ResultMapping,
    ResultSequence,
    ResultStructure,
    StaticLeaf,
    TracedFunction,
)
from fusejit.ir.types import TensorType
from fusejit.ir.values import Value, View
from fusejit.tracer.capture.callables import is_method_in_c, is_named_tuple
from fusejit.tracer.control_flow.raises import refuse_late_raises
from fusejit.tracer.control_flow.regions import Undefined
from fusejit.tracer.elementwise.generic import copy_of
from fusejit.tracer.graph_breaks.declined import SHARED_MEMORY, Declined
from fusejit.tracer.indexing.masked import MaskedElements
from fusejit.tracer.runtime.checks import BEYOND_RANGE, checks_first
from fusejit.tracer.runtime.dispatch import HANDLERS
from fusejit.tracer.runtime.trace import Trace
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.either import Choice, MaybeTuple, is_either
from fusejit.tracer.values.number import TracedNumber
from fusejit.tracer.values.origins import track
from fusejit.tracer.values.overflow import check_overflows

Canonical = Callable[[AffineExpr], AffineExpr]
_EQUAL_ONES = (str, bytes, np.dtype)
"""Types of arguments of which a variant serves all that are equal; a result is the very one."""
_STATIC = (
    type(None),
    bool,
    int,
    float,
    complex,
    str,
    bytes,
    np.generic,
    np.dtype,
    type,
    type(Ellipsis),
    ModuleType,
    BuiltinFunctionType,
    np.ufunc,
)


def finish(trace: Trace, result: Any, location: Location) -> TracedFunction:
    """Complete the graph and describe how the function's result is put together."""
    _require_unchanged_containers(trace, location)
    structure = _Results(trace, result, _where(location)).structure
    _require_separate_memory(trace)
    for copy in trace.copies_read_in_loops:  # a later iteration may read it behind a store
        copy.require_unchanged_base()
    _substitute_equal_symbols(trace)
    _drop_unused(trace)
    _require_known_results(trace)
    renumber_versions(trace.graph.block)
    check_overflows(trace.graph, frozenset(trace.nonnegative))
    checks_first(trace.graph, trace.undoes)
    _require_undoable(trace)
    refuse_late_raises(trace.graph, trace.tries)
    _drop_implied_guards(trace)
    _require_bounded_symbols(trace)
    _mark_writeable_arguments(trace)
    return TracedFunction(
        trace.graph,
        trace.reading.checks,
        structure,
        location,
        trace.notes,
        constants=trace.reading.constants,
        shows_numbers=trace.shows_numbers,
        library_reads=[*trace.reading.library_reads.values()],
    )


class _Results:
    """Turns the object that the function returned into graph results and a structure."""

    def __init__(self, trace: Trace, result: Any, where: str) -> None:
        self.trace = trace
        self.where = where
        self.results: list[Value | View] = []
        self._containers = {id(copy): path for copy, _, path in trace.reading.containers}
        self._places: dict[int, int] = {}
        self._copies: dict[int, Any] = {}  # of lists and dicts of the result; None while inside
        self._uses: Counter[int] = Counter()
        self._shared: dict[int, int] = {}
        arrays: dict[int, TracedArray] = {}
        result = self._with_arrays(result, arrays)
        self._share_memory(list(arrays.values()))
        self.structure = self._leaf(result)
        trace.graph.results = tuple(self.results)

    def _with_arrays(self, obj: Any, arrays: dict[int, TracedArray]) -> Any:
        """The result with static arrays traced; collects the distinct traced arrays."""
        if type(obj) is np.ndarray:
            obj = self.trace.reading.unfollowed(obj)
        if isinstance(obj, TracedNumber) and obj.is_local:
            obj = HANDLERS["kernel_number"](obj)
        if isinstance(obj, MaskedElements):
            obj = obj.selected()
        if is_either(obj) or isinstance(obj, MaybeTuple):
            obj = HANDLERS["choice"](obj)
        if isinstance(obj, Choice):
            return Choice(*(self._with_arrays(o, arrays) for o in obj))
        if isinstance(obj, TracedArray):
            arrays[id(obj)] = obj
            for other in _choices(obj):
                self._with_arrays(other, arrays)
        elif id(obj) in self._containers:
            return obj
        elif type(obj) is tuple:
            return tuple(self._with_arrays(o, arrays) for o in obj)
        elif is_named_tuple(obj):
            return type(obj)._make(self._with_arrays(o, arrays) for o in obj)
        elif type(obj) in (list, dict):
            return self._container(obj, arrays)
        return obj

    def _container(self, obj: Any, arrays: dict[int, TracedArray]) -> Any:
        """A list or dict with static arrays traced, the same one wherever it stands."""
        if id(obj) not in self._copies:
            self._copies[id(obj)] = None
            if type(obj) is list:
                made: Any = [self._with_arrays(o, arrays) for o in obj]
            else:
                made = {k: self._with_arrays(o, arrays) for k, o in obj.items()}
            self._copies[id(obj)] = made
        copy = self._copies[id(obj)]
        if copy is None:
            raise NeedsPython(f"{self.where}: returns a {type(obj).__name__} that holds itself")
        self._uses[id(copy)] += 1
        return copy

    def _number(self, obj: Any) -> int | None:
        """The number of a list or dict that stands in several places of the result."""
        if self._uses[id(obj)] < 2:
            return None
        return self._shared.setdefault(id(obj), len(self._shared))

    def _share_memory(self, arrays: list[TracedArray]) -> None:
        """What NumPy would hand out as views of one array becomes views of one buffer."""
        uses = Counter(id(a.storage.root) for a in arrays)
        roots = {a.storage.root for a in arrays}
        copies = Counter(id(base) for root in roots for base in root.copied_from)
        for array in arrays:
            storage = array.storage
            bases = storage.root.copied_from
            is_seen = any(id(base) in uses or copies[id(base)] > 1 for base in bases)
            if bases and (not storage.root.may_leave or is_seen):
                self._require_choice(array)
            is_part = not array.is_whole or storage.has_gaps
            if storage.buffer is None and (uses[id(storage.root)] > 1 or is_part):
                storage.to_buffer()
        used: set[Value] = set()
        for array in arrays:
            storage = array.storage
            if storage.buffer is not None:
                continue
            value = storage.read()
            root = self._root(value)
            if storage.buffer is None and (root in used or not self._is_computed(root)):
                copied = copy_of(array, array.dtype, storage.order, "copy")
                storage.value = root = copied.value()
            used.add(root)

    def _require_choice(self, array: TracedArray) -> None:
        """A copy where NumPy has the very object: that is handed out if it is known which one."""
        root = array.storage.root
        origin = root.origin
        if origin is not None and origin.array is array:
            track(self.trace)
            if root.copied_from.keys() <= origin.roots():
                return
        root.require_own()
        raise Declined(f"returns {root.copied_why}")

    def _root(self, value: Value) -> Value:
        """The value whose elements a chain of reshapes shows."""
        while isinstance(op := self.trace.defined.get(value), ReshapeOp):
            value = op.source
        return value

    def _is_computed(self, value: Value) -> bool:
        """Whether an op that makes new elements defines a value (a load or a view does not)."""
        return isinstance(self.trace.defined.get(value), GenericOp | HostCall)

    def _place(self, array: TracedArray) -> int:
        """The number of the graph's result that is an array."""
        if id(array) not in self._places:
            self._places[id(array)] = len(self.results)
            storage = array.storage
            self.results.append(storage.read() if storage.buffer is None else array.memory())
        return self._places[id(array)]

    def _leaf(self, obj: Any) -> ResultStructure:
        if isinstance(obj, TracedArray):
            if not obj.is_known:
                raise Declined("which object is returned depends on a condition")
            if obj.path is not None:
                return PathLeaf(obj.path)
            own = ResultLeaf(self._place(obj), obj.access, obj.is_view)
            origin = obj.storage.root.origin
            if origin is None or origin.array is not obj or origin.which is None:
                return own
            which = self._place(origin.which)
            return ChoiceLeaf(which, (own, *map(self._leaf, origin.objects)))
        if isinstance(obj, TracedNumber):
            return HostLeaf(obj.expr)
        if id(obj) in self._containers:
            return PathLeaf(self._containers[id(obj)])
        if isinstance(obj, Choice):
            return ChoiceLeaf(self._place(obj.tag), tuple(map(self._leaf, obj.numbers)))
        if type(obj) in (tuple, list) or is_named_tuple(obj):
            return ResultSequence(type(obj), tuple(map(self._leaf, obj)), self._number(obj))
        if type(obj) is dict:
            keys = tuple(map(_exact, obj))
            return ResultMapping(keys, tuple(map(self._leaf, obj.values())), self._number(obj))
        if isinstance(obj, _STATIC) and not is_method_in_c(obj):
            path = self.trace.reading.path_of(obj) if isinstance(obj, _EQUAL_ONES) else None
            is_argument = path is not None and path.root == "arg" and not path.steps
            return PathLeaf(path) if path is not None and is_argument else StaticLeaf(obj)
        path = self.trace.reading.path_of(obj)
        if path is not None:
            return PathLeaf(path)
        if isinstance(obj, Undefined):
            raise Undefined.refusal(obj, f"{self.where}: returns")
        raise NeedsPython(
            f"{self.where}: returns an object of type {type(obj).__name__}; return arrays, "
            "numbers, strings, None, or tuples, lists and dicts of them instead"
        )


def _choices(array: TracedArray) -> tuple[TracedArray, ...]:
    """What an array may be instead of itself, where it is known which one."""
    origin = array.storage.root.origin
    if origin is None or origin.array is not array or origin.which is None:
        return ()
    return origin.objects


def _exact(key: Any) -> Any:
    """A dict key as Python would have it."""
    if isinstance(key, TracedNumber):
        return key.exact()
    return tuple(map(_exact, key)) if type(key) is tuple else key


def _where(location: Location) -> str:
    return f"{location.file}:{location.line}, in {location.function}"


def _require_unchanged_containers(trace: Trace, location: Location) -> None:
    """A list or dict from outside that the function changed: the caller's would stay as it was."""
    for copy, before, path in trace.reading.containers:
        now = list(copy.items()) if isinstance(copy, dict) else copy
        then = list(before.items()) if isinstance(before, dict) else before
        if isinstance(copy, dict):
            same = len(now) == len(then) and all(
                a[0] == b[0] and a[1] is b[1] for a, b in zip(now, then, strict=True)
            )
        else:
            same = len(now) == len(then) and all(a is b for a, b in zip(now, then, strict=True))
        if not same:
            raise NeedsPython(
                f"{_where(location)}: {path.user_text()} is a {type(copy).__name__} from outside "
                "that the function changes; return the new items instead"
            )


def _require_undoable(trace: Trace) -> None:
    """Python's integers have no end: behind what cannot be undone, Python runs the statement."""
    for op in effects_for_good(trace.graph):
        late = [c for c in late_checks(trace.graph) if c.error in BEYOND_RANGE]
        if late:
            at, why = (
                op.location,
                "a Python int may go beyond 64 bits in the call",
            )
            error = NeedsPython(f"{at.file}:{at.line}, in {at.function}: {why}")
            error.location, error.position = trace.effects.get(op, (at, None))
            raise error


def _require_separate_memory(trace: Trace) -> None:
    """Stores into an argument that shares memory with another one are left to NumPy for now."""
    written = {
        op.view.buffer.root.origin.attr
        for op in walk(trace.graph.block)
        if isinstance(op, Write) and op.view.buffer.root.origin is not None
    }
    for path in written:
        array = trace.reading.originals[path]
        for other, second in trace.reading.originals.items():
            if other != path and np.may_share_memory(array, second):
                raise Declined(SHARED_MEMORY)


# ------------------------------------------------------------------------------- equal symbols
def _substitute_equal_symbols(trace: Trace) -> None:
    """Write each extent with one symbol, also where it was used before the decision was taken."""
    trace.decisions.forget_checked()
    if not trace.decisions.equalities:
        return
    canonical = functools.cache(trace.decisions.canonical)
    graph = trace.graph
    for buffer in graph.buffers:
        buffer.type = _canonical_type(buffer.type, canonical)
    for op in walk(graph.block):
        for value in op.results:
            value.type = _canonical_type(value.type, canonical)
        _canonicalize_op(op, canonical)
    graph.results = tuple(
        _canonical_view(r, canonical) if isinstance(r, View) else r for r in graph.results
    )


def _canonicalize_op(op: Op, canonical: Canonical) -> None:
    if isinstance(op, GenericOp):
        op.domain = tuple(map(canonical, op.domain))
        op.inputs = tuple(Operand(o.value, _canonical_map(o.map, canonical)) for o in op.inputs)
        op.inits = tuple(replace(i, map=_canonical_map(i.map, canonical)) for i in op.inits)
        instrs = tuple(
            replace(i, attr=canonical(i.attr)) if i.op == "index" else i for i in op.payload.instrs
        )
        op.payload = replace(op.payload, instrs=instrs)
    elif isinstance(op, ViewOp):
        op.map = _canonical_map(op.map, canonical)
    elif isinstance(op, Check) and op.shown is not None:
        at = op.shown
        index = canonical(at.index) if isinstance(at.index, AffineExpr) else at.index
        op.shown = replace(at, index=index, size=canonical(at.size))
    elif isinstance(op, Loop):
        op.lower = None if op.lower is None else canonical(op.lower)
        op.upper = None if op.upper is None else canonical(op.upper)
        for value in op.body.arguments:
            value.type = _canonical_type(value.type, canonical)
    elif isinstance(op, Load | Write):
        op.view = _canonical_view(op.view, canonical)
        if isinstance(op, Scatter):
            op.subscripts = tuple(
                Operand(s.value, _canonical_map(s.map, canonical))
                if isinstance(s, Operand)
                else canonical(s)
                for s in op.subscripts
            )


def _canonical_type(type_: TensorType, canonical: Canonical) -> TensorType:
    return TensorType(type_.dtype, tuple(map(canonical, type_.extents)))


def _canonical_map(map_: IndexingMap, canonical: Canonical) -> IndexingMap:
    return IndexingMap(map_.num_dims, tuple(map(canonical, map_.results)))


def _canonical_view(view: View, canonical: Canonical) -> View:
    extents = tuple(map(canonical, view.extents))
    return View(view.buffer, _canonical_map(view.map, canonical), extents)


def _require_known_results(trace: Trace) -> None:
    """The launcher allocates results, and hands sizes from kernel to kernel: it must know them."""
    graph = trace.graph
    known = set(launcher_symbols(graph))

    def is_unknown(expr: AffineExpr) -> bool:
        return any(trace.decisions.is_local(AffineExpr.symbol(s)) for s in expr.symbols() - known)

    for result in graph.results:
        extents = result.type.extents
        maps = result.map.results if isinstance(result, View) else ()
        if any(map(is_unknown, (*extents, *maps))):
            raise Declined("the size of a result is known only in the kernel")


# -------------------------------------------------------------------------------- unused inputs
def _drop_unused(trace: Trace) -> None:
    """Drop pure ops that nothing reads, and symbols and scalars that nothing mentions."""
    graph = trace.graph
    needed: set[Value] = {r for r in graph.results if isinstance(r, Value)}
    kept: list[Op] = []
    for op in reversed(graph.block.ops):
        if not isinstance(op, GenericOp | ViewOp | ReshapeOp | Load) or needed.intersection(
            op.results
        ):
            kept.append(op)
            needed.update(op.operand_values)
            for block in op.blocks:
                needed.update(block.yields)
                for inner in walk(block):
                    needed.update(inner.operand_values, *(b.yields for b in inner.blocks))
    graph.block.ops[:] = kept[::-1]
    graph.scalars[:] = [s for s in graph.scalars if s.value in needed]


def _drop_implied_guards(trace: Trace) -> None:
    """Of ``s0 >= 1`` and ``s0 >= 3``, both true, keep the second."""
    strongest: dict[str, int] = {}
    bounds: list[tuple[str, int] | None] = []
    for guard in trace.graph.guards:
        bound = None
        if guard.expr.op == "ge" and guard.expected:
            left, right = guard.expr.operands
            if right.op == "const" and isinstance(right.attr, int):
                bound = (str(left), right.attr)
                strongest[bound[0]] = max(bound[1], strongest.get(bound[0], bound[1]))
        bounds.append(bound)
    trace.graph.guards = [
        guard
        for guard, bound in zip(trace.graph.guards, bounds, strict=True)
        if bound is None or strongest[bound[0]] == bound[1]
    ]


def _require_bounded_symbols(trace: Trace) -> None:
    """Integers that decide about sizes stay far from the ends of int64 (the launcher checks)."""
    for name in index_symbols(trace.graph):
        if abs(trace.decisions.hints[name]) > LARGEST_SYMBOL:
            raise Declined("a size or an index depends on an integer beyond 47 bits")


def _mark_writeable_arguments(trace: Trace) -> None:
    stored = {b.origin.attr for b in trace.graph.buffers if b.origin is not None and b.writeable}
    writeable = stored | trace.reading.writeable
    for k, check in enumerate(trace.reading.checks):
        if check.kind is CheckKind.ARRAY and check.path in writeable:
            expected: ArrayClass = replace(check.expected, writeable=True)
            trace.reading.checks[k] = replace(check, expected=expected)
