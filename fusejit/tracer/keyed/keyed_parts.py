"""The parts of dictionaries and sets that their methods are written with.

Each stands for the method of `KeyedContainer` or `TracedDict` of its name, which is traced in its
place.
"""
# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations


def found(d, key):
    """The place of a key, or -1, and its slot."""


def add_key(d, key, slot):
    """Append a new key; returns its place."""


def remove_key(d, at, slot):
    """Take a key away."""


def key_at(d, at):
    """The key at a place."""


def num_places(d):
    """How many places there are, those of deleted keys included."""


def is_there(d, at):
    """Whether the key at a place was not deleted."""


def lacks_slots(d):
    """Whether the table needs more slots."""


def double_slots(d):
    """Give the table twice as many slots, all empty."""


def enter(d, at):
    """Put the key at a place into the table, which has not got it."""


def add_value(d, value):
    """Append the value of a new key."""


def put_value(d, at, value):
    """Replace a value."""


def value_at(d, at):
    """The value at a place."""


def made_by_factory(d):
    """The value that a ``defaultdict`` makes for a new key."""


def has_lists(d):
    """Whether the values are lists."""


def list_or_empty(d, at, empty):
    """The list at a place; an empty list or tuple, as ``empty`` is, if there is none."""


def is_empty_list(obj):
    """Whether an object is a new list without items, which no name holds."""


def pairs_of(other):
    """What ``d.update(other)`` runs over: a dictionary's items, or the pairs themselves."""


def empty_like(d):
    """A new dictionary of the same kind."""
