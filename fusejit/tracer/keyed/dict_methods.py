"""Methods of dictionaries, written in Python on a `TracedDict`.

``found(d, key)`` is the place of a key, or -1, and its slot; keys and values are at their places,
in the order in which they came.
"""
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

from __future__ import annotations

from fusejit.tracer.keyed.keyed_parts import (
    add_key,
    add_value,
    empty_like,
    found,
    has_lists,
    is_empty_list,
    is_there,
    key_at,
    list_or_empty,
    made_by_factory,
    num_places,
    pairs_of,
    put_value,
    remove_key,
    value_at,
)


def getitem(d, key):
    """``d[key]``."""
    at, _ = found(d, key)
    if at < 0:
        raise KeyError(key)
    return value_at(d, at)


def get_or_make(d, key):
    """``d[key]`` of a ``defaultdict``."""
    at, slot = found(d, key)
    if at < 0:
        value = made_by_factory(d)
        at = add_key(d, key, slot)
        add_value(d, value)
    return value_at(d, at)


def setitem(d, key, value):
    """``d[key] = value``."""
    at, slot = found(d, key)
    if at < 0:
        add_key(d, key, slot)
        add_value(d, value)
    else:
        put_value(d, at, value)


def get(d, key, default=None):
    """``d.get(key, default)``."""
    at, _ = found(d, key)
    if has_lists(d) and is_empty_list(default):
        return list_or_empty(d, at, default)
    if at >= 0:
        return value_at(d, at)
    return default


def setdefault(d, key, value=None):
    """``d.setdefault(key, value)``."""
    at, slot = found(d, key)
    if at < 0:
        at = add_key(d, key, slot)
        add_value(d, value)
    return value_at(d, at)


def delete(d, key):
    """``del d[key]``."""
    at, slot = found(d, key)
    if at < 0:
        raise KeyError(key)
    remove_key(d, at, slot)


def pop(d, key, *default):
    """``d.pop(key)``, ``d.pop(key, default)``."""
    at, slot = found(d, key)
    if at < 0:
        if not default:
            raise KeyError(key)
        return default[0]
    value = value_at(d, at)
    remove_key(d, at, slot)
    return value


def update(d, *other, **named):
    """``d.update(other, name=value)``, ``d |= other``."""
    if len(other) > 1:
        raise TypeError("update expected at most 1 argument")
    for items in (*other, named):
        for key, value in pairs_of(items):
            d[key] = value


def copy(d):
    """``d.copy()``."""
    made = empty_like(d)
    for key, value in pairs_of(d):
        made[key] = value
    return made


def union(d, left, right):
    """``left | right``; one of them is ``d``."""
    made = empty_like(d)
    made.update(left)
    made.update(right)
    return made


def list_of_values(d):
    """The values of keys that were not deleted."""
    made = []
    for k in range(num_places(d)):
        if is_there(d, k):
            made.append(value_at(d, k))
    return made


def list_of_items(d):
    """Keys that were not deleted, with their values."""
    made = []
    for k in range(num_places(d)):
        if is_there(d, k):
            made.append((key_at(d, k), value_at(d, k)))
    return made


def of_keys(keys, value=None):
    """``dict.fromkeys(keys, value)``."""
    return {key: value for key in keys}  # noqa: C420


def of_pairs(pairs):
    """``dict(pairs)``."""
    return {key: value for key, value in pairs}  # noqa: C416


def most_common(d, n=None):
    """``Counter.most_common(n)``: the first of equally many stands first."""
    made = sorted(d.items(), key=lambda pair: pair[1], reverse=True)
    return made if n is None else made[:n]


def counted(d, items):
    """``Counter(items)``."""
    for item in items:
        d[item] += 1


def discard(d, key):
    """``del d[key]`` of a ``Counter``."""
    at, slot = found(d, key)
    if at >= 0:
        remove_key(d, at, slot)
