"""Methods of sets, written in Python on a `TracedSet`.

They say what CPython's ``Objects/setobject.c`` does, but for the order of the keys. Of keys that
are equal a set keeps the first one, and ``a & b`` those of the smaller set.
"""
# mypy: disable-error-code="no-untyped-def,no-untyped-call"
# ruff: noqa: SIM110

from __future__ import annotations

from fusejit.tracer.keyed.keyed_parts import add_key, found, remove_key
from fusejit.tracer.keyed.set_parts import (
    empty_set,
    is_set,
    keys_are_alike,
    keys_of,
    may_take,
    set_of,
    take,
)


def add(s, key):
    """``s.add(key)``."""
    at, slot = found(s, key)
    if at < 0:
        add_key(s, key, slot)


def discard(s, key):
    """``s.discard(key)``."""
    at, slot = found(s, key)
    if at >= 0:
        remove_key(s, at, slot)


def remove(s, key):
    """``s.remove(key)``."""
    at, slot = found(s, key)
    if at < 0:
        raise KeyError(key)
    remove_key(s, at, slot)


def copy(s):
    """``s.copy()``, ``set(s)``."""
    made = empty_set()
    if may_take(made, s):
        take(made, s)
    else:
        for key in keys_of(s):
            made.add(key)
    return made


def update(s, *others):
    """``s.update(..)``, ``s |= other``."""
    for other in others:
        if other is not s:
            for key in keys_of(other):
                s.add(key)


def union(s, *others):
    """``s.union(..)``, ``s | other``."""
    made = s.copy()
    made.update(*others)
    return made


def intersection(s, *others):
    """``s.intersection(..)``, ``s & other``."""
    if not others:
        return s.copy()
    for other in others:
        made = empty_set()
        if keys_are_alike(s, other) or (is_set(other) and len(other) > len(s)):
            for key in keys_of(s):
                if key in other:
                    made.add(key)
        else:
            for key in keys_of(other):
                if key in s:
                    made.add(key)
        s = made
    return s


def difference(s, *others):
    """``s.difference(..)``, ``s - other``."""
    if not others:
        return s.copy()
    for other in others:
        if not is_set(other):
            other = set_of(other)
        made = empty_set()
        for key in keys_of(s):
            if key not in other:
                made.add(key)
        s = made
    return s


def difference_update(s, *others):
    """``s.difference_update(..)``, ``s -= other``."""
    for other in others:
        if other is s:
            s.clear()
        else:
            for key in keys_of(other):
                s.discard(key)


def intersection_update(s, *others):
    """``s.intersection_update(..)``, ``s &= other``."""
    kept = s.intersection(*others)
    if may_take(s, kept):
        take(s, kept)
    else:
        s.clear()
        for key in keys_of(kept):
            s.add(key)


def symmetric_difference(s, other):
    """``s.symmetric_difference(other)``, ``s ^ other``."""
    if not is_set(other):
        other = set_of(other)
    made = empty_set()
    for key in keys_of(other):
        if key not in s:
            made.add(key)
    for key in keys_of(s):
        if key not in other:
            made.add(key)
    return made


def symmetric_difference_update(s, other):
    """``s.symmetric_difference_update(other)``, ``s ^= other``."""
    if other is s:
        s.clear()
        return
    if not is_set(other):
        other = set_of(other)
    for key in keys_of(other):
        at, slot = found(s, key)
        if at < 0:
            add_key(s, key, slot)
        else:
            remove_key(s, at, slot)


def issubset(s, other):
    """``s.issubset(other)``, ``s <= other``."""
    if not is_set(other):
        other = set_of(other)
    if len(s) > len(other):
        return False
    for key in keys_of(s):
        if key not in other:
            return False
    return True


def issuperset(s, other):
    """``s.issuperset(other)``, ``s >= other``."""
    for key in keys_of(other):
        if key not in s:
            return False
    return True


def isdisjoint(s, other):
    """``s.isdisjoint(other)``."""
    for key in keys_of(other):
        if key in s:
            return False
    return True


def is_equal(s, other):
    """``s == other``."""
    if len(s) != len(other):
        return False
    for key in keys_of(s):
        if key not in other:
            return False
    return True


def is_proper_subset(s, other):
    """``s < other``."""
    if len(s) >= len(other):
        return False
    for key in keys_of(s):
        if key not in other:
            return False
    return True


def is_proper_superset(s, other):
    """``s > other``."""
    if len(s) <= len(other):
        return False
    for key in keys_of(other):
        if key not in s:
            return False
    return True


def is_unequal(s, other):
    """``s != other``."""
    if len(s) != len(other):
        return True
    for key in keys_of(s):
        if key not in other:
            return True
    return False
