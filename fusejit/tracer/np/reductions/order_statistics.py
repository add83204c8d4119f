"""Medians and sorted copies: of short arrays inside loops, and along axes of a few elements.

A host call takes microseconds, and ends the kernel around it. So a 1-D array inside a traced loop
is put in order by loops that are written out below, as a user would write them: the front end
stages these functions like any other that the program calls. Outside of loops, and for arrays that
are long, NumPy's own functions are as fast or faster, and are called.

Along an axis of a few elements, a number known while tracing (the nine neighbours of a pixel), the
elements at one place go through a sorting network of minima and maxima, which is elementwise: it
fuses, and what nobody reads of the result is not computed.

Equal numbers keep no order in NumPy either: which of ``0.0`` and ``-0.0`` comes first depends on
the machine there.

Source: D. E. Knuth, The Art of Computer Programming 3, Algorithm 5.2.2M (merge exchange);
quickselect is C. A. R. Hoare, Algorithm 65: Find (1961), with the middle element as pivot.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import numpy as np

from fusejit.tracer.builder.primitives import HOST_PRIMITIVES, PRIMITIVES, primitive
from fusejit.tracer.builder.trace import current_trace
from fusejit.tracer.np.arrays.conversions import astype
from fusejit.tracer.values.array import TracedArray

MAX_SELECTED = 2048  # NumPy's partition of more elements takes less time than quickselect
MAX_EXCHANGED = 16  # networks of more elements are large payloads
MAX_SORTED = 48  # NumPy's sort of more elements takes less time than insertion
_DTYPES = frozenset(np.dtype(code) for code in "bBhHiIlLqQfd")


@primitive(np.median)
def median(a: Any, axis: Any = None, **options: Any) -> Any:
    """``np.median``: in the kernel for a short 1-D array inside a loop, and along a short axis."""
    if not options and _is_row(a, axis) and _is_short(a, MAX_SELECTED, True):
        return _traced(_median, a)
    if not options and axis is not None and (rows := _few_rows(a, axis)):
        return _median_of(_exchanged(rows))
    return HOST_PRIMITIVES[np.median](a, axis, **options)


@primitive(np.sort)
def sort(a: Any, axis: Any = -1, **options: Any) -> Any:
    """``np.sort``: in the kernel for a short 1-D array inside a loop, and along a short axis."""
    if options.keys() <= {"kind"} and _is_row(a, axis) and _is_short(a, MAX_SORTED, False):
        return _traced(_sorted, a)
    if options.keys() <= {"kind"} and axis is not None and (rows := _few_rows(a, axis)):
        return _put_together(a, axis, _exchanged(rows))
    return HOST_PRIMITIVES[np.sort](a, axis, **options)


def _is_row(a: Any, axis: Any) -> bool:
    """Whether it is a 1-D array inside a loop of the program, reduced along its axis."""
    if not isinstance(a, TracedArray) or a.ndim != 1 or a.dtype not in _DTYPES:
        return False
    return any(region.repeats for region in a.trace.regions) and axis in (None, 0, -1)


def _few_rows(a: Any, axis: Any) -> list[TracedArray]:
    """The parts of an array along an axis of a few elements; none if the number is not known."""
    if not isinstance(a, TracedArray) or a.ndim < 2 or a.dtype not in _DTYPES:
        return []
    if type(axis) is not int or not -a.ndim <= axis < a.ndim:
        return []
    count = a.trace.decisions.constant(a.extents[axis])
    if count is None or not 2 <= count <= MAX_EXCHANGED:
        return []
    before = (slice(None),) * (axis % a.ndim)
    return [a[(*before, k)] for k in range(count)]


def _exchanged(rows: list[TracedArray]) -> list[Any]:
    """The parts sorted element by element, NaN last: ``fmin`` leaves NaN to ``maximum``."""
    ordered: list[Any] = list(rows)
    for i, j in _network(len(rows)):
        x, y = ordered[i], ordered[j]
        ordered[i], ordered[j] = PRIMITIVES[np.fmin](x, y), PRIMITIVES[np.maximum](y, x)
    return ordered


def _put_together(a: TracedArray, axis: int, parts: list[Any]) -> TracedArray:
    """The parts along an axis of an array that lies in memory as ``a`` does."""
    made: TracedArray = PRIMITIVES[np.empty_like](a)
    before = (slice(None),) * (axis % a.ndim)
    for k, part in enumerate(parts):
        made[(*before, k)] = part
    return made


def _network(count: int) -> Iterator[tuple[int, int]]:
    """Pairs of places, exchanged in this order where the first element is larger."""
    largest = 1 << ((count - 1).bit_length() - 1)
    p = largest
    while p:
        q, r, d = largest, 0, p
        while True:
            yield from ((i, i + d) for i in range(count - d) if i & p == r)
            if q == p:
                break
            q, r, d = q >> 1, p, q - p
        p >>= 1


def _median_of(ordered: list[Any]) -> Any:
    """The mean of the middle parts, as NumPy takes it: NaN where there is one, which is last."""
    count = len(ordered)
    dtype = ordered[0].dtype if ordered[0].dtype.kind == "f" else np.dtype(np.float64)
    low: Any
    low, high = (astype(ordered[k], dtype) for k in ((count - 1) // 2, count // 2))
    middle = high if count % 2 else (low + high) / 2
    if ordered[0].dtype.kind != "f":
        return middle
    last = ordered[-1]
    return PRIMITIVES[np.where](last != last, last, middle)


def _is_short(a: TracedArray, most: int, unless_known: bool) -> bool:
    """Whether an array has at most so many elements; ``unless_known`` where only the kernel knows.

    What the call knows is decided by a guard: longer arrays get a variant of their own.
    """
    decisions = a.trace.decisions
    if decisions.is_local(a.extents[0]):
        return unless_known
    reason = "an array is put in order by compiled code"
    return decisions.at_most(1, a.extents[0], reason) and decisions.at_most(
        a.extents[0], most, reason
    )


def _traced(function: Any, *args: Any) -> Any:
    """A function of this file as if it were the program's own."""
    return current_trace().inlined(function, args)


def _written_out(function: Any) -> Any:
    """Declare a function of this file that others of them call."""
    return primitive(function)(functools.partial(_traced, function)) and function


# What follows is traced like functions of the program.


def _median(values):  # type: ignore[no-untyped-def]
    length = len(values)
    middle = length // 2
    ordered = values.copy()
    if length <= 32:
        _insert(ordered)
    else:
        _select(ordered, middle)
    result = np.float32(np.nan) if values.dtype == np.float32 else np.float64(np.nan)
    if length > 0 and not (values != values).any():
        result = type(result)(ordered[middle])
        if length % 2 == 0:
            result = (type(result)(ordered[:middle].max()) + result) / 2
    return result


def _sorted(values):  # type: ignore[no-untyped-def]
    ordered = values.copy()
    _insert(ordered)
    return ordered


@_written_out
def _insert(ordered):  # type: ignore[no-untyped-def]
    """Sort by insertion, NaN last."""
    for i in range(1, len(ordered)):
        value = ordered[i]
        j = i - 1
        while j >= 0 and (value < ordered[j] or ordered[j] != ordered[j]):
            ordered[j + 1] = ordered[j]
            j -= 1
        ordered[j + 1] = value


@_written_out
def _select(ordered, middle):  # type: ignore[no-untyped-def]
    """Put into its place what a sort would put there; what is before it is not larger."""
    low = 0
    high = len(ordered) - 1
    while low < high:
        pivot = ordered[middle]
        i = low
        j = high
        while i <= j:
            while ordered[i] < pivot:
                i += 1
            while pivot < ordered[j]:
                j -= 1
            if i <= j:
                swapped = ordered[i]
                ordered[i] = ordered[j]
                ordered[j] = swapped
                i += 1
                j -= 1
        if j < middle:
            low = i
        if middle < i:
            high = j
