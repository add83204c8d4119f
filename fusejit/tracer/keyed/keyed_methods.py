"""Methods that dictionaries and sets share, written in Python on a `KeyedContainer`.

``found(d, key)`` is the place of a key, or -1, and its slot; keys are at their places, in the order
in which they came.
"""
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

from __future__ import annotations

from fusejit.tracer.keyed.keyed_parts import (
    double_slots,
    enter,
    found,
    is_there,
    key_at,
    lacks_slots,
    num_places,
)


def require_slots(d):
    """Keep half of the slots of its table free."""
    if lacks_slots(d):
        double_slots(d)
        for at in range(num_places(d)):
            if is_there(d, at):
                enter(d, at)


def contains(d, key):
    """``key in d``."""
    at, _ = found(d, key)
    return at >= 0


def list_of_keys(d):
    """The keys that were not deleted."""
    made = []
    for k in range(num_places(d)):
        if is_there(d, k):
            made.append(key_at(d, k))
    return made
