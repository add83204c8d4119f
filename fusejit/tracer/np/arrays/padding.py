"""``np.pad``: the array in the middle of a buffer, and what each mode stores around it.

Along an axis the padded area is stored after that of the axes before it and covers their padded
area too, so each element is stored once. Modes that repeat elements of the array read the array
itself, not the buffer, as long as few axes are padded; what follows can then read it as well.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from fusejit.dataclass import dataclass
from fusejit.ir.affine import AffineExpr
from fusejit.tracer.builder.primitives import PRIMITIVES
from fusejit.tracer.indexing.creation import array_from
from fusejit.tracer.indexing.reshape_functions import is_contiguous, without_ones
from fusejit.tracer.indexing.view_functions import permuted
from fusejit.tracer.np.arrays.linspaces import linspace
from fusejit.tracer.np.arrays.parts import (
    ZERO,
    Partition,
    new_array,
    section,
    store,
    store_partitions,
)
from fusejit.tracer.np.arrays.subscripts import setitem
from fusejit.tracer.np.reductions.over_axes import max_of, mean_of, min_of
from fusejit.tracer.ops.axis_order import Order
from fusejit.tracer.ops.elementwise_op import array_of_number
from fusejit.tracer.program.fallback import Fallback, numpy_raises
from fusejit.tracer.program.locations import MOVE_OUTSIDE, unsupported
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.symbolic_number import SymbolicNumber, affine_number, as_affine
from fusejit.tracer.values.traced_primitives import primitive_of

MAX_PARTS = 9  # of an array that is padded along two axes
_OPTIONS = {
    "constant": {"constant_values"},
    "empty": set(),
    "edge": set(),
    "wrap": set(),
    "linear_ramp": {"end_values"},
    "maximum": {"stat_length"},
    "minimum": {"stat_length"},
    "mean": {"stat_length"},
    "median": {"stat_length"},
    "reflect": {"reflect_type"},
    "symmetric": {"reflect_type"},
}
_STATISTICS: dict[str, Any] = {"maximum": max_of, "minimum": min_of, "mean": mean_of}


@dataclass(frozen=True, slots=True)
class Widths:
    """How far one axis is padded before and after its ``size`` elements."""

    before: AffineExpr
    size: AffineExpr
    after: AffineExpr

    @property
    def end(self) -> AffineExpr:
        """Where the elements of the array end."""
        return self.before + self.size


@primitive_of("array pad_width", np.pad)
def pad(array: Any, pad_width: Any, mode: Any = "constant", **kwargs: Any) -> Any:
    """``np.pad``, all modes but ``median`` and functions."""
    if not isinstance(mode, str) or mode == "median":
        what = "np.pad with mode='median' or a function is not traced"
        raise unsupported(what, MOVE_OUTSIDE)
    if mode not in _OPTIONS:
        raise numpy_raises(f"ValueError: mode '{mode}' is not supported")
    if not _OPTIONS[mode].issuperset(kwargs):
        raise numpy_raises(f"ValueError: unsupported keyword arguments for mode '{mode}'")
    source = array_of_number(array_from(array))
    widths = _widths(source, pad_width)
    if (
        mode in ("edge", "wrap")
        or kwargs.get("reflect_type", "odd") == "even"
        or (mode in ("reflect", "symmetric") and not kwargs)
    ):
        partitions = [_partitions(source, k, w, mode) for k, w in enumerate(widths)]
        if math.prod(map(len, partitions)) <= MAX_PARTS:
            extents = tuple(w.end + w.after for w in widths)
            result = new_array(extents, source.dtype, _order(source))
            return store_partitions(result, source, partitions)
    return _step_by_step(source, widths, mode, kwargs)


# ------------------------------------------------------------------------------------- arguments
def _pairs(given: Any, rank: int) -> list[tuple[Any, Any]]:
    """An argument for all axes and sides, as NumPy broadcasts it to shape (rank, 2)."""
    if given is None:
        return [(None, None)] * rank
    if isinstance(given, np.ndarray):
        given = given.tolist()
    if isinstance(given, TracedArray):
        if given.ndim:
            raise unsupported("np.pad with traced arrays of widths or values", MOVE_OUTSIDE)
        return [(given, given)] * rank
    if not isinstance(given, list | tuple):
        return [(given, given)] * rank
    rows = [list(r) if isinstance(r, list | tuple) else r for r in given]
    if not any(isinstance(r, list) for r in rows):
        if len(rows) == 1:
            return [(rows[0], rows[0])] * rank
        if len(rows) == 2:
            return [(rows[0], rows[1])] * rank
    if all(isinstance(r, list) and len(r) in (1, 2) for r in rows):
        pairs = [(r[0], r[-1]) for r in rows]
        if len(pairs) == 1:
            return pairs * rank
        if len(pairs) == rank:
            return pairs
    raise numpy_raises("ValueError: an argument of np.pad does not broadcast")


def _widths(array: TracedArray, pad_width: Any) -> list[Widths]:
    rank = array.ndim
    if isinstance(pad_width, dict):
        listed: list[Any] = [(0, 0)] * rank
        for axis, width in pad_width.items():
            listed[axis] = width if isinstance(width, tuple) else (width, width)
        pad_width = listed
    made = []
    for (before, after), extent in zip(_pairs(pad_width, rank), array.extents, strict=True):
        widths = Widths(_width(array, before), extent, _width(array, after))
        made.append(widths)
        around = widths.before + widths.after
        if array.trace.decisions.constant(around) != 0:
            # what reads neighbours is cut at both ends of the array: know their order
            array.trace.decisions.nonnegative(extent - around, "np.pad by at most the axis")
    return made


def _width(array: TracedArray, number: Any) -> AffineExpr:
    is_element = isinstance(number, TracedArray) and not number.ndim  # says that Python is needed
    is_number = is_element or isinstance(number, SymbolicNumber | int | np.integer)
    if not is_number or isinstance(number, bool):
        raise numpy_raises("TypeError: `pad_width` must be of integral type.")
    width = as_affine(number)
    if not array.trace.decisions.nonnegative(width, "a width of np.pad"):
        raise numpy_raises("ValueError: index can't contain negative values")
    return width


# ------------------------------------------------------------------------ repeated elements, direct
def _partitions(array: TracedArray, axis: int, widths: Widths, mode: str) -> list[Partition]:
    """What stands where along an axis."""
    decisions = array.trace.decisions
    middle = Partition(widths.before, widths.size, ZERO, 1)
    sides = [decisions.constant(w) != 0 for w in (widths.before, widths.after)]
    if not any(sides):
        return [middle]
    size, before, after = widths.size, widths.before, widths.after
    if not decisions.nonnegative(size - 1, "np.pad of an axis with elements"):
        raise numpy_raises("ValueError: can't extend empty axis")
    if mode == "edge" or (mode == "reflect" and decisions.constant(size) == 1):
        first, last, step, most = ZERO, size - 1, 0, None
    elif mode == "reflect":
        if not decisions.nonnegative(size - 2, "np.pad reflects two elements or more"):
            raise Fallback("np.pad reflects an axis of length 1")
        first, last, step, most = before, size - 2, -1, size - 1
    elif mode == "symmetric":
        first, last, step, most = before - 1, size - 1, -1, size
    else:
        first, last, step, most = size - before, ZERO, 1, size
    for width in (before, after):
        if most is not None and not decisions.at_most(width, most, "np.pad by less than the axis"):
            return _runs(array, widths, mode)
    partitions = [Partition(ZERO, before, first, step)] if sides[0] else []
    partitions.append(middle)
    return [*partitions, Partition(widths.end, after, last, step)] if sides[1] else partitions


def _runs(array: TracedArray, widths: Widths, mode: str) -> list[Partition]:
    """The pieces for an axis that is shorter than its padding: one variant for each length."""
    reason = "np.pad by more than the axis has"
    before, size, after = (
        array.trace.decisions.exactly(w, reason) for w in (widths.before, widths.size, widths.after)
    )
    sources = np.pad(np.arange(size), (before, after), mode=mode).tolist()  # type: ignore[call-overload]
    partitions: list[Partition] = []
    start = 0
    while start < len(sources):
        step = sources[start + 1] - sources[start] if start + 1 < len(sources) else 1
        step = step if step in (-1, 0, 1) else 1
        end = start + 1
        while end < len(sources) and sources[end] - sources[end - 1] == step:
            end += 1
        place, extent, source = map(AffineExpr.const, (start, end - start, sources[start]))
        partitions.append(Partition(place, extent, source, step))
        start = end
    return partitions


def _order(array: TracedArray) -> Order:
    """F order if the array is F contiguous and not C contiguous, else C order."""
    rank = array.ndim
    backwards = tuple(range(rank))[::-1]
    core = without_ones(array)
    if core.ndim < 2 or core.sorted_order() != tuple(range(core.ndim))[::-1]:
        return None
    return backwards if is_contiguous(permuted(core, tuple(range(core.ndim))[::-1])) else None


# ---------------------------------------------------------------------------------- axis by axis
def _step_by_step(
    array: TracedArray, widths: Sequence[Widths], mode: str, options: dict[str, Any]
) -> TracedArray:
    """As NumPy does it: the middle first, then the padded area of each axis from what is there."""
    trace, rank = array.trace, array.ndim
    extents = tuple(w.end + w.after for w in widths)
    result = new_array(extents, array.dtype, _order(array))
    middle = result
    for k, w in enumerate(widths):
        middle = section(middle, k, w.before, w.size)
    store(middle, array)
    if mode == "empty":
        return result
    name = {"constant": "constant_values", "linear_ramp": "end_values"}.get(mode, "stat_length")
    default = None if name == "stat_length" else 0
    arguments = _pairs(options.get(name, default), rank)
    for k, w in enumerate(widths):
        if all(trace.decisions.constant(x) == 0 for x in (w.before, w.after)):
            continue
        area = result
        for other in range(k + 1, rank):
            area = section(area, other, widths[other].before, widths[other].size)
        if mode == "constant":
            values: tuple[Any, Any] = arguments[k]
            _set_sides(area, k, w, values)
            continue
        if not trace.decisions.nonnegative(w.size - 1, "np.pad of an axis with elements"):
            raise numpy_raises("ValueError: can't extend empty axis")
        if mode == "linear_ramp":
            _set_sides(area, k, w, _ramps(area, k, w, arguments[k]))
        elif mode in _STATISTICS:
            _set_sides(area, k, w, _statistics(area, k, w, mode, arguments[k]))
        else:
            _repeat_elements(area, k, w, mode, options.get("reflect_type", "even"))
    return result


def _set_sides(area: TracedArray, axis: int, w: Widths, values: tuple[Any, Any]) -> None:
    for start, extent, value in ((ZERO, w.before, values[0]), (w.end, w.after, values[1])):
        target = section(area, axis, start, extent)
        if area.trace.decisions.constant(extent) != 0:
            setitem(target, (Ellipsis,), value)


def _edges(area: TracedArray, axis: int, w: Widths) -> tuple[TracedArray, TracedArray]:
    return section(area, axis, w.before, 1), section(area, axis, w.end - 1, 1)


def _ramps(area: TracedArray, axis: int, w: Widths, ends: tuple[Any, Any]) -> tuple[Any, Any]:
    """From the end values to the edges of the array."""
    number = functools.partial(affine_number, area.trace)
    ramps = [
        linspace(
            end,
            edge[(slice(None),) * axis + (0, Ellipsis)],
            number(width),
            endpoint=False,
            dtype=area.dtype,
            axis=axis,
        )
        for end, edge, width in zip(ends, _edges(area, axis, w), (w.before, w.after), strict=True)
    ]
    return ramps[0], ramps[1][(slice(None),) * axis + (slice(None, None, -1), Ellipsis)]


def _statistics(
    area: TracedArray, axis: int, w: Widths, mode: str, lengths: tuple[Any, Any]
) -> tuple[Any, Any]:
    """A statistic of the elements next to each side, rounded for integers."""
    made = []
    decisions = area.trace.decisions
    for at, length in enumerate(lengths):
        used = w.size
        if length is not None:
            asked = _width(area, length)
            if not decisions.at_most(w.size, asked, "np.pad takes statistics of the whole axis"):
                used = asked
        if decisions.equal(used, 0, "np.pad with stat_length=0"):
            raise Fallback("np.pad with stat_length=0")
        start = w.before if at == 0 else w.end - used
        value = _STATISTICS[mode](section(area, axis, start, used), axis, keepdims=True)
        if area.dtype.kind in "iu" and value.dtype.kind == "f":
            value = PRIMITIVES[np.round](value)
        made.append(value)
    return made[0], made[1]


def _repeat_elements(area: TracedArray, axis: int, w: Widths, mode: str, method: Any) -> None:
    """Reflected or wrapped elements, read from the buffer."""
    inner = section(area, axis, w.before, w.size)
    partitions = _partitions(inner, axis, w, mode)
    decisions = area.trace.decisions
    most = w.size - (mode == "reflect")
    is_short = all(decisions.at_most(x, most, "np.pad by less") for x in (w.before, w.after))
    if method == "odd" and not is_short and decisions.constant(w.size) != 1:
        what = f"np.pad with mode={mode!r} and reflect_type='odd' by more than the axis has"
        raise unsupported(what, MOVE_OUTSIDE)
    edges: Any = _edges(area, axis, w)
    for partition in partitions:
        if partition.place == w.before and partition.extent == w.size:
            continue
        values: Any = section(inner, axis, partition.source, partition.extent, partition.step)
        if method == "odd" and partition.step == -1:
            values = 2 * edges[partition.place != ZERO] - values
        store(section(area, axis, partition.place, partition.extent), values)
