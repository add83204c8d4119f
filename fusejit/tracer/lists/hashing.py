"""Hash tables of the kernel: where keys are that are integers, bools, constants or tuples of these.

A table has a number for each of its slots: 0 where nothing is, -1 where something was, else 1 more
than the place of a key. A search goes on from slot to slot until it finds the key, or nothing.
"""
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

from __future__ import annotations

from typing import Any

import numpy as np

from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.types import Kind, TensorType
from fusejit.ir.values import View
from fusejit.tracer.builder.primitives import primitive
from fusejit.tracer.builder.trace import Trace
from fusejit.tracer.lists.item_forms import ConstantForm, ItemForm, NumberForm, TupleForm
from fusejit.tracer.lists.nested_list import as_affine_number
from fusejit.tracer.lists.traced_list import TracedList
from fusejit.tracer.np.elementwise.ufuncs import operator_call
from fusejit.tracer.ops.elementwise_op import emit_scalar, full
from fusejit.tracer.ops.kernel_numbers import as_kernel_number, kernel_number
from fusejit.tracer.program.locations import current_location
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.operand_types import BOOL, I64, Operand
from fusejit.tracer.values.storage import Storage
from fusejit.tracer.values.symbolic_number import SymbolicNumber
from fusejit.tracer.values.union_scalar import UnionType

_FACTOR = -7046029254386353131  # odd, of 64 bits: its products wrap around
_NEXT = -4417276706812531889


def is_key(form: ItemForm) -> bool:
    """Whether items of a form can be keys: their equality is that of integers."""
    if isinstance(form, TupleForm):
        return all(map(is_key, form.parts))
    if isinstance(form, NumberForm):
        has_none = isinstance(form.type, UnionType) and None in form.type.types
        dtype = form.type.dtype if isinstance(form.type, UnionType) else form.type[1]
        return not has_none and (dtype.kind in "ib" or (dtype.kind == "u" and dtype.itemsize < 8))
    return isinstance(form, ConstantForm)


def key_columns(form: ItemForm) -> list[bool]:
    """For each column of the keys: whether it counts. The tag of a number does not: 1 == True."""
    if isinstance(form, TupleForm):
        return [counts for part in form.parts for counts in key_columns(part)]
    return [True, False][: len(form.types())]


class HashTable:
    """The slots for the keys of a list.

    Parameters
    ----------
    trace : Trace
    keys : TracedList
    """

    def __init__(self, trace: Trace, keys: TracedList) -> None:
        self.trace, self.keys = trace, keys
        self._extent = keys.capacity * 2  # a power of two: at least half of the slots are free
        type_ = TensorType(I64, (self._extent,))
        buffer = trace.allocate("slots", type_, None, trace.blocks[0], current_location())
        storage = Storage.of_buffer(trace, buffer)
        storage.home = trace.blocks[0]
        self._slots = TracedArray.whole(storage)
        self.clear()

    def clear(self) -> None:
        """Empty all slots."""
        zero = Operand(I64, literal=np.int64(0))
        self.trace.store(self._slots.memory(), full((self._extent,), zero, I64).value())

    def first_slot(self, key: Any) -> TracedArray:
        """Where the search for a key begins."""
        total: Any = None
        for number in self._numbers(key):
            mixed = number * np.int64(_FACTOR)
            mixed = mixed ^ (mixed >> np.int64(32))
            total = mixed if total is None else (total * np.int64(_NEXT)) ^ mixed
        return self._masked(total)

    def next_slot(self, slot: Any) -> TracedArray:
        """The slot after one."""
        return self._masked(slot + np.int64(1))

    def entry(self, slot: Any) -> TracedArray:
        """What a slot has."""
        element = TracedArray(self._slots.storage, self._place(slot), (), Kind.SCALAR)
        operand = Operand(I64, array=element)
        return emit_scalar("entry", [operand], [I64], I64, lambda builder, refs: refs[0])

    def set_entry(self, slot: Any, entry: Any) -> None:
        """Give a slot the number of a place, or mark it."""
        buffer = self._slots.storage.to_buffer()
        value = as_kernel_number(entry, Kind.PYTHON, I64).value()
        self.trace.store(View(buffer, self._place(slot), ()), value)

    def has_key(self, place: Any, key: Any) -> Any:
        """Whether a key is at a place."""
        form, at = self.keys.form, as_affine_number(place)
        assert form is not None
        made: Any = None
        numbers = iter(self._numbers(key))
        for field, counts in enumerate(key_columns(form)):
            if counts:
                value = self.keys.number_at(field, at, Kind.SCALAR)
                known = TracedArray.of_value(self.trace, value)
                pair = as_kernel_number(known, Kind.SCALAR, I64), next(numbers)
                same = operator_call(np.equal, pair)
                made = same if made is None else operator_call(np.logical_and, (made, same))
        return as_kernel_number(made, Kind.PYTHON, BOOL)

    def _numbers(self, key: Any) -> list[Any]:
        """What the columns would have of a key, as NumPy's integers."""
        form = self.keys.require_form(key)
        values = zip(form.values(key), key_columns(form), strict=True)
        given = (TracedArray.of_value(self.trace, value) for value, counts in values if counts)
        return [as_kernel_number(number, Kind.SCALAR, I64) for number in given]

    def _masked(self, number: Any) -> TracedArray:
        mask = kernel_number(SymbolicNumber.of_affine(self.trace, self._extent - 1))
        return as_kernel_number(number & as_kernel_number(mask, Kind.SCALAR, I64), Kind.SCALAR, I64)

    def _place(self, slot: Any) -> IndexingMap:
        return IndexingMap(0, (as_affine_number(slot),))


def find(table, key):
    """The place of a key, or -1, and the slot that has it, or would have it."""
    slot = first_slot(table, key)
    entry = entry_of(table, slot)
    while entry != 0 and (entry < 0 or not has_key(table, entry - 1, key)):
        slot = next_slot(table, slot)
        entry = entry_of(table, slot)
    return entry - 1, slot


def first_slot(table, key):
    """See `HashTable.first_slot`; the functions below are methods of tables, likewise."""


def next_slot(table, slot):
    """See `HashTable.next_slot`."""


def entry_of(table, slot):
    """See `HashTable.entry`."""


def has_key(table, place, key):
    """See `HashTable.has_key`."""


primitive(first_slot)(HashTable.first_slot)
primitive(next_slot)(HashTable.next_slot)
primitive(entry_of)(HashTable.entry)
primitive(has_key)(HashTable.has_key)
