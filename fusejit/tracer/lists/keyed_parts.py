"""The parts of a `KeyedContainer` that methods of dictionaries and sets are written with.

Each stands for the method of `KeyedContainer` of its name, which is traced in its place.
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
