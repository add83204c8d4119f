"""The end of a trace: results, aliasing, equal symbols replaced, unused inputs dropped."""

from __future__ import annotations

from typing import Any

import numpy as np

from fusejit.dataclass import replace
from fusejit.errors import NeedsPython
from fusejit.ir.affine import AffineExpr
from fusejit.ir.analysis.host_blocks import launcher_symbols
from fusejit.ir.analysis.index_symbols import LARGEST_SYMBOL, index_symbols
from fusejit.ir.host_calls import deferred_assertions, effects_for_good
from fusejit.ir.memory_versions import renumber_versions
from fusejit.ir.ops import GenericOp, Load, Op, ReshapeOp, ViewOp, Write, walk
from fusejit.ir.source import Location
from fusejit.ir.traced import ArrayClass, CheckKind, TracedFunction
from fusejit.ir.values import Value, View
from fusejit.outcome import overlap
from fusejit.tracer.builder.equal_symbols import substitute_equal_symbols
from fusejit.tracer.builder.trace import Trace
from fusejit.tracer.capture.traced_results import Results
from fusejit.tracer.carried.missing_attributes import end_missing
from fusejit.tracer.carried.outside_attributes import OutsideAttributes
from fusejit.tracer.flow.raises import refuse_deferred_raises
from fusejit.tracer.indexing.integer_overflow import check_overflows
from fusejit.tracer.lists.changed_lists import written_lists
from fusejit.tracer.lists.list_memory import Capacities
from fusejit.tracer.ops.checks import BEYOND_RANGE, checks_first
from fusejit.tracer.program.fallback import Fallback
from fusejit.tracer.values.storage import CopiesReadInLoops


def finish(trace: Trace, result: Any, location: Location) -> TracedFunction:
    """Complete the graph and describe how the function's result is put together."""
    _require_unchanged_containers(trace, location)
    end_missing(trace)
    trace.owned(OutsideAttributes).write_back(trace)
    written = trace.owned(OutsideAttributes).objects | written_lists(trace)
    made = (result, *written.values()) if written else result
    structure = Results(trace, made, location).structure
    _require_separate_memory(trace)
    for copy in trace.owned(CopiesReadInLoops):  # a later iteration may read it after a store
        copy.require_unchanged_base()
    substitute_equal_symbols(trace)
    _drop_unused(trace)
    _require_known_results(trace)
    renumber_versions(trace.graph.block)
    check_overflows(trace.graph, frozenset(trace.nonnegative))
    checks_first(trace.graph, trace.undoes)
    _require_undoable(trace)
    trace.owned(OutsideAttributes).require_whole(trace, writes_more=bool(written))
    refuse_deferred_raises(trace.graph, trace.tries)
    _drop_implied_guards(trace)
    _require_bounded_symbols(trace)
    _mark_writeable_arguments(trace)
    return TracedFunction(
        trace.graph,
        trace.captured_reads.checks,
        structure,
        location,
        trace.notes,
        constants=trace.captured_reads.constants,
        made=trace.captured_reads.made,
        written=tuple(written),
        shows_numbers=trace.shows_numbers,
        library_reads=[*trace.captured_reads.library_reads.values()],
        entry_stubs=tuple(trace.captured_reads.entry_stubs),
        capacities=tuple(trace.owned(Capacities).rooms),
    )


def _require_unchanged_containers(trace: Trace, location: Location) -> None:
    """A list or dict from outside that the function changed: the caller's would stay as it was."""
    for copy, before, path in trace.captured_reads.containers:
        now = list(copy.items()) if isinstance(copy, dict) else copy
        then = list(before.items()) if isinstance(before, dict) else before
        if isinstance(copy, dict):
            same = len(now) == len(then) and all(
                a[0] == b[0] and a[1] is b[1] for a, b in zip(now, then, strict=True)
            )
        else:
            same = len(now) == len(then) and all(a is b for a, b in zip(now, then, strict=True))
        if not same:
            what = f"{path.user_text()} is a {type(copy).__name__} from outside"
            raise NeedsPython.at(
                location, f"{what} that the function changes", "return the new items instead"
            )


def _require_undoable(trace: Trace) -> None:
    """Python's integers have no end: after what cannot be undone, Python runs the statement."""
    for op in effects_for_good(trace.graph):
        deferred = [c for c in deferred_assertions(trace.graph) if c.error in BEYOND_RANGE]
        if deferred:
            is_number = deferred[0].error == "64 bits"
            what = "a Python int may go beyond 64 bits" if is_number else deferred[0].reason
            error = NeedsPython.at(op.location, f"{what} in the call")
            error.location, error.position = trace.effects.get(op, (op.location, None))
            raise error


def _require_separate_memory(trace: Trace) -> None:
    """Stores into an argument that shares memory with another one are left to NumPy for now."""
    written = {
        op.view.buffer.root.origin.attr
        for op in walk(trace.graph.block)
        if isinstance(op, Write) and op.view.buffer.root.origin is not None
    }
    for path in written:
        array = trace.captured_reads.originals[path]
        for other, second in trace.captured_reads.originals.items():
            if other != path and np.may_share_memory(array, second):
                names = f"{path.user_text()}, which is written, and {other.user_text()}"
                raise Fallback(overlap(f"{names} overlap in memory"))


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
            raise Fallback("the size of a result is known only when compiled code runs")


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
            raise Fallback("a size or an index depends on an integer beyond 47 bits")


def _mark_writeable_arguments(trace: Trace) -> None:
    stored = {b.origin.attr for b in trace.graph.buffers if b.origin is not None and b.writeable}
    writeable = stored | trace.captured_reads.writeable
    for k, check in enumerate(trace.captured_reads.checks):
        if check.kind is CheckKind.ARRAY and check.path in writeable:
            expected: ArrayClass = replace(check.expected, writeable=True)
            trace.captured_reads.checks[k] = replace(check, expected=expected)
