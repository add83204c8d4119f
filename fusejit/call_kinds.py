"""Kinds of calls, and how many variants each may have: calls alike but for sizes, lengths, values.

Arrays are of one kind if they agree in dtype, rank and order of memory; lists, tuples and dicts if
what is in them does; numbers and texts by type. A list that is longer with each call makes a
variant each time, of which none is used again. So beyond `MOST_OF_A_KIND` variants a call is
compiled only when calls like it have come `USES` times (see `fusejit.declined_calls` for "like").
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Hashable
from typing import Any

import numpy as np

from fusejit.declined_calls import likeness

MOST_OF_A_KIND = 8
USES = 8
_MOST_COUNTED = 64  # calls whose uses are counted; the one that was not met for longest goes
_LOOKED_AT = 8  # items of a container, for its kind
_MOST_ITEMS = 64  # of a container in calls whose uses are counted


class CallKinds:
    """What is known of each kind of call of one function."""

    def __init__(self) -> None:
        self._variants: Counter[Hashable] = Counter()
        self._uses: OrderedDict[Hashable, int] = OrderedDict()

    def note_variant(self, args: tuple[Any, ...]) -> None:
        """A variant was made for a call."""
        self._variants[_kind(args)] += 1

    def refusal(self, args: tuple[Any, ...]) -> str | None:
        """Why no variant is made for a call; counts it."""
        if self._variants[_kind(args)] < MOST_OF_A_KIND or self._count(_alike(args)) >= USES:
            return None
        return (
            f"there are {MOST_OF_A_KIND} variants for calls that differ from it in sizes, lengths "
            f"or values alone; it gets one when calls like it have come {USES} times"
        )

    def _count(self, call: Hashable) -> int:
        """How often a call like this one has come; 0 where that cannot be told."""
        if call is None:
            return 0
        self._uses[call] = self._uses.pop(call, 0) + 1
        if len(self._uses) > _MOST_COUNTED:
            self._uses.popitem(last=False)
        return self._uses[call]


def _alike(value: Any) -> Hashable:
    """What calls that are alike agree in, lists looked into; None where it cannot be told."""
    if type(value) in (list, tuple) and len(value) <= _MOST_ITEMS:
        parts = tuple(map(_alike, value))
        return None if None in parts else (type(value), *parts)
    return likeness(value)


def _kind(args: tuple[Any, ...]) -> Hashable:
    """What two calls of one kind agree in."""
    return tuple(map(_kind_of, args))


def _kind_of(value: Any) -> Hashable:
    if isinstance(value, np.ndarray):
        flags = value.flags
        dtype = value.dtype, value.dtype.metadata is None
        return type(value), *dtype, value.ndim, flags.c_contiguous, flags.f_contiguous
    if type(value) in (list, tuple):
        return type(value), frozenset(map(_kind_of, value[:_LOOKED_AT]))
    if type(value) is dict:
        items = zip(value.values(), range(_LOOKED_AT), strict=False)
        return dict, frozenset(_kind_of(item) for item, _ in items)
    return ("type", type(value))
