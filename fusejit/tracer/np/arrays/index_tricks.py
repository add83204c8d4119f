"""Objects that are indexed to make arrays: ``np.r_``, ``np.c_``, ``np.mgrid``, ``np.ogrid``.

Also what loops over the places of an array: ``np.ndindex`` and ``np.ndenumerate``; and
``np.fromfunction``, which calls a function with the coordinates.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from fusejit.tracer.builder.primitives import PRIMITIVES, primitive
from fusejit.tracer.builder.trace import current_trace
from fusejit.tracer.indexing.creation import array_from
from fusejit.tracer.indexing.extent_products import product
from fusejit.tracer.indexing.iteration import Items
from fusejit.tracer.np.numbers.complex_parts import ImaginarySizes
from fusejit.tracer.program.fallback import numpy_raises
from fusejit.tracer.program.locations import MOVE_OUTSIDE, unsupported
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.masked import as_array
from fusejit.tracer.values.operand_types import contains_traced, operand_of, represented_type
from fusejit.tracer.values.symbolic_number import as_affine


def _items(key: Any) -> tuple[Any, ...]:
    return key if isinstance(key, tuple) else (key,)


def _points(step: Any) -> Any:
    """How many points a step asks for that is an integer of the call times ``1j``; else None."""
    number = (
        current_trace().owned(ImaginarySizes).get(step.storage)
        if isinstance(step, TracedArray)
        else None
    )
    return None if number is None else abs(number)


def _is_traced_key(key: Any) -> bool:
    """Whether a number or an array of the trace stands in an index."""
    for item in _items(key):
        parts = (item.start, item.stop, item.step) if isinstance(item, slice) else (item,)
        if contains_traced(list(map(as_array, parts))):
            return True
    return False


ITEMS_OF: dict[type, Callable[[Any], Any]] = {}
"""What `np.r_` and its like make of a key."""


def _trick(obj: Any) -> Callable[[Callable[[Any], Any]], Callable[[Any], Any]]:
    """Register what ``obj[key]`` is, for keys with traced parts."""

    def register(make: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def item(key: Any) -> Any:
            if _is_traced_key(key):
                return make(key)
            made = obj[key]
            constant = current_trace().captured_reads.constant
            return tuple(map(constant, made)) if type(made) is tuple else constant(made)

        ITEMS_OF[type(obj)] = item
        return make

    return register


# --------------------------------------------------------------------------------------- r_ and c_
@_trick(np.r_)
def rows(key: Any) -> Any:
    """``np.r_[a, 0, 1:n]``: one after the other along the first axis."""
    return _joined(key, lambda part: part if part.ndim else part[None], 0)


@_trick(np.c_)
def columns(key: Any) -> Any:
    """``np.c_[a, b]``: vectors as columns, side by side."""

    def as_columns(part: TracedArray) -> TracedArray:
        if part.ndim >= 2:
            return part
        return part[:, None] if part.ndim else part[None, None]

    return _joined(key, as_columns, -1)


def _joined(key: Any, form: Callable[[TracedArray], TracedArray], axis: int) -> Any:
    parts: list[Any] = []
    promoted: list[Any] = []
    for item in _items(as_array(key)):
        if isinstance(item, str):
            raise unsupported("np.r_ or np.c_ with a text in the index", "use np.concatenate")
        if isinstance(item, slice):
            item = _range(item)
        elif isinstance(item, list | tuple | np.ndarray):
            item = PRIMITIVES[np.asarray](item)
        parts.append(form(array_from(item)))
        promoted.append(operand_of(item).promotion)
    dtype = np.result_type(*promoted)
    return PRIMITIVES[np.concatenate]([PRIMITIVES[np.asarray](p, dtype) for p in parts], axis)


def _range(item: slice) -> Any:
    """The numbers that a slice stands for."""
    start = 0 if item.start is None else item.start
    step = 1 if item.step is None else item.step
    points = _points(step)
    if points is not None:
        return _called(np.linspace, start, item.stop, points)
    if isinstance(step, complex):
        given = (start, item.stop, int(abs(step)))
        return _called(np.linspace, *given)
    return _called(np.arange, start, item.stop, step)


def _called(function: Any, *args: Any) -> Any:
    """A function of the dispatch table, of traced numbers or of others."""
    if contains_traced(list(args)):
        return PRIMITIVES[function](*args)
    return current_trace().captured_reads.constant(function(*args))


# ----------------------------------------------------------------------------------- coordinates
@_trick(np.mgrid)
def dense_grid(key: Any) -> Any:
    """``np.mgrid[a:b, c:d]``: the coordinates of every point, one array per axis."""
    if not isinstance(key, tuple):
        return _range(key).as_owner()
    starts, steps, sizes, dtype = _axes(key)
    grid = _called(np.indices, sizes, dtype)
    for k, (start, step) in enumerate(zip(starts, steps, strict=True)):
        if not _is_int(start, 0) or not _is_int(step, 1):
            grid[k] = grid[k] * step + start
    return grid


@_trick(np.ogrid)
def open_grid(key: Any) -> Any:
    """``np.ogrid[a:b, c:d]``: the coordinates along each axis."""
    if not isinstance(key, tuple):
        return _range(key).as_owner()
    starts, steps, sizes, dtype = _axes(key)
    made: list[Any] = []
    for k, (start, step, size) in enumerate(zip(starts, steps, sizes, strict=True)):
        line = PRIMITIVES[np.astype](_called(np.arange, size), dtype)
        if not _is_int(start, 0) or not _is_int(step, 1):
            line = line * step + start
        made.append(line[tuple(slice(None) if a == k else None for a in range(len(key)))])
    return tuple(made)


def _axes(key: tuple[Any, ...]) -> tuple[list[Any], list[Any], tuple[Any, ...], np.dtype]:
    """Start, step and size of each axis, and the dtype of the coordinates."""
    starts: list[Any] = []
    steps: list[Any] = []
    sizes: list[Any] = []
    types: list[Any] = [0]
    for item in key:
        if not isinstance(item, slice):
            raise numpy_raises("AttributeError: the index has no attribute 'step'")
        start = 0 if item.start is None else item.start
        step = 1 if item.step is None else item.step
        points = _points(step)
        if points is not None:
            size: Any = points
            step = (item.stop - start) / (size - 1) if size != 1 else 1.0
        elif isinstance(step, complex):
            size = int(abs(step))
            step = (item.stop - start) / float(size - 1) if size != 1 else 1
        elif all(issubclass(represented_type(n), int) for n in (start, item.stop, step)):
            size = -((start - item.stop) // step)
        else:
            if contains_traced([start, item.stop, step]):
                what = "np.mgrid or np.ogrid with floats that only the call knows"
                raise unsupported(what, "give the number of points: np.mgrid[a:b:5j]")
            size = math.ceil((item.stop - start) / step)
        types += [represented_type(n)(0) for n in (start, item.stop, step)]
        starts.append(start)
        steps.append(step)
        sizes.append(size)
    return starts, steps, tuple(sizes), np.result_type(*types)


def _is_int(obj: Any, value: int) -> bool:
    return type(obj) is int and obj == value


@primitive(np.fromfunction)
def from_function(
    function: Any, shape: Any, *, dtype: Any = float, like: Any = None, **kwargs: Any
) -> Any:
    """``np.fromfunction(f, shape)``: ``f`` of the coordinates of every point."""
    if like is not None:
        raise unsupported("np.fromfunction with like= is not traced", MOVE_OUTSIDE)
    grid = PRIMITIVES[np.indices](shape, dtype)
    if grid is NotImplemented:
        grid = current_trace().captured_reads.constant(np.indices(shape, dtype))
    places = [grid[k] for k in range(len(shape))]
    return function(*places, **kwargs)  # which goes through the callbacks (`callables`)


# -------------------------------------------------------------------------------------- iteration
def _subscripts(number: Any, sizes: tuple[Any, ...]) -> tuple[Any, ...]:
    """The subscripts of an element of that number in C order."""
    made: list[Any] = []
    for size in reversed(sizes[1:]):
        made.append(number % size)
        number = number // size
    return (number, *reversed(made)) if sizes else ()


@primitive(np.ndindex)
def traced_ndindex(*shape: Any) -> Any:
    """``np.ndindex(n, m)``: all subscripts in C order."""
    if len(shape) == 1 and isinstance(shape[0], tuple):
        shape = shape[0]
    if not contains_traced(list(shape)):
        return list(np.ndindex(*shape))
    length = product(current_trace(), map(as_affine, shape))
    return Items(length, lambda k: _subscripts(k, shape))


@primitive(np.ndenumerate)
def elements_of(arr: Any) -> Any:
    """``np.ndenumerate(x)``: the subscripts and the element of each place."""
    array = array_from(as_array(arr))
    places = traced_ndindex(*array.shape)
    if isinstance(places, list):
        return [(place, array[place]) for place in places]

    def item(k: Any) -> Any:
        place = places.item(k)
        return place, array[place]

    return Items(places.length, item)
