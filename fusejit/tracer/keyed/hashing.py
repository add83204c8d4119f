"""Hash tables of the kernel: where keys are that are integers, bools, constants or tuples of these.

A table has a number for each of its slots: 0 where nothing is, -1 where something was, else 1 more
than the place of a key. A search goes on from slot to slot until it finds the key, or nothing. At
least half of the slots in use are free: a table begins with few, and doubles them when it must.
"""
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any

import numpy as np

from fusejit.ir.affine import AffineExpr
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.payload import PayloadBuilder
from fusejit.ir.types import Kind
from fusejit.ir.values import Value, View
from fusejit.tracer.builder.primitives import primitive
from fusejit.tracer.builder.trace import Trace, current_trace
from fusejit.tracer.indexing.kernel_indices import bound_number, scalar
from fusejit.tracer.lists import list_methods
from fusejit.tracer.lists.item_forms import ItemForm, ListForm, NumberForm, TupleForm, form_of
from fusejit.tracer.lists.item_parts import leaves, parts_of
from fusejit.tracer.lists.list_memory import FIRST_CAPACITY, lasting_memory
from fusejit.tracer.lists.nested_list import as_affine_number
from fusejit.tracer.lists.traced_list import TracedList
from fusejit.tracer.ops.changing_extents import rows
from fusejit.tracer.ops.elementwise_op import emit_scalar, full
from fusejit.tracer.ops.kernel_numbers import as_kernel_number, as_strong
from fusejit.tracer.program.locations import needs_python
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.operand_types import BOOL, I64, Operand
from fusejit.tracer.values.union_scalar import UnionType

_SLOTS = 2 * FIRST_CAPACITY  # in use at first
_FACTOR = -7046029254386353131  # odd, of 64 bits: its products wrap around
_NEXT = -4417276706812531889


def is_key(form: ItemForm) -> bool:
    """Whether items of a form can be keys: their equality is that of integers."""
    if isinstance(form, ListForm):
        return form.type is tuple
    if isinstance(form, TupleForm):
        return bool(form.parts) and all(map(is_key, form.parts))
    if isinstance(form, NumberForm):
        types = form.type.types if isinstance(form.type, UnionType) else (form.type,)
        kinds = {own and own[0] is Kind.TEXT for own in types}  # a number is no string's
        dtype = form.type.dtype if isinstance(form.type, UnionType) else form.type[1]
        is_of_one_kind = None not in kinds and len(kinds) == 1
        return is_of_one_kind and (dtype.kind in "ib" or (dtype.kind == "u" and dtype.itemsize < 8))
    return False


def _numbers_of(trace: Trace, form: ItemForm, parts: Iterable[Any]) -> list[TracedArray]:
    """A number for each part of an item of a form, as NumPy's integer: that of a list is its hash.

    The tag of a number does not count: ``1 == True``.
    """
    return [
        _as_integer(
            trace,
            trace.inlined(hash_of, (part,)) if isinstance(leaf, ListForm) else leaf.values(part)[0],
        )
        for (_, leaf), part in zip(leaves(form), parts, strict=True)
    ]


def _as_integer(trace: Trace, number: Any) -> TracedArray:
    if isinstance(number, Value):
        number = TracedArray.of_value(trace, number)
    made: TracedArray = as_kernel_number(number, Kind.SCALAR, I64)
    return made


def hash_of(items):
    """A number that is the same for equal items."""
    total = 0
    for item in items:
        total = mixed(total, item)
    return total


def mixed(total, item):
    """The hash of items, and one more."""


@primitive(mixed)
def _mixed(total: Any, item: Any) -> TracedArray:
    form = form_of(item)
    if form is None or not is_key(form):
        kind = type(item).__name__
        raise needs_python(f"has keys that hold objects of type {kind}", "use integers or strings")
    numbers = _numbers_of(current_trace(), form, parts_of(form, item))
    start = as_kernel_number(total, Kind.PYTHON, I64)
    return _number("hash", [*numbers, start], I64, _mixed_numbers, Kind.PYTHON)


def _mixed_numbers(builder: PayloadBuilder, refs: list[int]) -> int:
    """The numbers of all but the last reference, mixed into that of the last one."""

    def op(name: str, left: int, right: int) -> int:
        return builder.op(name, [left, right], I64)

    total = refs[-1]
    for ref in refs[:-1]:
        scrambled = op("multiply", ref, builder.const(_FACTOR, I64))
        shifted = op("right_shift", scrambled, builder.const(32, I64))
        total = op("multiply", total, builder.const(_NEXT, I64))
        total = op("bitwise_xor", total, op("bitwise_xor", scrambled, shifted))
    return total


class HashTable:
    """The slots for the keys of a list.

    Parameters
    ----------
    trace : Trace
    keys : TracedList
    """

    def __init__(self, trace: Trace, keys: TracedList) -> None:
        self.trace, self.keys = trace, keys
        room = keys.capacity * (_SLOTS // FIRST_CAPACITY)
        self._slots = lasting_memory(trace, "slots", I64, (room,))
        self._mask = lasting_memory(trace, "mask", I64, ())  # one less than the slots in use
        self.clear()

    def _use(self, count: AffineExpr) -> None:
        """Use so many slots, a power of two, all empty."""
        zero = Operand(I64, literal=np.int64(0))
        slots = rows(self._slots, (count,))
        self.trace.store(slots.memory(), full((count,), zero, I64).value())
        last = scalar(self.trace, "mask", I64, lambda builder, ref: ref(count - 1))
        self.trace.store(self._mask.memory(), last)

    def clear(self) -> None:
        """Use as few slots as at first, all empty."""
        self._use(AffineExpr.const(_SLOTS))

    def moves_from(self, other: HashTable) -> list[tuple[TracedArray, Value]]:
        """The stores that give it the slots of a table for as many keys."""
        last = other._mask_now().value()
        count = bound_number(self.trace, last, AffineExpr.const(0), None) + 1
        slots = rows(other._slots, (count,)).value()
        return [(rows(self._slots, (count,)), slots), (self._mask, last)]

    def lacks_slots(self, num_keys: Any) -> Any:
        """Whether more than half of the slots have had a key."""
        mask: Any = self._mask_now()
        return 2 * num_keys > mask + 1

    def double(self) -> None:
        """Use twice as many slots, all empty."""
        value = self._mask_now().value()
        self._use((bound_number(self.trace, value, AffineExpr.const(0), None) + 1) * 2)

    def first_slot(self, key: Any) -> TracedArray:
        """Where the search for a key begins."""
        form = self.keys.require_form(key)
        return self._first(_numbers_of(self.trace, form, parts_of(form, key)))

    def slot_of_place(self, place: Any) -> TracedArray:
        """Where the search for the key at a place begins."""
        form, at = self.keys.form, as_affine_number(place)
        assert form is not None
        parts = (self.keys.part_at(leaf, first, at) for first, leaf in leaves(form))
        return self._first(_numbers_of(self.trace, form, parts))

    def _first(self, numbers: list[Any]) -> TracedArray:
        def compute(builder: PayloadBuilder, refs: list[int]) -> int:
            *given, mask = refs
            total = _mixed_numbers(builder, [*given, builder.const(0, I64)])
            return builder.op("bitwise_and", [total, mask], I64)

        return _number("slot", [*numbers, self._mask_now()], I64, compute, Kind.SCALAR)

    def next_slot(self, slot: Any) -> TracedArray:
        """The slot after one."""

        def compute(builder: PayloadBuilder, refs: list[int]) -> int:
            following = builder.op("add", [refs[0], builder.const(1, I64)], I64)
            return builder.op("bitwise_and", [following, refs[1]], I64)

        return _number("slot", [slot, self._mask_now()], I64, compute, Kind.SCALAR)

    def entry(self, slot: Any) -> TracedArray:
        """The number in a slot."""
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
        form, at = self.keys.require_form(key), as_affine_number(place)
        pairs: list[tuple[Any, Any]] = []
        for (first, leaf), part in zip(leaves(form), parts_of(form, key), strict=True):
            there = self.keys.part_at(leaf, first, at)
            if isinstance(leaf, ListForm):
                pairs.append((self.trace.inlined(list_methods.equals, (there, part)), True))
            else:
                pairs.append((leaf.values(there)[0], leaf.values(part)[0]))
        numbers = [_as_integer(self.trace, one) for pair in pairs for one in pair]

        def compute(builder: PayloadBuilder, refs: list[int]) -> int:
            tests = [
                builder.op("equal", [*pair], BOOL)
                for pair in zip(refs[::2], refs[1::2], strict=True)
            ]
            return functools.reduce(lambda a, b: builder.op("logical_and", [a, b], BOOL), tests)

        return _number("same", numbers, BOOL, compute, Kind.PYTHON)

    def _mask_now(self) -> TracedArray:
        return as_kernel_number(self._mask, Kind.PYTHON, I64)

    def _place(self, slot: Any) -> IndexingMap:
        return IndexingMap(0, (as_affine_number(slot),))


def _number(
    name: str, numbers: list[Any], dtype: np.dtype, compute: Any, kind: Kind
) -> TracedArray:
    """A number that is computed of integers in one op."""
    operands = [Operand(I64, array=as_strong(number)) for number in numbers]
    return emit_scalar(name, operands, [I64] * len(operands), dtype, compute, kind)


def find(table, key):
    """The place of a key, or -1, and the slot that has it, or would have it."""
    slot = first_slot(table, key)
    entry = entry_of(table, slot)
    while entry != 0 and (entry < 0 or not has_key(table, entry - 1, key)):
        slot = next_slot(table, slot)
        entry = entry_of(table, slot)
    return entry - 1, slot


def free_slot(table, place):
    """The slot for the key at a place, which the table has not."""
    slot = slot_of_place(table, place)
    while entry_of(table, slot) != 0:
        slot = next_slot(table, slot)
    return slot


def first_slot(table, key):
    """See `HashTable.first_slot`; the functions below are methods of tables, likewise."""


def slot_of_place(table, place):
    """See `HashTable.slot_of_place`."""


def next_slot(table, slot):
    """See `HashTable.next_slot`."""


def entry_of(table, slot):
    """See `HashTable.entry`."""


def has_key(table, place, key):
    """See `HashTable.has_key`."""


primitive(first_slot)(HashTable.first_slot)
primitive(slot_of_place)(HashTable.slot_of_place)
primitive(next_slot)(HashTable.next_slot)
primitive(entry_of)(HashTable.entry)
primitive(has_key)(HashTable.has_key)
