"""Arrays that a loop binds again with another length each time: ``v = p * v[1:] + q * v[:-1]``.

If the length is affine in the number of the iteration, one buffer of the largest length serves all
of them: iteration ``k`` sees its first ``E(k)`` rows and leaves ``E(k + 1)`` rows for the next one.
Rows that are first in a C-contiguous array are contiguous too, as the program expects of an array
of its own.
"""

from __future__ import annotations

from fusejit.ir.affine import AffineExpr, Sym
from fusejit.ir.indexing_map import IndexingMap
from fusejit.tracer.builder.shapes import Extents
from fusejit.tracer.ops.elementwise_op import copy_of
from fusejit.tracer.values.array import TracedArray

_ITERATION = "iteration"  # stands for the loop's symbol, which has another name in each trace


def changing_extents(symbol: str, before: TracedArray, now: TracedArray) -> Extents | None:
    """The extents at the start of each iteration, over a symbol that `at` replaces, or None.

    Parameters
    ----------
    symbol : str
        The number of the iteration, from 0.
    before, now : TracedArray
        What a name holds before the loop, and after an iteration.
    """
    canonical = before.trace.decisions.canonical
    previous = {symbol: AffineExpr.symbol(_ITERATION) - 1}
    if before.ndim != now.ndim or before.dtype != now.dtype or not now.ndim:
        return None
    if before.storage.order is not None or now.storage.order is not None:
        return None
    found = tuple(map(canonical, before.extents))
    left = tuple(map(canonical, now.extents))
    if found[1:] != left[1:]:
        return None
    more = (left[0] - found[0]).as_constant()  # in each iteration, if it is that in the first
    if more is not None:
        return (found[0] + AffineExpr.symbol(_ITERATION) * more, *found[1:])
    first = left[0].substitute(symbols=previous)
    rest = first - AffineExpr.symbol(_ITERATION) * first.coefficient(Sym(_ITERATION))
    starts = canonical(at((first,), AffineExpr.const(0))[0])
    return (first, *found[1:]) if starts == found[0] and _ITERATION not in rest.symbols() else None


def at(extents: Extents, iteration: AffineExpr) -> Extents:
    """The extents at the start of an iteration."""
    return tuple(e.substitute(symbols={_ITERATION: iteration}) for e in extents)


def largest(extents: Extents, trips: AffineExpr) -> Extents:
    """The extents of a buffer for all of ``trips`` iterations and for what is left behind them."""
    grows = extents[0].coefficient(Sym(_ITERATION)) > 0
    return at(extents, trips if grows else AffineExpr.const(0))


def rows(loop_buffer: TracedArray, extents: Extents) -> TracedArray:
    """The first rows of a loop buffer."""
    return TracedArray(loop_buffer.storage, loop_buffer.map, extents)


def first_items(column: TracedArray, length: AffineExpr) -> TracedArray:
    """The first items of a column."""
    return rows(column, (length, *column.extents[1:]))


def values_after(loop_buffer: TracedArray, extents: Extents) -> TracedArray:
    """What the program holds after the loop: an array of its own."""
    return copy_of(rows(loop_buffer, extents), loop_buffer.dtype, None, "copy")


def stretch(column: TracedArray, start: AffineExpr, length: AffineExpr) -> TracedArray:
    """Items of a column from a place on."""
    dims = (AffineExpr.dim(axis) for axis in range(1, column.ndim))
    place = IndexingMap(column.ndim, (AffineExpr.dim(0) + start, *dims))
    return TracedArray(column.storage, place, (length, *column.extents[1:]))
