"""Methods of deques, written in Python on a `TracedDeque`.

Its items stand in a list behind places that ``popleft`` has left; `lags`, `compact`, `advance` and
`retreat` are about these places.
"""
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

from __future__ import annotations

from fusejit.tracer.lists.list_methods import taken


def push(q, item):
    """``q.append(item)``."""
    if lags(q):
        compact(q)
    append_item(q, item)


def push_bounded(q, item, longest):
    """``q.append(item)`` where ``q`` holds at most so many items."""
    append_item(q, item)
    if len(q) > longest:
        advance(q)
    if lags(q):
        compact(q)


def pop(q):
    """``q.pop()``."""
    if len(q) == 0:
        raise IndexError("pop from an empty deque")
    return pop_item(q)


def popleft(q):
    """``q.popleft()``."""
    if len(q) == 0:
        raise IndexError("pop from an empty deque")
    item = taken(q[0])
    advance(q)
    return item


def appendleft(q, item):
    """``q.appendleft(item)``."""
    if has_place_before(q):
        retreat(q)
        q[0] = item
    else:
        q.insert(0, item)


def extendleft(q, items):
    """``q.extendleft(items)``."""
    for item in items:
        q.appendleft(item)


def rotate(q, n=1):
    """``q.rotate(n)``."""
    if len(q) > 1:
        for _ in range(-n % len(q)):
            q.append(q.popleft())


def compact(q):
    """Move the items to the first places."""


def lags(q):
    """Whether most places are left."""


def append_item(q, item):
    """Append an item where there is room."""


def pop_item(q):
    """Take the last item away."""


def advance(q):
    """Leave the first place."""


def has_place_before(q):
    """Whether a place was left."""


def retreat(q):
    """Take the place before the first one back."""
