"""Arrays as items of lists: copies stand for them, where NumPy has the very arrays.

``ys.append(y)`` copies ``y`` into a row of a column, and ``ys[k]`` is a copy of that row. Nothing
shows it as long as neither is stored into, which is left to NumPy (`Storage.note_copied`), and as
long as not both are returned. A list that is returned has arrays of its own: the program must have
no other way to the arrays that it has put into it.

Where the program stores into what it has read from such a list (``rows[i][j] = v``), ``rows[i]`` is
the row itself from the start: it then stays at its place.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn, Protocol

import numpy as np

from fusejit.ir.affine import AffineExpr
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.types import Kind
from fusejit.ir.values import Value
from fusejit.tracer.builder.shapes import Extents
from fusejit.tracer.builder.trace import Trace
from fusejit.tracer.indexing.reshape_functions import is_contiguous, without_ones
from fusejit.tracer.lists.list_memory import CAPACITY_OF_ARRAYS, require_room
from fusejit.tracer.ops.elementwise_op import copy_of
from fusejit.tracer.ops.origins import is_captured
from fusejit.tracer.program.fallback import Retrace
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.containers import is_tuple
from fusejit.tracer.values.storage import Storage
from fusejit.tracer.values.symbolic_number import SymbolicNumber

_MAX_ELEMENTS = 8192  # of an array: a list has room for many, and Python's is no slower
HOLDS = "stores into an array that a list holds, or returns it, too"
COPY_IT = "put a copy into the list: xs.append(x.copy())"
_WHY = "an array that a list holds, too"
_REMEDY = "write them into the rows of an array"


class ListOfArrays(Protocol):
    """The interface of a list that holds arrays: see `fusejit.tracer.lists.traced_list`."""

    trace: Trace
    key: tuple[Any, ...]
    is_long: bool

    def leave_to_python(self, what: str, remedy: str) -> NoReturn:
        """Start again with Python's list."""


def row_of(column: TracedArray, at: AffineExpr, kind: Kind = Kind.ARRAY) -> TracedArray:
    """The item of a column at a place."""
    rank = column.ndim - 1
    place = IndexingMap(rank, (at, *(AffineExpr.dim(axis) for axis in range(rank))))
    return TracedArray(column.storage, place, column.extents[1:], kind)


def copy_of_row(column: TracedArray, at: AffineExpr) -> Value:
    """The elements of the item of a column at a place, as they are here."""
    return copy_of(row_of(column, at), column.dtype, None, "item", Kind.ARRAY).value()


def arrays_in(item: Any) -> Iterator[TracedArray]:
    """The arrays that an item is made of, in the order of its columns."""
    if is_tuple(item):
        for part in item:
            yield from arrays_in(part)
    elif isinstance(item, TracedArray) and item.kind is Kind.ARRAY:
        yield item


def _of_arrays(columns: Sequence[TracedArray]) -> list[TracedArray]:
    return [column for column in columns if column.ndim > 1]


def require_room_for_arrays(columns: Sequence[TracedArray], at: AffineExpr) -> None:
    """Have the launcher make room for the arrays of another item where there is none."""
    for column in _of_arrays(columns):
        require_room(column.trace, at, column.extents[0], CAPACITY_OF_ARRAYS)


def require_arrays(owner: ListOfArrays, item: Any) -> None:
    """Leave a list to Python if columns cannot hold the arrays of an item, or show another one."""
    trace = owner.trace
    for array in arrays_in(item):
        root = array.storage.root
        if array.numpy_class is not np.ndarray:
            owner.leave_to_python("puts what may be a memmap into a list", "copy it: x.copy()")
        size: Any = array.size
        number = size.affine if isinstance(size, SymbolicNumber) else size
        if number is None or any(trace.decisions.is_local(extent) for extent in array.extents):
            what = "puts an array into a list whose size differs between iterations"
            owner.leave_to_python(what, _REMEDY)
        if not trace.decisions.at_most(number, _MAX_ELEMENTS, "arrays in a list are small"):
            owner.leave_to_python("puts large arrays into a list in compiled code", _REMEDY)
        if array.ndim > 1 and not (_is_in_c_order(array) and is_contiguous(without_ones(array))):
            what = "puts a part of an array, or one in another order, into a list"
            owner.leave_to_python(what, COPY_IT)
        if any(one.num_stores and trace.is_repeated_since(one.home) for one in root.possible()):
            what = "puts an array into a list that the loop around it may store into"
            owner.leave_to_python(what, COPY_IT)


def _is_in_c_order(array: TracedArray) -> bool:
    return (array.storage.order if array.is_whole else array.sorted_order()) is None


def note_given(owner: ListOfArrays, item: Any, columns: Sequence[TracedArray]) -> None:
    """Note that columns hold copies of the arrays of an item, which has been stored."""
    trace = owner.trace
    owner.is_long |= any(region.repeats and not region.can_unroll for region in trace.regions)
    for array, column in zip(arrays_in(item), _of_arrays(columns), strict=True):
        root, held = array.storage.root, column.storage
        objects = root.possible()
        may_be_others = array.path is not None or any(map(_is_known, objects))
        if (may_be_others or not root.may_leave) and not _may_be_captured(owner):
            trace.table[owner.key, "captured"] = True
            raise Retrace
        is_new = not (root.copied_from or array.is_view or trace.is_repeated_since(root.home))
        held.are_known |= may_be_others or not (is_new and array.is_whole)
        if has_rows(owner) and held.are_known:
            owner.leave_to_python(HOLDS, COPY_IT)
        for other in root.columns():  # which have it, too
            held.note_copied(other, True, _WHY)
            other.note_copied(held, True, _WHY)
        for one in objects:
            one.note_copied(held, True, _WHY)


def _is_known(storage: Storage) -> bool:
    """Whether it may be an object that was there before the call, or before a loop."""
    return is_captured(storage) or bool(storage.stands_for)


def note_before(before: TracedArray, seen: TracedArray, num_stores: int) -> None:
    """Note that a list may hold what a name held before a loop: it holds what the body has seen.

    ``num_stores`` is the number of stores into that array before the loop: there may be no more.
    """
    for base in seen.storage.root.columns():
        root = before.storage.root
        if root.num_stores != num_stores and base.leave_items is not None:
            base.leave_items()
        root.note_copied(base, True, _WHY)


def note_read(owner: ListOfArrays, item: Any, columns: Sequence[TracedArray]) -> None:
    """Note that the arrays of an item are copies of what columns hold."""
    for array, column in zip(arrays_in(item), _of_arrays(columns), strict=True):
        array.is_ndarray = True
        array.storage.note_copied(column.storage, not _may_be_captured(owner), _WHY)
        if array is item and not column.storage.are_known:
            array.storage.be_memory = functools.partial(_use_rows, owner)


def has_rows(owner: ListOfArrays) -> bool:
    """Whether its arrays stay where they are, and may be stored into there."""
    return (owner.key, "rows") in owner.trace.table


def _use_rows(owner: ListOfArrays) -> None:
    """Start again with the rows themselves, not copies, where that was not tried before."""
    if not has_rows(owner):
        owner.trace.table[owner.key, "rows"] = True
        raise Retrace


def row_itself(column: TracedArray, at: AffineExpr) -> TracedArray:
    """The item of a column at a place, into which the program may store."""
    row = row_of(column, at)
    row.is_known = False
    row.is_ndarray = True
    return row


def is_row_at(column: TracedArray, at: AffineExpr, item: Any) -> bool:
    """Whether an item is the very row that a place has, as in ``rows[i] += x``."""
    is_row = isinstance(item, TracedArray) and item.storage is column.storage
    return is_row and item.map == row_of(column, at).map


def _may_be_captured(owner: ListOfArrays) -> bool:
    """Whether it may hold arrays of the caller."""
    return (owner.key, "captured") in owner.trace.table


def have_shapes(trace: Trace, shapes: Sequence[Extents], columns: Sequence[TracedArray]) -> bool:
    """Decide whether items have the shapes that columns have room for."""
    equal, reason = trace.decisions.equal, "the arrays in a list have one shape"
    pairs = [*zip(shapes, columns, strict=True)]
    return all(equal(a, b, reason) for s, c in pairs for a, b in zip(s, c.extents[1:], strict=True))
