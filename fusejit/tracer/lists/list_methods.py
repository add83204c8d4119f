"""Methods and functions of lists, written in Python with reads, stores, appends and pops.

The functions are traced like those of the program, on a `TracedList`: they say what CPython's
``Objects/listobject.c`` does.
"""
# mypy: disable-error-code="no-untyped-def,no-untyped-call"
# ruff: noqa: SIM110

from __future__ import annotations

import numpy as np

from fusejit.tracer.lists.comparisons import are_equal, comes_before, require_ordered


def taken(item):
    """An item that leaves its list; a list in that list becomes one by itself."""


def copied(items):
    """``xs.copy()``, ``list(xs)``, ``xs[:]``."""
    made = []
    for item in items:
        made.append(item)
    return made


def number(array):
    """``a.tolist()`` of an array without dims."""
    return array.item()


def numbers(array):
    """``a.tolist()`` of an array with one dim."""
    return [element.item() for element in array]


def rows_of_numbers(array):
    """``a.tolist()`` of a matrix."""
    return [[element.item() for element in row] for row in array]


def extended(items, others):
    """``xs.extend(ys)``, ``xs += ys``; a list is extended by what it had before."""
    if others is items:
        for k in range(len(items)):
            items.append(items[k])
    else:
        for item in others:
            items.append(item)


def equals(items, others):
    """``xs == ys``."""
    if len(items) != len(others):
        return False
    for k, item in enumerate(others):
        if not are_equal(items[k], item):
            return False
    return True


def differs(items, others):
    """``xs != ys``."""
    if len(items) != len(others):
        return True
    for k, item in enumerate(others):
        if not are_equal(items[k], item):
            return True
    return False


def comes_first(items, others):
    """``xs < ys``."""
    return comes_before(items, others, False)


def comes_not_last(items, others):
    """``xs <= ys``."""
    return not comes_before(others, items, False)


def joined(items, others):
    """``xs + ys``."""
    made = []
    for item in items:
        made.append(item)
    for item in others:
        made.append(item)
    return made


def repeated(items, count):
    """``xs * n``."""
    made = []
    for _ in range(count):
        for item in items:
            made.append(item)
    return made


def multiplied(items, count):
    """``xs *= n``."""
    size = len(items)
    if count < 1:
        items.clear()
    for _ in range(1, count):
        for k in range(size):
            items.append(items[k])


def part(items, first, count, step):
    """``xs[i:j:k]``, whose bounds are clamped already."""
    made = []
    for k in range(count):
        made.append(items[first + k * step])
    return made


def insert(items, index, item):
    """``xs.insert(i, item)``: a place beyond the ends is the end."""
    length = len(items)
    if index < 0:
        index = max(index + length, 0)
    index = min(index, length)
    items.append(item)
    for k in range(length - index):
        items[length - k] = items[length - k - 1]
    items[index] = item


def pop(items, index):
    """``xs.pop(i)``."""
    if len(items) == 0:
        raise IndexError("pop from empty list")
    if index < 0:
        index += len(items)
    if index < 0 or index >= len(items):
        raise IndexError("pop index out of range")
    item = taken(items[index])
    for k in range(index + 1, len(items)):
        items[k - 1] = items[k]
    items.pop()
    return item


def delete(items, index):
    """``del xs[i]``."""
    if index < 0:
        index += len(items)
    if index < 0 or index >= len(items):
        raise IndexError("list assignment index out of range")
    for k in range(index + 1, len(items)):
        items[k - 1] = items[k]
    items.pop()


def delete_part(items, first, count):
    """``del xs[i:j]``, whose bounds are clamped already."""
    for k in range(first + count, len(items)):
        items[k - count] = items[k]
    for _ in range(count):
        items.pop()


def put_part(items, first, count, others):
    """``xs[i:j] = ys``, whose bounds are clamped already; a list is put by what it had before."""
    new = items.copy() if others is items else others
    more, length = len(new) - count, len(items)
    for _ in range(more):
        items.append(new[0])
    if more > 0:
        for k in range(length - first - count):
            items[length - 1 - k + more] = items[length - 1 - k]
    for k in range(len(new)):
        items[first + k] = new[k]
    if more < 0:
        del items[first + len(new) : first + count]


def put_steps(items, first, count, step, others):
    """``xs[i:j:k] = ys``, whose bounds are clamped already."""
    new = items.copy() if others is items else others
    if len(new) != count:
        raise ValueError(
            f"attempt to assign sequence of size {len(new)} to extended slice of size {count}"
        )
    for k in range(count):
        items[first + k * step] = new[k]


def has_any(items):
    """``any(xs)``."""
    for item in items:
        if item:
            return True
    return False


def has_all(items):
    """``all(xs)``."""
    for item in items:
        if not item:
            return False
    return True


def index(items, item):
    """``xs.index(item)``."""
    for k in range(len(items)):
        if are_equal(items[k], item):
            return k
    raise ValueError(f"{item!r} is not in list")


def count(items, item):
    """``xs.count(item)``."""
    found = 0
    for one in items:
        if are_equal(one, item):
            found += 1
    return found


def contains(items, item):
    """``item in xs``."""
    for one in items:
        if are_equal(one, item):
            return True
    return False


def remove(items, item):
    """``xs.remove(item)``."""
    at = -1
    for k in range(len(items)):
        if are_equal(items[k], item):
            at = k
            break
    if at < 0:
        raise ValueError("list.remove(x): x not in list")
    for k in range(at + 1, len(items)):
        items[k - 1] = items[k]
    items.pop()


def reverse(items):
    """``xs.reverse()``."""
    length = len(items)
    for k in range(length // 2):
        other = items[length - 1 - k]
        items[length - 1 - k] = items[k]
        items[k] = other


def sort(items, *, key=None, reverse=False):
    """``xs.sort()``: a merge sort, which like Python's keeps the order of equal items."""
    keys = items
    if key is not None:
        keys = []
        for item in items:
            keys.append(key(item))
    require_ordered(keys)
    length = len(items)
    order, merged = np.arange(length), np.empty(length, np.int64)
    width = 1
    while width < length:
        for low in range(0, length, 2 * width):
            middle, high = min(low + width, length), min(low + 2 * width, length)
            left, right = low, middle
            for k in range(low, high):
                is_left = left < middle
                if is_left and right < high:
                    is_left = not comes_before(keys[order[right]], keys[order[left]], reverse)
                if is_left:
                    merged[k] = order[left]
                    left += 1
                else:
                    merged[k] = order[right]
                    right += 1
        for k in range(length):
            order[k] = merged[k]
        width *= 2
    before = items.copy()
    for k in range(length):
        items[k] = before[order[k]]


def ordered(items, *, key=None, reverse=False):
    """``sorted(xs)``."""
    made = []
    for item in items:
        made.append(item)
    made.sort(key=key, reverse=reverse)
    return made
