"""Methods of strings, written in Python with lengths, characters and slices.

The functions are traced like those of the program, on a `StringView`.
"""
# mypy: disable-error-code="no-untyped-def,no-untyped-call"
# ruff: noqa: SIM110

from __future__ import annotations


def equals(text, other):
    """``text == other``."""
    if len(text) != len(other):
        return False
    for k in range(len(text)):
        if text[k] != other[k]:
            return False
    return True


def differs(text, other):
    """``text != other``."""
    if len(text) != len(other):
        return True
    for k in range(len(text)):
        if text[k] != other[k]:
            return True
    return False


def comes_before(text, other):
    """``text < other``."""
    for k in range(min(len(text), len(other))):
        if text[k] != other[k]:
            return text[k] < other[k]
    return len(text) < len(other)


def find(text, part):
    """``text.find(part)``."""
    for k in range(len(text) - len(part) + 1):
        is_there = True
        for i in range(len(part)):
            if text[k + i] != part[i]:
                is_there = False
                break
        if is_there:
            return k
    return -1


def index(text, part):
    """``text.index(part)``."""
    at = find_in(text, part)
    if at < 0:
        raise ValueError("substring not found")
    return at


def contains(text, part):
    """``part in text``."""
    return find_in(text, part) >= 0


def count(text, part):
    """``text.count(part)``: of parts that do not overlap."""
    size = len(part)
    if size == 0:
        return len(text) + 1
    found = k = 0
    while k + size <= len(text):
        is_there = True
        for i in range(size):
            if text[k + i] != part[i]:
                is_there = False
                break
        if is_there:
            found += 1
            k += size
        else:
            k += 1
    return found


def startswith(text, part):
    """``text.startswith(part)``."""
    if len(part) > len(text):
        return False
    for k in range(len(part)):
        if text[k] != part[k]:
            return False
    return True


def endswith(text, part):
    """``text.endswith(part)``."""
    ahead = len(text) - len(part)
    if ahead < 0:
        return False
    for k in range(len(part)):
        if text[ahead + k] != part[k]:
            return False
    return True


def append_some(items, character):
    """Append a character, if it is not empty."""
    if character:
        items.append(character)


def append_all(items, text):
    """Append the characters of a string to a list."""
    for character in text:
        items.append(character)


def join_all(made, separator, items):
    """``separator.join(items)``."""
    is_first = True
    for item in items:
        if not is_first:
            add(made, separator)
        is_first = False
        add(made, item)


def add(text, piece):
    """Append a string: see `JoinedText.append`."""


def find_in(text, part):
    """``text.find(part)``: see `StringView.find`."""
