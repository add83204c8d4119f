"""`TracedList`: a list of the program whose items are in the memory of a kernel.

The items stand in columns (`fusejit.tracer.lists.item_forms`) that have room for a number of them,
which each call reads. Where a kernel needs more room it undoes what it has stored, the launcher
doubles the room several times, and the call starts again. The length is a number in memory: a list
that is changed in a loop or a branch is the same object before and after it.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from fusejit.ir.affine import AffineExpr
from fusejit.ir.types import Kind
from fusejit.ir.values import Value
from fusejit.tracer.builder.shapes import Extents
from fusejit.tracer.builder.trace import Trace
from fusejit.tracer.indexing.kernel_indices import bound_number, scalar
from fusejit.tracer.lists.aliases import (
    Aliases,
    ContainersByKey,
    SharedPool,
    is_shared_pool,
    share_pools,
)
from fusejit.tracer.lists.any_list import AnyList
from fusejit.tracer.lists.array_items import (
    COPY_IT,
    HOLDS,
    copy_of_row,
    has_rows,
    have_shapes,
    is_row_at,
    note_given,
    note_read,
    require_arrays,
    require_room_for_arrays,
    row_itself,
    row_of,
)
from fusejit.tracer.lists.arrays_of_lists import array_of_columns
from fusejit.tracer.lists.comparisons import type_in_program
from fusejit.tracer.lists.form_guesses import POOL, Guesses
from fusejit.tracer.lists.item_forms import (
    ArrayForm,
    ItemForm,
    ListForm,
    form_of,
    has_arrays,
    has_lists,
)
from fusejit.tracer.lists.item_parts import item_of, leaves, parts_of, request_pools
from fusejit.tracer.lists.list_memory import CAPACITY, Capacities, lasting_memory, require_room
from fusejit.tracer.lists.lists_in_tuples import ListInTuple
from fusejit.tracer.lists.nested_list import NestedList, is_in_own_pool, put_list, swap_lists
from fusejit.tracer.ops.changing_extents import rows, stretch
from fusejit.tracer.ops.elementwise_op import emit_scalar
from fusejit.tracer.program.fallback import Retrace
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.operand_types import I64, Operand

_COPY_LISTS = "give the other list a name of its own"
_COPY = "change a copy: xs = xs[:]"


class TracedList(AnyList):
    """A list that the function has made.

    Parameters
    ----------
    trace : Trace
    key : tuple
        A visit of the place in the program that makes it, under which the form of its items is
        kept.
    capacity : AffineExpr or None
        How many items it has room for; a number of its own by default.
    takes_arrays : bool
        Whether its items may be arrays.

    Attributes
    ----------
    form : ItemForm or None
        The form of its items; None until one shows it.
    pools : dict of TracedList
        Of lists, or of tuples with lists: the items of these, by the first column of each.
    num_moves : int
        How often another list may have come to the place of one, so far.
    """

    is_own = True
    shared: SharedPool | None = None  # of a pool
    is_callers = False  # whether the caller has it, too
    is_outside = False  # whether the lists of a pool are from outside
    is_held = False  # of a pool: whether names hold lists of it that a region carries

    def __init__(
        self,
        trace: Trace,
        key: tuple[Any, ...],
        capacity: AffineExpr | None = None,
        *,
        takes_arrays: bool = False,
    ) -> None:
        self.trace, self.key = trace, key
        self.takes_arrays = takes_arrays
        self.home = trace.block
        self.form: ItemForm | None = None
        self.pools: dict[int, TracedList] = {}
        self.num_moves = 0
        self.is_guess = self.was_guess = False  # whether no item has shown its form yet
        self._is_copied = False  # whether it was copied, without columns
        self.capacity = trace.owned(Capacities).add(trace) if capacity is None else capacity
        trace.owned(ContainersByKey)[key] = self
        self._columns: list[TracedArray] = []
        self._length = lasting_memory(trace, "length", I64, ())
        self.set_length(AffineExpr.const(0))
        form = trace.table.get((key, "item"))
        if form is not None and not has_arrays(form):  # the first array says how large they are
            self._make_columns(form)
            if trace.table.get((key, "guessed")) == form:
                self._note_guess()

    # -- memory -----------------------------------------------------------------------------------
    def _column(self, dtype: np.dtype, extents: Extents = ()) -> TracedArray:
        capacity = self.trace.owned(Capacities).add(self.trace, True) if extents else self.capacity
        made = lasting_memory(self.trace, "items", dtype, (capacity, *extents))
        if extents:
            made.storage.leave_items = functools.partial(self.leave_to_python, HOLDS, COPY_IT)
        return made

    def _make_columns(self, form: ItemForm, shapes: Sequence[Extents] | None = None) -> None:
        if self._is_copied or (has_lists(form) and self.home is not self.trace.block):
            self.trace.table[self.key, "item"] = form  # the pools are empty when the list is made
            raise Retrace
        self.form = form
        types = form.types()
        pairs = zip(types, shapes or ((),) * len(types), strict=True)
        self._columns = [self._column(dtype, shape) for (_, dtype), shape in pairs]
        of_lists = [first for first, leaf in leaves(form) if isinstance(leaf, ListForm)]
        self.pools = {first: self._new_pool(k) for k, first in enumerate(of_lists)}

    def _new_pool(self, k: int) -> TracedList:
        pool = TracedList(self.trace, ((self.key, k) if k else self.key, POOL))
        pool.home = self.trace.blocks[0]
        pool.shared = SharedPool(pool)
        return pool

    def use_form(self, form: ItemForm) -> None:
        """Have it hold items of a form from the start."""
        if self.form is None:
            self._make_columns(form)

    def require_form(self, item: Any) -> ItemForm:
        """Have the columns hold an item, too; they are made at the first one."""
        form = form_of(item)
        if form is None or (has_arrays(form) and not self.takes_arrays):
            request_pools(self.trace, item)
            kind = "ndarray" if isinstance(item, TracedArray) else type(item).__name__
            what = f"puts an object of type {kind} into a list in compiled code"
            self.leave_to_python(what, "put numbers, strings or tuples of them into it")
        if has_arrays(form):
            require_arrays(self, item)
        if self.form is None:
            first = self.trace.table.get((self.key, "item"), form).joined(form) or form
            self._make_columns(first, first.shapes(item))
        self.widen(form)
        assert self.form is not None
        if has_arrays(form) and not have_shapes(self.trace, self.form.shapes(item), self._columns):
            self.leave_to_python("puts arrays of several shapes into a list", "pad them")
        return self.form

    def widen(self, form: ItemForm) -> None:
        """Start again if the columns cannot hold items of another form, too."""
        both = form if self.form is None or self.is_guess else self.form.joined(form)
        if both is None:
            what = "puts objects of several kinds into a list in compiled code"
            self.leave_to_python(what, "put numbers, or tuples of the same form, into it")
        if both != self.form:
            self.trace.table[self.key, "item"] = both
            raise Retrace
        self.is_guess = False

    def note_moved(self) -> None:
        """Note that another list may be where one of its lists was."""
        self.num_moves += 1
        if has_rows(self):
            self.leave_to_python("moves an array in a list of arrays that change", COPY_IT)

    def may_be_another(self) -> bool:
        """Whether another list of the trace may be the same object of the program."""
        now = self.trace.owned(Aliases).now
        return self.key in now.frozen or self.key in now.given

    def _require_own(self) -> None:
        """Leave a list to Python that changes, and may be that of another name."""
        if self.key in self.trace.owned(Aliases).now.frozen:
            what = "changes a list that another name may hold, too"
            self.refuse(what, "give that name a copy: best = cur[:]")

    def store(self, at: AffineExpr, item: Any) -> None:
        """Store an item at a place where there is room."""
        self._require_own()
        form = self.require_form(item)
        require_room_for_arrays(self._columns, at)
        values: list[tuple[int, Value]] = []
        lists = []
        for (first, leaf), one in zip(leaves(form), parts_of(form, item), strict=True):
            if isinstance(leaf, ListForm):
                lists.append((one, first))
            else:
                values += enumerate(leaf.values(one), first)
        for field, value in values:
            self.store_field(field, at, value)
        for one, first in lists:
            put_list(self, at, one, first)
        if has_arrays(form):
            note_given(self, item, self._columns)

    def store_field(self, field: int, at: AffineExpr, value: Value) -> None:
        """Store a part of an item into its column."""
        self.trace.store(row_of(self._columns[field], at).memory(), value)

    def field(self, field: int, at: AffineExpr, kind: Kind) -> Value:
        """A number of an item."""
        return row_of(self._columns[field], at, kind).value()

    def number_at(self, field: int, at: AffineExpr, kind: Kind) -> Value:
        """A part of an item, read here: the column may change before somebody asks for it."""
        column = self._columns[field]
        if column.ndim > 1:
            return copy_of_row(column, at)
        operand = Operand(column.dtype, array=row_of(column, at, Kind.SCALAR))
        types = [column.dtype], column.dtype
        number = emit_scalar("item", [operand], *types, lambda builder, refs: refs[0], kind)
        value: Value = number.value()
        return value

    def _guess(self) -> None:
        """Assume a form, until an item shows it."""
        if has_arrays(self.trace.table.get((self.key, "item"))):
            self.leave_to_python("reads an array of a list that has none", "append one before")
        forms = self.trace.owned(Guesses).forms
        form = forms[self.trace.table.get((self.key, "guess"), 0)]
        self.trace.table[self.key, "guessed"] = form
        self._note_guess()
        self._make_columns(form)

    def _note_guess(self) -> None:
        self.trace.owned(Guesses)[self.key] = self
        self.is_guess = self.was_guess = True

    def load(self, at: AffineExpr) -> Any:
        """The item at a place where there is one."""
        if self.form is None:
            self._guess()
        assert self.form is not None
        if self.holds_lists():
            return NestedList(self, at)
        if has_rows(self) and isinstance(self.form, ArrayForm):
            return row_itself(self._columns[0], at)
        item = item_of(
            self.form, (self.part_at(leaf, first, at) for first, leaf in leaves(self.form))
        )
        if has_arrays(self.form):
            note_read(self, item, self._columns)
        return item

    def part_at(self, form: ItemForm, first: int, at: AffineExpr) -> Any:
        """What a leaf of the form of the items holds at a place, see `leaves`."""
        types = enumerate(form.types(), first)
        values = [self.number_at(field, at, kind) for field, (kind, _) in types]
        if isinstance(form, ListForm):
            return ListInTuple(self, at, form.type, first, values)
        return form.item(self.trace, values)

    # -- length -----------------------------------------------------------------------------------
    def length(self) -> AffineExpr:
        """The number of items at this place of the program."""
        trace = self.trace
        if self.key in trace.owned(Aliases).now.given:
            what = "uses a list that was put into another one"
            self.refuse(what, "put a copy into that: rows.append(row[:])")
        value = self._length.value()
        key = ("length", value)
        known = trace.locals.find_bound(key)
        if known is None:
            known = bound_number(trace, value, AffineExpr.const(0), None)
            trace.locals.note_bound(key, known)
        return known

    def set_length(self, length: AffineExpr) -> None:
        """Have it hold that many items."""
        trace = self.trace
        self._require_own()
        value = scalar(trace, "length", I64, lambda builder, ref: ref(length))
        trace.store(self._length.memory(), value)
        self.num_changes += 1

    def require_room(self, length: AffineExpr) -> None:
        """Have the launcher make room for another item where there is none."""
        require_room(self.trace, length, self.capacity, CAPACITY)

    # -- lists in it ------------------------------------------------------------------------------
    def holds_lists(self) -> bool:
        """Whether its items are lists, which may change."""
        return self.form == ListForm()

    def swap(self, left: Any, right: Any) -> None:
        """Exchange two of its lists."""
        self._require_own()
        swap_lists(self, *(self._index(at, "list index out of range") for at in (left, right)))

    # -- copies -----------------------------------------------------------------------------------
    def has_at(self, at: AffineExpr, item: Any) -> bool:
        """Whether an item is the very one that is at a place."""
        return has_rows(self) and is_row_at(self._columns[0], at, item)

    def is_like(self, other: Any) -> bool:
        """Whether another object is a list whose items it may hold."""
        is_of_kind = type_in_program(other) is self.python_type
        is_held = type(other) is tuple or isinstance(other, TracedList) or is_in_own_pool(other)
        return is_of_kind and is_held

    def made_like(self, key: tuple[Any, ...]) -> TracedList:
        """A new list."""
        made = TracedList(self.trace, key, takes_arrays=self.takes_arrays)
        made.python_type = self.python_type
        return made

    def require_form_of(self, other: TracedList) -> None:
        """Have both lists hold items of one form, where one is copied to the other."""
        if has_arrays(self.form) or has_arrays(other.form):
            self.leave_to_python("binds a name to another list of arrays", "change the list itself")
        for one, another in ((self, other), (other, self)):
            if another.form is not None and not another.is_guess:
                if one.form is None:
                    one._make_columns(another.form)
                one.widen(another.form)
        for one, another in ((self, other), (other, self)):
            if one.form is None and another.form is not None:
                one._make_columns(another.form)
                one.is_guess = one.was_guess = True
        for one in (self, other):
            one._is_copied |= one.form is None

    def moves_from(self, other: TracedList) -> list[tuple[TracedArray, Value]]:
        """The stores that give this list the items of another one.

        Until it is stored, nothing has changed.
        """
        for one in (self, other):
            if one.is_callers:  # which of them a name holds, the caller sees
                one.leave_to_python("binds a name of a list from outside to another list", _COPY)
        self.require_form_of(other)
        if any(pool.is_held for pool in self.pools.values()):
            self.leave_to_python("binds a name to another list of tuples with lists", _COPY_LISTS)
        length = other.length()
        self.require_room(length - 1)
        self.num_changes += 1
        self.num_moves += 1
        pairs = zip(self._columns, other._columns, strict=True)
        moves = [(rows(to, (length,)), rows(of, (length,)).value()) for to, of in pairs]
        for first, pool in self.pools.items():
            moves += pool.moves_from(other.pools[first])
            if is_shared_pool(other.pools[first]):
                share_pools(pool, other.pools[first])
        return [*moves, (self._length, other._length.value())]

    def copy_items(
        self, source: TracedList, start: AffineExpr, to: AffineExpr, n: AffineExpr
    ) -> None:
        """Store items of a list of the same form from a place on."""
        self.require_form_of(source)
        for target, column in zip(self._columns, source._columns, strict=True):
            value = stretch(column, start, n).value()
            self.trace.store(stretch(target, to, n).memory(), value)

    def take(self, other: TracedList) -> None:
        """Hold the items of another list."""
        for target, value in self.moves_from(other):
            self.trace.store(target.memory(), value)

    def as_array(self, dtype: np.dtype | None = None) -> TracedArray:
        """``np.array(xs)``."""
        return array_of_columns(self.form, self.columns, self.length(), dtype)

    # -- results ----------------------------------------------------------------------------------
    def length_number(self) -> TracedArray:
        """The number of items as a result of the graph."""
        value = TracedArray(self._length.storage, self._length.map, (), Kind.PYTHON).value()
        return TracedArray.of_value(self.trace, value)

    @property
    def columns(self) -> tuple[TracedArray, ...]:
        """The columns, with all of their room."""
        return tuple(self._columns)
