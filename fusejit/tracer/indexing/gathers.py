"""Indices that are integer arrays: ``x[i, :, j]`` as one op that reads elements at computed places.

NumPy's rule for the result: integer arrays and ints, broadcast against each other, are one block of
axes. It stands where they stand, if they stand side by side, and before everything else if
not; slices and new axes keep their places around it.

Whether all integers are within bounds is an `Assert` of its own before the op: the largest of
``max(i, -1 - i)`` is compared with the length of the axis, once per array of integers. If it fails,
NumPy runs the call and raises its own IndexError.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fusejit.dataclass import dataclass
from fusejit.ir import ops as ir
from fusejit.ir.affine import AffineExpr
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.payload import I64, PayloadBuilder
from fusejit.ir.types import Kind
from fusejit.ir.values import Value
from fusejit.tracer.builder.shapes import Extents, Varies, normal_order
from fusejit.tracer.builder.trace import Trace
from fusejit.tracer.indexing.basic import index_of, require_int_fits, slice_of
from fusejit.tracer.ops.axis_order import Order, result_order
from fusejit.tracer.ops.elementwise_op import stored_value
from fusejit.tracer.ops.stores import require_writeable, without_leading_ones
from fusejit.tracer.program.fallback import numpy_raises
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.broadcasting import broadcast, broadcast_map
from fusejit.tracer.values.operand_types import BOOL, Operand, operand_of
from fusejit.tracer.values.subclass_numbers import stored

OUT_OF_BOUNDS = "an index is out of bounds"

Reach = Callable[[PayloadBuilder, int, np.dtype], int]
"""What is compared with the size of an axis: of an integer and its dtype."""


@dataclass(frozen=True, slots=True)
class Picked:
    """Which elements an index with integer arrays picks.

    Attributes
    ----------
    extents : tuple of AffineExpr
        Of the result.
    subscripts : tuple
        For each axis of the array an expression of the result's dims, or an array of integers with
        the map from the result's dims.
    has_slices : bool
        Whether some dims of the result are not those of the integers.
    order : tuple of int or None
        Axes of NumPy's result from the outermost to the innermost.
    is_transposed : bool
        Whether NumPy picks with the dims of the integers in front, and transposes what it picked.
    """

    extents: Extents
    subscripts: tuple[AffineExpr | tuple[TracedArray, IndexingMap], ...]
    has_slices: bool
    order: Order
    is_transposed: bool = False


# ------------------------------------------------------------------------------------ the index
def pick(array: TracedArray, index: tuple[Any, ...], integers: Sequence[Any]) -> Picked:
    """Resolve an index; ``integers`` has an array for each of its items that is one."""
    decisions = array.trace.decisions
    pairs = _expanded(array, list(zip(index, integers, strict=True)))
    given = [a for _, a in pairs if a is not None]
    fancy = broadcast(decisions, [a.extents for a in given])
    has_arrays = any(a.ndim for a in given)
    at = [k for k, (i, a) in enumerate(pairs) if a is not None or (has_arrays and _is_int(i))]
    together = at[-1] - at[0] + 1 == len(at)
    first = sum(isinstance(i, slice) or i is None for i, _ in pairs[: at[0]]) if together else 0
    plain: list[AffineExpr] = []  # extents of slices and new axes
    axes: list[tuple[Any, AffineExpr | None]] = []  # how each axis of the array is indexed
    axis = 0
    for item, one in pairs:
        if item is Ellipsis:
            continue
        if item is None:
            plain.append(AffineExpr.const(1))
            continue
        size = decisions.canonical(array.extents[axis])
        axis += 1
        if one is not None:
            axes.append((one, None))
        elif isinstance(item, slice):
            start, extent, step = slice_of(array.trace, item, size)
            at_dim = len(plain) if len(plain) < first else len(plain) + len(fancy)
            axes.append((None, start + AffineExpr.dim(at_dim) * step))
            plain.append(extent)
        else:
            axes.append((None, index_of(array.trace, item, size, axis - 1)))
    extents = (*plain[:first], *fancy, *plain[first:])
    to_fancy = IndexingMap.select(len(extents), range(first, first + len(fancy)))
    subscripts = tuple(
        (one, broadcast_map(decisions, one.extents, fancy).compose(to_fancy))
        if expr is None
        else expr
        for one, expr in axes
    )
    inside = [d for d in range(len(extents)) if not first <= d < first + len(fancy)]
    order = _order(array, given, extents, subscripts, (first, len(fancy)), inside)
    is_transposed = has_arrays and first > 0
    return Picked(extents, subscripts, bool(inside), order, is_transposed)


def _expanded(
    array: TracedArray, items: list[tuple[Any, TracedArray | None]]
) -> list[tuple[Any, TracedArray | None]]:
    """The items of an index, Ellipsis (or what is missing at the end) as slices.

    An Ellipsis that stands for no axes is kept: integers on both sides of it are apart.
    """
    num_axes = sum(1 for i, _ in items if i is not None and i is not Ellipsis)
    ellipses = [k for k, (i, _) in enumerate(items) if i is Ellipsis]
    if num_axes > array.ndim or len(ellipses) > 1:
        raise numpy_raises("IndexError: too many indices for array")
    at = ellipses[0] if ellipses else len(items)
    fill: list[tuple[Any, TracedArray | None]] = [(slice(None), None)] * (array.ndim - num_axes)
    return [*items[:at], *(fill or items[at : at + 1]), *items[at + len(ellipses) :]]


def _is_int(item: Any) -> bool:
    return item is not None and item is not Ellipsis and not isinstance(item, slice)


def _order(
    array: TracedArray,
    given: Sequence[TracedArray],
    extents: Extents,
    subscripts: Sequence[AffineExpr | tuple[TracedArray, IndexingMap]],
    fancy: tuple[int, int],
    inside: Sequence[int],
) -> Order:
    """The axis order of NumPy's result.

    Without slices of more than one element it is that of the arrays of integers. Otherwise the
    block of the integers is outermost, in C order, and the others lie as they lie in ``array``,
    where axes of stride 0 count as the innermost.
    """
    trace = array.trace
    first, count = fancy
    decisions = trace.decisions
    by_integers = result_order(trace, given, extents[first : first + count])
    reason = "the slices beside an array of integers have one element"
    if not inside:
        return by_integers
    if by_integers and all(decisions.equal(extents[d], 1, reason) for d in inside):
        return (*(first + d for d in by_integers), *inside)
    zero, rank = AffineExpr.const(0), len(extents)
    dims = [AffineExpr.dim(inside.index(d)) if d in inside else zero for d in range(rank)]
    part = IndexingMap(
        len(inside),
        tuple(zero if isinstance(s, tuple) else s.substitute(dims) for s in subscripts),
    )
    sub = array.view(part, tuple(extents[d] for d in inside))
    order = sub.sorted_order() or tuple(range(len(inside)))
    return normal_order((*range(first, first + count), *(inside[k] for k in order)))


# ---------------------------------------------------------------------------------- the elements
def getitem(
    array: TracedArray, index: tuple[Any, ...], integers: Sequence[TracedArray | None]
) -> TracedArray:
    """``array[index]`` where some items are integers of the kernel: a copy."""
    picked = pick(array, index, integers)
    result = gather(array, picked)
    if result.ndim and not any(i is not None and i.ndim for i in integers):
        # elements as ints: NumPy has a view here, which must not be told from the copy
        result.storage.note_copied(array.storage.root, may_leave=False)
    return result.as_view() if picked.is_transposed else result


def gather(array: TracedArray, picked: Picked, name: str = "take") -> TracedArray:
    """``result[p] = array[subscripts(p)]``, checked."""
    trace = array.trace
    check_bounds(array, picked)
    rank = len(picked.extents)
    corner = IndexingMap(rank, (AffineExpr.const(0),) * array.ndim)
    inputs = [ir.Operand(array.value(), corner)]
    for subscript in picked.subscripts:
        if isinstance(subscript, tuple):
            operand = ir.Operand(subscript[0].value(), subscript[1])
            if operand not in inputs[1:]:
                inputs.append(operand)
    builder = PayloadBuilder([o.value.type.dtype for o in inputs], [array.dtype])
    refs = []
    for subscript, extent in zip(picked.subscripts, array.extents, strict=True):
        if isinstance(subscript, tuple):
            operand = ir.Operand(subscript[0].value(), subscript[1])
            at = inputs.index(operand, 1)
            is_within = _is_made_within(trace, subscript[0])
            extent = trace.decisions.canonical(extent)
            refs.append(builder.cast(at, I64) if is_within else builder.subscript(at, extent))
        else:
            refs.append(builder.index(subscript))
    payload = builder.finish([builder.extract(0, refs, array.dtype)])
    kind = Kind.ARRAY if rank else Kind.SCALAR
    result = trace.new_value(array.dtype, picked.extents, kind, picked.order)
    return TracedArray.of_value(trace, trace.emit_generic(name, result, inputs, payload))


def check_bounds(array: TracedArray, picked: Picked) -> None:
    """Checks that every integer lies within its axis.

    NumPy checks none if the integers, broadcast together, are no elements.
    """
    maps = [s[1] for s in picked.subscripts if isinstance(s, tuple)]
    dims = {d for each in maps for result in each.results for d in result.dims()}
    pairs = zip(picked.subscripts, array.extents, strict=True)
    for axis, (subscript, extent) in enumerate(pairs):
        if not isinstance(subscript, tuple):
            continue
        own = {d for result in subscript[1].results for d in result.dims()}
        others = (picked.extents[d] for d in sorted(dims - own))
        if not any(_is_empty(array.trace, other) for other in others):
            check_index(array.trace, subscript[0], extent, axis)


def _is_empty(trace: Trace, extent: AffineExpr) -> bool:
    try:
        return trace.decisions.equal(extent, 0, "integers that are broadcast to no elements")
    except Varies:
        return False


def check_index(trace: Trace, integers: TracedArray, extent: AffineExpr, axis: int) -> None:
    """An `Assert` that ``-extent <= integers < extent``."""
    known, dtype = trace.decisions.constant(extent), integers.dtype
    if known is not None and dtype.kind == "u" and known > np.iinfo(dtype).max:
        return  # bytes into a table of 256
    shown = None
    if _is_looked_at_in_order(integers):
        shown = ir.CheckedIndex(integers.value(), axis, trace.decisions.canonical(extent))
    check_that(trace, integers, _reach, extent, shown)


def _is_looked_at_in_order(integers: TracedArray) -> bool:
    """Whether NumPy meets integers in C order, and so names the first one that is out of bounds.

    It casts others than int64 in the order of memory, and goes through several axes in that order.
    """
    if integers.dtype == np.int64 and integers.ndim < 2:
        return True
    storage = integers.storage
    return integers.is_whole and storage.is_dense and storage.order is None


def _reach(builder: PayloadBuilder, ref: int, dtype: np.dtype) -> int:
    """``max(i, -1 - i)``: how far an index reaches from either end."""
    return builder.op("maximum", [ref, builder.op("invert", [ref], dtype)], dtype)


def mark_within_bounds(trace: Trace, integers: TracedArray, extent: AffineExpr) -> None:
    """Note that integers lie within an axis by construction: no check is made."""
    known = trace.checked.setdefault(integers.value(), [])
    known.append((_reach, trace.decisions.canonical(extent), trace.block))
    trace.made_within.add(integers.value())


def _is_made_within(trace: Trace, integers: TracedArray) -> bool:
    """Whether integers are not negative by construction: places of elements."""
    return integers.value() in trace.made_within


def check_that(
    trace: Trace,
    integers: TracedArray,
    reach: Reach,
    extent: AffineExpr,
    shown: ir.CheckedIndex | None = None,
    error: str = "IndexError",
) -> None:
    """An `Assert` that the largest ``reach`` is below ``extent``; none where one has been made."""
    extent = trace.decisions.canonical(extent)
    value = integers.value()
    known = trace.checked.setdefault(value, [])
    if any(made[:2] == (reach, extent) and trace.is_open(made[2]) for made in known):
        return
    known.append((reach, extent, trace.block))
    ok = trace.new_value(BOOL, (), Kind.SCALAR)
    largest = _largest(trace, value, reach)
    builder = PayloadBuilder([largest.type.dtype], [BOOL])
    below = builder.op("less", [builder.cast(0, I64), builder.index(extent)], BOOL)
    inputs = (ir.Operand(largest, IndexingMap.identity(0)),)
    trace.emit_generic("in_bounds", ok, inputs, builder.finish([below]))
    trace.emit(ir.Assert(condition=ok, reason=OUT_OF_BOUNDS, error=error, shown=shown))


def _largest(trace: Trace, value: Value, reach: Reach) -> Value:
    """The largest ``reach`` of all integers, in a dtype as narrow as they are, but with a sign.

    Vectors of bytes hold eight times as many as vectors of int64, and of no integers the largest
    is negative.
    """
    rank, dtype = value.type.rank, value.type.dtype
    width = dtype.itemsize if dtype.kind == "i" else min(2 * dtype.itemsize, 8)
    signed = np.dtype(f"i{width}")
    builder = PayloadBuilder([dtype], [signed])
    ref = builder.cast(0, signed)
    if dtype.kind == "i" or dtype.itemsize == 8:
        ref = reach(builder, ref, signed)
    result = trace.new_value(signed, (), Kind.SCALAR)
    return trace.emit_generic(
        "reach",
        result,
        (ir.Operand(value, IndexingMap.identity(rank)),),
        builder.finish([ref]),
        domain=value.type.extents,
        reduced=range(rank),
        init=ir.Init(IndexingMap(rank, ()), "max" if rank else None),
    )


# ------------------------------------------------------------------------------------- the stores
def setitem(
    array: TracedArray, index: tuple[Any, ...], integers: Sequence[TracedArray | None], value: Any
) -> None:
    """``array[index] = value`` where some items are integers of the kernel."""
    require_writeable(array)
    picked = pick(array, index, integers)
    operand = operand_of(stored(value))
    require_int_fits(operand, array.dtype)
    scatter(array, picked, converted(array, picked, operand))


def converted(
    array: TracedArray, picked: Picked, operand: Operand, order: Order | str = "stores"
) -> TracedArray:
    """What is stored, in the array's dtype and with the picked extents.

    ``order`` is the axis order in which it is stored, ``"stores"`` that of an assignment.
    """
    extents = picked.extents
    if operand.array is not None and operand.array.ndim > len(extents):
        short = without_leading_ones(operand.array, len(extents))
        operand = Operand(operand.token, array=short)
    if order == "stores":
        order = _store_order(array.trace, picked, operand)
    assert not isinstance(order, str)
    return stored_value(extents, operand, array.dtype, order)


def _store_order(trace: Trace, picked: Picked, operand: Operand) -> Order:
    """The order in which NumPy stores, which shows where integers are repeated.

    Without slices it is the order in memory that the integers and the value agree on.
    """
    integers = [s[0] for s in picked.subscripts if isinstance(s, tuple)]
    if picked.has_slices or operand.array is None:
        return None
    return result_order(trace, [*integers, operand.array], picked.extents)


def scatter(
    target: TracedArray, picked: Picked, value: TracedArray, combine: str | None = None
) -> None:
    """Store ``value``, of the target's dtype and the picked extents, element after element."""
    trace = target.trace
    check_bounds(target, picked)
    subscripts = tuple(
        ir.Operand(s[0].value(), s[1]) if isinstance(s, tuple) else s for s in picked.subscripts
    )
    from_start = all(
        _is_made_within(trace, s[0]) for s in picked.subscripts if isinstance(s, tuple)
    )
    made, distinct = value.value(), _are_distinct(trace, picked)
    view = target.memory()
    trace.emit(
        ir.Scatter(
            view=view,
            value=made,
            version=trace.version_after_store(view.buffer),
            subscripts=subscripts,
            combine=combine,
            from_start=from_start,
            distinct=distinct,
        )
    )
    target.storage.root.num_stores += 1


def _are_distinct(trace: Trace, picked: Picked) -> bool:
    """Whether no element is picked twice: along each dim of the integers one array differs.

    Slices differ along their own dims.
    """
    along: set[int | None] = set()
    for subscript in picked.subscripts:
        if isinstance(subscript, AffineExpr):
            along |= subscript.dims()
        elif subscript[0].value() in trace.progressions:
            along.add(subscript[1].results[0].as_dim())
    return along.issuperset(range(len(picked.extents)))
