"""Indices and bounds of slices that only the kernel knows, as symbols of the block.

An integer of the kernel (``x[k[i]]``, ``x[lo:hi]`` with elements as bounds, or an expression of an
induction variable whose sign varies) is wrapped and clamped as Python and NumPy do it, by scalar
code in the kernel, and bound to a symbol. From there on the index is as affine as any other: the
result is a view, and stores through it are ordinary stores. An index out of bounds is found by a
`Assert`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fusejit.ir.affine import AffineExpr
from fusejit.ir.analysis.index_symbols import LARGEST_SYMBOL
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.ops import Assert, Bind, CheckedIndex, Operand
from fusejit.ir.payload import I64, PayloadBuilder
from fusejit.ir.types import Kind
from fusejit.ir.values import Value
from fusejit.tracer.builder.primitives import primitive
from fusejit.tracer.builder.shapes import Varies
from fusejit.tracer.builder.trace import Trace
from fusejit.tracer.ops.checks import LEFT_TO_PYTHON
from fusejit.tracer.ops.kernel_numbers import int_value, is_kernel_number
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.operand_types import BOOL, U64, int_fits
from fusejit.tracer.values.symbolic_number import SymbolicNumber

ENDS = "ends"
"""The name of the op that asks whether the ends of a range are near enough: ``stop``, ``start``."""

Compute = Callable[[PayloadBuilder, Callable[[AffineExpr], int]], int]


def symbol_of(trace: Trace, number: TracedArray) -> AffineExpr:
    """An integer of the kernel as a symbol; the same one for the same value."""
    value = int_value(number)
    return _bound(trace, ("value", value), value, None, None)


def affine_index(trace: Trace, item: Any) -> AffineExpr | None:
    """What an item of an index is, if it is a number of the kernel."""
    if is_kernel_number(item) and item.dtype.kind in "iu":
        return symbol_of(trace, item)
    if isinstance(item, SymbolicNumber) and item.is_local:
        return item.as_affine()
    return None


def is_strided(index: tuple[Any, ...], trace: Trace) -> bool:
    """Whether an index has a slice whose step only the kernel knows."""
    return any(isinstance(i, slice) and affine_index(trace, i.step) is not None for i in index)


def checked_index(trace: Trace, index: AffineExpr, size: AffineExpr, axis: int = 0) -> AffineExpr:
    """An index that may be negative as one that counts from the start; a check that it is there."""
    start, is_inside = wrapped_index(trace, index, size)
    if is_inside is not None:
        canonical = trace.decisions.canonical
        shown = CheckedIndex(canonical(index), axis, canonical(size))
        reason = "an index is out of bounds"
        trace.emit(Assert(condition=is_inside, reason=reason, shown=shown))
    return start


def wrapped_index(
    trace: Trace, index: AffineExpr, size: AffineExpr
) -> tuple[AffineExpr, Value | None]:
    """An index that may be negative as one that counts from the start, and whether it is there.

    ``start = index + size if index < 0 else index`` is inside if it is, as an unsigned number,
    below ``size``: one comparison. None stands for it where that has been checked.
    """

    def wrapped(builder: PayloadBuilder, ref: Callable[[AffineExpr], int]) -> int:
        return _from_start(builder, ref, index, size)

    key = ("index", index, size)
    known = trace.locals.find_bound(key)
    if known is not None:
        return known, None
    value = scalar(trace, "wrapped", I64, wrapped)
    start = _bound(trace, key, value, AffineExpr.const(0), size - 1)

    def is_inside(builder: PayloadBuilder, ref: Callable[[AffineExpr], int]) -> int:
        ends = [builder.cast(ref(expr), U64) for expr in (start, size)]
        return builder.op("less", ends, BOOL)  # of unsigned numbers: below 0 is too large

    return start, scalar(trace, "in_bounds", BOOL, is_inside)


def _from_start(
    builder: PayloadBuilder, ref: Callable[[AffineExpr], int], at: AffineExpr, size: AffineExpr
) -> int:
    """``at + size if at < 0 else at``."""
    negative = builder.op("less", [ref(at), builder.const(0, I64)], BOOL)
    return builder.op("select", [negative, ref(at + size), ref(at)], I64)


def clamped(
    builder: PayloadBuilder,
    ref: Callable[[AffineExpr], int],
    bound: AffineExpr,
    size: AffineExpr,
    low: int,
    high: AffineExpr,
) -> int:
    """A bound of a slice, counted from the start and kept from ``low`` to ``high``."""
    at = _from_start(builder, ref, bound, size)
    at = builder.op("maximum", [at, builder.const(low, I64)], I64)
    return builder.op("minimum", [at, ref(high)], I64)


def clamped_slice(
    trace: Trace,
    start: AffineExpr | None,
    stop: AffineExpr | None,
    step: int,
    size: AffineExpr,
) -> tuple[AffineExpr, AffineExpr]:
    """First index and number of elements of a slice, whatever its bounds are.

    Source: ``PySlice_AdjustIndices`` of CPython.
    """
    low, high = (0, 0) if step > 0 else (-1, -1)

    def clamp(builder: PayloadBuilder, ref: Callable[[AffineExpr], int], bound: AffineExpr) -> int:
        return clamped(builder, ref, bound, size, low, size + high)

    def first(builder: PayloadBuilder, ref: Callable[[AffineExpr], int]) -> int:
        if start is None:
            return ref(AffineExpr.const(0) if step > 0 else size - 1)
        return clamp(builder, ref, start)

    def length(builder: PayloadBuilder, ref: Callable[[AffineExpr], int]) -> int:
        if stop is None:
            end = ref(size if step > 0 else AffineExpr.const(-1))
        else:
            end = clamp(builder, ref, stop)
        ends = [end, first(builder, ref)] if step > 0 else [first(builder, ref), end]
        distance = builder.op("subtract", ends, I64)
        if abs(step) > 1:
            more = builder.op("add", [distance, builder.const(abs(step) - 1, I64)], I64)
            distance = builder.op("floor_divide", [more, builder.const(abs(step), I64)], I64)
        return builder.op("maximum", [distance, builder.const(0, I64)], I64)

    key = (start, stop, step, size)
    known = trace.locals.find_bound(("start", *key)), trace.locals.find_bound(("length", *key))
    if known[0] is not None and known[1] is not None:
        return known[0], known[1]
    zero = AffineExpr.const(0)
    begin = _bound(
        trace, ("start", *key), scalar(trace, "start", I64, first), zero + low, size + high
    )
    count = _bound(trace, ("length", *key), scalar(trace, "length", I64, length), zero, size)
    if step == 1:
        trace.decisions.assume_nonnegative(size - begin - count)
    return begin, count


def counted(builder: PayloadBuilder, distance: int, step: int) -> int:
    """How many steps, at least 1 each, it takes to cover a distance; no sum overflows."""
    one = builder.const(1, I64)
    distance = builder.op("maximum", [distance, builder.const(0, I64)], I64)
    first = builder.op("minimum", [distance, one], I64)  # one step, if there is any distance
    further = builder.op("subtract", [distance, first], I64)
    return builder.op("add", [builder.op("floor_divide", [further, step], I64), first], I64)


def require_positive(trace: Trace, step: AffineExpr) -> None:
    """Ensure that a step is positive, in the kernel where that is not known here."""
    try:
        if trace.decisions.nonnegative(step - 1, "a step is positive"):
            return
    except Varies:
        pass
    reason = "a step that is computed is positive"
    _check(trace, "positive", _compared("greater", step, 0), reason, "ValueError")


def fits(dtype: np.dtype) -> str:
    """The reason of checks that a Python int fits a dtype, the last word of which is the dtype."""
    return f"a Python integer fits {dtype}"


def _fits(number: Any, dtype: np.dtype) -> bool:
    """Whether an integer fits a dtype, decided for all calls of the variant."""
    if isinstance(number, SymbolicNumber):
        return all(int_fits(number, dtype))
    info = np.iinfo(dtype)
    return bool(info.min <= number <= info.max)


def check_fits(number: TracedArray, dtype: np.dtype) -> None:
    """An `Assert` that a Python integer of the kernel fits an integer dtype, as NumPy demands.

    Of integers that each call knows before, guards ask instead.
    """
    trace = number.trace
    info = np.iinfo(dtype)
    value = number.value()
    known = trace.chosen_from.get(value)
    if known is not None and all(_fits(one, dtype) for one in known):
        return
    builder = PayloadBuilder([I64], [BOOL])
    not_low = builder.op("greater_equal", [0, builder.const(int(info.min), I64)], BOOL)
    high = min(int(info.max), int(np.iinfo(np.int64).max))
    not_high = builder.op("less_equal", [0, builder.const(high, I64)], BOOL)
    payload = builder.finish([builder.op("logical_and", [not_low, not_high], BOOL)])
    ok = trace.new_value(BOOL, (), Kind.PYTHON)
    trace.emit_generic("fits", ok, (Operand(value, IndexingMap.identity(0)),), payload)
    trace.emit(Assert(condition=ok, reason=fits(dtype), error="OverflowError", integer=value))


def check_equal(trace: Trace, left: AffineExpr, right: AffineExpr, reason: str) -> None:
    """An `Assert` that two integers are one; the newest of them is replaced after it.

    It must be an integer of the current block, as values made further out must not depend on it.
    """
    trace.assumes_sizes = True
    _check(trace, "same_extent", _compared("equal", left, right), reason, "ValueError")
    zero = trace.decisions.canonical(left - right)
    newest = max(zero.symbols(), key=trace.decisions.age_of, default="")  # "": always unequal
    if trace.locals.is_of_this_block(newest):
        trace.decisions.note_checked(zero, newest)


def check_some(trace: Trace, extent: AffineExpr, name: str) -> None:
    """An `Assert` that there are elements, for ``max``, ``min``, ``argmax`` and ``argmin``."""
    reason = f"the {name} of no elements"
    _check(trace, "has_some", _compared("greater", extent, 0), reason, f"no {name}")


def size_of_kernel(trace: Trace, number: TracedArray) -> AffineExpr:
    """An integer of the kernel as the length of a new axis; a check that it can be one."""
    size = symbol_of(trace, number)

    def is_size(builder: PayloadBuilder, ref: Callable[[AffineExpr], int]) -> int:
        low = builder.op("greater_equal", [ref(size), builder.const(0, I64)], BOOL)
        high = builder.op("less", [ref(size), builder.const(LARGEST_SYMBOL, I64)], BOOL)
        return builder.op("logical_and", [low, high], BOOL)

    if not trace.decisions.proves_nonnegative(size):
        _check(trace, "is_size", is_size, "a size is negative", "SizeError")
        trace.decisions.assume_nonnegative(size)
    return size


def local_product(trace: Trace, factors: Sequence[AffineExpr]) -> AffineExpr:
    """The product of integers some of which only the block knows, as a symbol of the block."""

    def multiplied(builder: PayloadBuilder, ref: Callable[[AffineExpr], int]) -> int:
        total, *rest = map(ref, factors)
        for factor in rest:
            total = builder.op("multiply", [total, factor], I64)
        return total

    key = ("product", *factors)
    known = trace.locals.find_bound(key)
    if known is not None:
        return known
    is_size = all(map(trace.decisions.proves_nonnegative, factors))
    value = scalar(trace, "product", I64, multiplied)
    return _bound(trace, key, value, AffineExpr.const(0) if is_size else None, None)


def check_ends(trace: Trace, end: AffineExpr, start: AffineExpr, step: int) -> None:
    """An `Assert` that the distance of the ends of a range fits 64 bits, and is far from there.

    `fusejit.tracer.indexing.integer_overflow` drops it where it is so for all numbers.
    """
    decisions = trace.decisions
    if not any(decisions.is_local(AffineExpr.symbol(s)) for s in (end - start).symbols()):
        return

    def is_near(builder: PayloadBuilder, ref: Callable[[AffineExpr], int]) -> int:
        ends = [ref(end), ref(start)]
        distance = builder.op("subtract", ends, I64)
        signs = [builder.op("bitwise_xor", [ends[0], o], I64) for o in (ends[1], distance)]
        both = builder.op("bitwise_and", signs, I64)
        fits = builder.op("greater_equal", [both, builder.const(0, I64)], BOOL)
        if step == 1:
            return fits
        most = builder.const(2**63 - step, I64)
        near = builder.op("less_equal", [distance, most], BOOL)
        return builder.op("logical_and", [fits, near], BOOL)

    reason = "the ends of a range are less than 2**63 apart"
    _check(trace, ENDS if step < 2**60 else "far ends", is_near, reason, "64 bits")


def require_at_least(trace: Trace, size: AffineExpr, count: int, reason: str) -> None:
    """An `Assert` that a size is so large: elsewhere Python runs the call."""
    is_enough = _compared("greater_equal", size, count)
    _check(trace, "is_enough", is_enough, reason, LEFT_TO_PYTHON)


def assume(trace: Trace, comparison: str, expr: AffineExpr, reason: str) -> None:
    """An `Assert` that an integer compares with 0 as a decision has it."""
    trace.assumes_sizes = True
    reason = reason or "a size is as assumed"
    _check(trace, "as_assumed", _compared(comparison, expr, 0), reason, "ValueError")


def connect_checks(trace: Trace) -> None:
    """Let the kernel check what the decisions of a trace do not know."""
    decisions = trace.decisions
    decisions.emit_check = functools.partial(check_equal, trace)
    decisions.emit_some = functools.partial(check_some, trace)
    decisions.emit_assumption = functools.partial(assume, trace)


def _compared(name: str, left: AffineExpr, right: AffineExpr | int) -> Compute:
    """Whether two integers compare in this way."""

    def compute(builder: PayloadBuilder, ref: Callable[[AffineExpr], int]) -> int:
        first = ref(left)
        second = builder.const(right, I64) if isinstance(right, int) else ref(right)
        return builder.op(name, [first, second], BOOL)

    return compute


def _check(trace: Trace, name: str, holds: Compute, reason: str, error: str) -> None:
    """An `Assert` that something holds of symbols."""
    ok = scalar(trace, name, BOOL, holds)
    trace.emit(Assert(condition=ok, reason=reason, error=error))


def scalar(trace: Trace, name: str, dtype: np.dtype, compute: Compute) -> Value:
    """A number of the kernel that is computed from symbols."""
    builder = PayloadBuilder([], [dtype])

    def ref(expr: AffineExpr) -> int:
        return builder.index(trace.decisions.canonical(expr))

    payload = builder.finish([compute(builder, ref)])
    result = trace.new_value(dtype, (), Kind.PYTHON)
    return trace.emit_generic(name, result, (), payload)


def _bound(
    trace: Trace,
    key: tuple[Any, ...],
    value: Value,
    low: AffineExpr | None,
    high: AffineExpr | None,
) -> AffineExpr:
    known = trace.locals.find_bound(key)
    if known is not None:
        return known
    symbol = bound_number(trace, value, low, high)
    trace.locals.note_bound(key, symbol)
    return symbol


def bound_number(
    trace: Trace, value: Value, low: AffineExpr | None, high: AffineExpr | None
) -> AffineExpr:
    """A number of the kernel, within given bounds, as a symbol of the block."""
    name = trace.locals.add(0, low, high)
    trace.emit(Bind(symbol=name, value=value))
    return AffineExpr.symbol(name)


def between(number: Any, low: int, high: Any) -> Any:
    """A number of the kernel that has these bounds by construction."""
    return number


@primitive(between)
def _between(number: Any, low: int, high: Any) -> Any:
    """The number as a symbol with these bounds, so that it needs no check as an index."""
    if not is_kernel_number(number):
        return number
    trace = number.trace
    most = high.affine if isinstance(high, SymbolicNumber) else AffineExpr.const(high)
    symbol = bound_number(trace, int_value(number), AffineExpr.const(low), most)
    return SymbolicNumber.of_affine(trace, symbol)
