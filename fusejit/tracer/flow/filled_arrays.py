"""``np.array([f(x[i]) for i in range(n)])`` as a loop that fills an array.

`fusejit.tracer.rewriting.generators` has written the loop. What its items are, the first attempt to
trace finds out; the next one makes the array before the loop.
"""

from __future__ import annotations

from typing import Any, NamedTuple, NoReturn

import numpy as np

from fusejit.ir.affine import AffineExpr
from fusejit.ir.ops import Block, Write, walk
from fusejit.ir.values import Buffer
from fusejit.tracer.builder.primitives import PRIMITIVES
from fusejit.tracer.builder.shapes import Extents
from fusejit.tracer.builder.trace import Trace, running_trace
from fusejit.tracer.carried.loop_region import LoopRegion
from fusejit.tracer.carried.regions import extents_are_captured, is_array
from fusejit.tracer.indexing.iteration import Items, items_of
from fusejit.tracer.ops.kernel_numbers import is_number, number_type
from fusejit.tracer.ops.union_types import wide
from fusejit.tracer.program.callables import is_named_tuple
from fusejit.tracer.program.fallback import Retrace
from fusejit.tracer.program.locations import current_location
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.masked import as_array
from fusejit.tracer.values.operand_types import BOOL, F64, dtype_argument
from fusejit.tracer.values.storage import Storage
from fusejit.tracer.values.symbolic_number import affine_number
from fusejit.tracer.values.union_scalar import is_union_scalar

_FUNCTIONS = (np.array, np.asarray, np.mean, np.sum, np.max, np.min, np.std, np.var, np.median)
NO_ITEM = "no item"  # is kept for a list that Python makes
_F32 = np.dtype(np.float32)
FEW = 16  # items that Python's own list has, each traced by itself


class Item(NamedTuple):
    """The type of each item of a list: an array, or a number without extents."""

    dtype: np.dtype[Any]
    extents: Extents


class FilledArray:
    """The array that stands for a list of a comprehension.

    Parameters
    ----------
    trace : Trace
    key : tuple
        A visit of a place in the program, under which the type of the items is kept.
    length : AffineExpr
        How many there are.
    dtype : object
        That of the array; None for that of the items.
    is_sure : bool
        Whether each iteration has an item. If not, a mask tells which ones have, and NumPy takes
        these: an array of none is float64 without further axes, so the items must be such numbers.
    """

    def __init__(
        self,
        trace: Trace,
        key: tuple[Any, ...],
        length: AffineExpr,
        dtype: Any,
        is_sure: bool,
    ) -> None:
        self._trace, self._key, self._block = trace, key, trace.block
        self._start = self._end = len(trace.block.ops)
        self._outer = [*trace.blocks]
        self._shown: list[tuple[Storage, int]] = []  # memory of arrays that a list would hold
        self._loops: list[LoopRegion] = []
        self._is_loop = False
        self._mask: Any = None
        self._item: Item | None = trace.table.get((key, "item"))
        if self._item is not None:
            wanted = self._item.dtype if dtype is None else dtype_argument(dtype)
            of_none = F64 if dtype is None else wanted
            is_alike = is_sure or (wanted == of_none and not self._item.extents)
            if not is_alike or not _is_rounded_once(self._item.dtype, wanted):
                self._leave_to_python()
            extents = (length, *self._item.extents)
            shape = tuple(affine_number(trace, extent) for extent in extents)
            self._array = PRIMITIVES[np.empty](shape, wanted)
            if not is_sure:
                self._mask = PRIMITIVES[np.zeros](shape, BOOL)

    def put(self, place: Any, value: Any) -> None:
        """Store the item whose number is ``place``."""
        if _is_row(value):
            value = PRIMITIVES[np.array]([*value])
        elif is_union_scalar(value):
            value = _of_one_dtype(value)
        item, is_loop = self._describe(value), type(place) is not int
        if self._item is None:
            if is_loop and item is not None:
                self._trace.table[self._key, "item"] = item
                raise Retrace
            if is_loop:
                self._leave_to_python()
            return  # an iteration that is traced by itself: a loop may follow
        if item != self._item:
            self._leave_to_python()
        self._is_loop |= is_loop
        if item.extents:
            self._shown += [(one, one.num_stores) for one in value.storage.possible()]
            self._loops += [one for one in self._trace.regions if isinstance(one, LoopRegion)][-1:]
        self._array[place] = value
        if self._mask is not None:
            self._mask[place] = True

    def result(self) -> Any:
        """The array, filled; to be asked where NumPy makes it of the list.

        A list holds arrays, not copies: none of them may have changed since.
        """
        if not self._is_loop or self._has_changed():
            self._leave_to_python()
        return self._array if self._mask is None else as_array(self._array[self._mask])

    def end(self) -> None:
        """Note the end of the loop."""
        self._end = len(self._trace.block.ops)

    def _has_changed(self) -> bool:
        """Whether an array may have changed after it became an item.

        Behind the loop, and in the next iteration, it may have another name and be a copy: nothing
        may be stored there.
        """
        if not self._shown:
            return False
        if self._trace.block is not self._block:
            return True  # it is asked under a condition
        buffers = (array for loop in self._loops for array in loop.buffers.values())
        is_changed = any(array.storage.root.num_stores for array in buffers)
        is_changed |= bool(self._written(self._end, None))
        written = self._written(self._start, self._end)
        for root, stores in self._shown:
            is_changed |= root.num_stores != stores
            if root.buffer is not None and root.home in self._outer:
                is_changed |= root.buffer.root in written
        return is_changed

    def _written(self, start: int, end: int | None) -> set[Buffer]:
        """The memory into which some ops store."""
        ops = walk(Block(ops=self._block.ops[start:end]))
        return {op.view.buffer.root for op in ops if isinstance(op, Write)}

    def _leave_to_python(self) -> NoReturn:
        """Trace again with Python's own list: no loop makes these items."""
        self._trace.table[self._key, "item"] = NO_ITEM
        raise Retrace

    def _describe(self, value: Any) -> Item | None:
        if is_number(value):
            return Item(number_type(value)[1], ())
        if not is_array(value) or not value.ndim:
            return None
        if not extents_are_captured(self._trace, value.extents):
            return None
        return Item(value.dtype, tuple(map(self._trace.decisions.canonical, value.extents)))


def _is_row(value: Any) -> bool:
    """Whether an item is a tuple of numbers: lists, and arrays in tuples, may change later."""
    return (type(value) is tuple or is_named_tuple(value)) and all(map(is_number, value))


def _is_rounded_once(dtype: np.dtype[Any], wanted: np.dtype[Any]) -> bool:
    """Whether a number becomes the same one when it is stored as when NumPy converts a list."""
    pair = dtype.kind, wanted
    return dtype == wanted or pair in (("b", F64), ("i", F64), ("f", F64), ("f", _F32))


def _of_one_dtype(number: Any) -> Any:
    """A number of one of several types that have one dtype in an array: float and np.float64."""
    dtypes = {None if type_ is None else type_[1] for type_ in number.type.types}
    dtype = dtypes.pop() if len(dtypes) == 1 else None
    return number if dtype is None else wide(number, dtype)


def numbered(array: FilledArray | None, items: Any) -> Any:
    """Items with their numbers, those of a loop that fills an array if there is one."""
    found = None if array is None else items_of(items)
    if found is None:
        pairs = PRIMITIVES[enumerate](items)
        return enumerate(items) if pairs is NotImplemented else pairs
    found.begin()
    return Items(found.length, lambda place: (place, found.item(place)))


def filled(
    place: tuple[Any, ...], function: Any, items: Any, dtype: Any, is_sure: bool
) -> FilledArray | None:
    """The array of ``function([.. for .. in items])``; None if Python makes the list."""
    trace = running_trace()
    if trace is None:
        return None
    key = trace.visit(("filled", *place, current_location()))
    if trace.table.get((key, "item")) is NO_ITEM:
        return None
    length = _length_to_fill(trace, function, items)
    return None if length is None else FilledArray(trace, key, length, dtype, is_sure)


def _length_to_fill(trace: Trace, function: Any, items: Any) -> AffineExpr | None:
    """How many items there are, if a loop can make them."""
    if not any(function is known for known in _FUNCTIONS):
        return None
    found = items_of(items) if not isinstance(items, TracedArray) or items.ndim else None
    if found is None:
        return None
    length = trace.decisions.canonical(found.length)
    known = length.as_constant()
    if trace.decisions.is_local(length) or (known is not None and known <= FEW):
        return None
    return length if trace.decisions.at_most(1, length, "a list has items") else None
