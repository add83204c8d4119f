"""Calls that were declined, so that others like them are not traced each time for nothing.

Two calls are alike if their arrays have the same dtypes, shapes and strides and their numbers and
texts are equal. Why a trace ended may lie outside of the arguments (a global name, an attribute),
so an entry is no proof: of calls that are alike the first, second, fourth, eighth .. is traced
again. A call that is declined needlessly runs as plain NumPy, and is right.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from typing import Any

import numpy as np

_MOST = 64  # entries; the one that was not met for longest goes
_PLAIN = (bool, int, float, complex, str, bytes, type(None), np.number, np.bool_)


class DeclinedCalls:
    """Why calls of a function were declined, by what their arguments are like."""

    def __init__(self) -> None:
        self._known: OrderedDict[Hashable, tuple[str, int]] = OrderedDict()

    def cause(self, args: tuple[Any, ...]) -> str | None:
        """Why a call like this one was declined; None if it should be traced."""
        key = _likeness(args)
        entry = self._known.get(key) if key is not None else None
        if entry is None:
            return None
        cause, calls = entry
        calls += 1
        self._known[key] = cause, calls
        is_due = calls & (calls - 1) == 0
        return None if is_due else cause

    def add(self, args: tuple[Any, ...], cause: str) -> None:
        """Remember that a call was declined."""
        key = _likeness(args)
        if key is None:
            return
        _, calls = self._known.pop(key, (cause, 1))
        self._known[key] = cause, calls
        while len(self._known) > _MOST:
            self._known.popitem(last=False)


def _likeness(value: Any) -> Hashable:
    """What calls that are alike agree in; None where it cannot be told."""
    if type(value) is np.ndarray:
        flags = value.flags
        return value.dtype, value.shape, value.strides, flags.writeable, flags.aligned
    if isinstance(value, _PLAIN):
        return type(value), value
    if type(value) is tuple:
        parts = tuple(map(_likeness, value))
        return None if None in parts else parts
    return None
