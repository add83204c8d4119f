"""How a string gets its number, written in Python on a `StringTable`."""
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

from __future__ import annotations

from fusejit.tracer.keyed.hashing import entry_of, first_slot, has_key, next_slot
from fusejit.tracer.keyed.keyed_parts import double_slots, enter, lacks_slots, num_places
from fusejit.tracer.lists.list_parts import put, reserve, resize


def number_of(table, text):
    """The number of a string; it is appended to the table if it is new."""
    size = len(text)
    if size < 2:
        return ord(text[0]) + 1 if size else 0
    code = hash_of(text)
    slots = slots_of(table)
    slot = first_slot(slots, code)
    entry = entry_of(slots, slot)
    is_found = False
    while entry != 0 and not is_found:
        if has_key(slots, entry - 1, code) and is_string(table, entry, text):
            is_found = True
        else:
            slot = next_slot(slots, slot)
            entry = entry_of(slots, slot)
    if not is_found:
        entry = add(table, text, code, slot)
    return entry + 0x110000


def code_of(text):
    """The hash of a string."""
    code = len(text)
    for character in text:
        code = (code * 131 + ord(character)) & 0xFFFFFFFFFFFF
    return code


def enter_all(codes):
    """Enter all codes into their hash table, which has none."""
    while lacks_slots(codes):
        double_slots(codes)
    for at in range(num_places(codes)):
        enter(codes, at)


def append_points(points, text):
    """Append the code points of a string."""
    start, size = len(points), len(text)
    reserve(points, size)
    for k in range(size):
        put(points, start + k, ord(text[k]))
    resize(points, start + size)


def hash_of(text):
    """See `code_of`."""


def slots_of(table):
    """The hash table of the codes."""


def is_string(table, entry, text):
    """Whether the string of an entry has the characters of another one."""


def add(table, text, code, slot):
    """Append a string; returns its entry."""
