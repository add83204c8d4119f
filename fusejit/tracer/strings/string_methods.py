"""Methods of strings, written in Python with lengths, characters and slices.

The functions are traced like those of the program, on a `StringView`.
"""
# mypy: disable-error-code="no-untyped-def,no-untyped-call"
# ruff: noqa: SIM110

from __future__ import annotations

from fusejit.tracer.lists.list_parts import put, reserve, resize


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


def is_at_most(text, other):
    """``text <= other``."""
    for k in range(min(len(text), len(other))):
        if text[k] != other[k]:
            return text[k] < other[k]
    return len(text) <= len(other)


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


def lower(text):
    """``text.lower()``."""
    made = empty()
    for character in text:
        add(made, character.lower())
    return fixed(made)


def upper(text):
    """``text.upper()``."""
    made = empty()
    for character in text:
        add(made, character.upper())
    return fixed(made)


def lstrip(text, characters=None):
    """``text.lstrip(..)``."""
    start, size = 0, len(text)
    while start < size and is_stripped(text[start], characters):
        start += 1
    return text[start:]


def rstrip(text, characters=None):
    """``text.rstrip(..)``."""
    size = len(text)
    while size > 0 and is_stripped(text[size - 1], characters):
        size -= 1
    return text[:size]


def strip(text, characters=None):
    """``text.strip(..)``."""
    start, size = 0, len(text)
    while start < size and is_stripped(text[start], characters):
        start += 1
    while size > start and is_stripped(text[size - 1], characters):
        size -= 1
    return text[start:size]


def words(text):
    """``text.split()``."""
    made = []
    start = -1
    for k in range(len(text)):
        if text[k].isspace():
            if start >= 0:
                made.append(text[start:k])
            start = -1
        elif start < 0:
            start = k
    if start >= 0:
        made.append(text[start:])
    return made


def fields(text, separator):
    """``text.split(separator)``, of one character."""
    made = []
    start = 0
    for k in range(len(text)):
        if text[k] == separator:
            made.append(text[start:k])
            start = k + 1
    made.append(text[start:])
    return made


def parts(text, separator):
    """``text.split(separator)``."""
    size = len(separator)
    if size == 0:
        raise ValueError("empty separator")
    made = []
    start = k = 0
    while k + size <= len(text):
        is_there = True
        for i in range(size):
            if text[k + i] != separator[i]:
                is_there = False
                break
        if is_there:
            made.append(text[start:k])
            k += size
            start = k
        else:
            k += 1
    made.append(text[start:])
    return made


def replace(text, old, new):
    """``text.replace(old, new)``, of an ``old`` that is not empty."""
    size = len(old)
    made = empty()
    k = 0
    while k < len(text):
        is_there = size <= len(text) - k
        if is_there:
            for i in range(size):
                if text[k + i] != old[i]:
                    is_there = False
                    break
        if is_there:
            add(made, new)
            k += size
        else:
            add(made, text[k])
            k += 1
    return fixed(made)


def isalpha(text):
    """``text.isalpha()``."""
    for character in text:
        if not character.isalpha():
            return False
    return len(text) > 0


def isdigit(text):
    """``text.isdigit()``."""
    for character in text:
        if not character.isdigit():
            return False
    return len(text) > 0


def isalnum(text):
    """``text.isalnum()``."""
    for character in text:
        if not character.isalnum():
            return False
    return len(text) > 0


def isspace(text):
    """``text.isspace()``."""
    for character in text:
        if not character.isspace():
            return False
    return len(text) > 0


def isupper(text):
    """``text.isupper()``."""
    found = False
    for character in text:
        if character.islower():
            return False
        if character.isupper():
            found = True
    return found


def islower(text):
    """``text.islower()``."""
    found = False
    for character in text:
        if character.isupper():
            return False
        if character.islower():
            found = True
    return found


def integer(text):
    """``int(text)``, of digits of ASCII with a sign, between spaces; an error without digits."""
    start, size = 0, len(text)
    while start < size and text[start].isspace():
        start += 1
    while size > start and text[size - 1].isspace():
        size -= 1
    digits = text[start:size]
    is_negative = digits[0] == "-"
    first = 1 if is_negative or digits[0] == "+" else 0
    number = int(digits[first])
    for k in range(first + 1, len(digits)):
        number = number * 10 + int(digits[k])
    return -number if is_negative else number


def decimal(number):
    """``str(number)``, of an integer."""
    made = empty()
    rest = int(number)
    if rest < 0:
        add(made, "-")
        rest = -rest
    power = 1
    while rest // power >= 10:
        power *= 10
    while power > 0:
        add(made, chr(48 + rest // power % 10))
        power //= 10
    return fixed(made)


def repeated(text, count):
    """``text * count``."""
    made = empty()
    for _ in range(count):
        add(made, text)
    return fixed(made)


def append_some(items, character):
    """Append a character, if it is not empty."""
    if character:
        items.append(character)


def append_all(items, text):
    """Append the characters of a string to a list."""
    start, size = len(items), len(text)
    reserve(items, size)
    for k in range(size):
        put(items, start + k, text[k])
    resize(items, start + size)


def join_all(made, separator, items):
    """``separator.join(items)``."""
    is_first = True
    for item in items:
        if not is_first:
            add(made, separator)
        is_first = False
        add(made, item)


def empty():
    """A new string: see `JoinedText`."""


def fixed(text):
    """See `fusejit.tracer.strings.joined_text.fixed`."""


def add(text, piece):
    """Append a string: see `JoinedText.append`."""


def find_in(text, part):
    """``text.find(part)``: see `StringView.find`."""


def is_stripped(character, characters):
    """Whether ``text.strip(characters)`` takes a character away."""
