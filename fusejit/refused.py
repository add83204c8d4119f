"""Calls that no variant serves: a call like one of them is not traced again each time.

A trace depends on the layout of arrays and the values of numbers, and on what it finds outside the
arguments. The latter may change, so that the fourth, eighth, sixteenth .. such call is traced.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

MOST = 256
_PLAIN = (bool, int, float, complex, str, type(None))


class RefusedCalls:
    """Why calls were left to plain NumPy, by what a trace sees of their arguments."""

    def __init__(self) -> None:
        self._causes: dict[Hashable, tuple[str, int]] = {}

    def cause(self, args: tuple[Any, ...]) -> str | None:
        """Why a call like this one was left to NumPy; None if it is to be traced.

        >>> calls = RefusedCalls()
        >>> calls.note((1,), "too large")
        >>> [calls.cause((1,)) for _ in range(4)]
        ['too large', None, 'too large', 'too large']
        """
        key = _key_of(args)
        known = self._causes.get(key)
        if known is None:
            return None
        cause, count = known
        self._causes[key] = cause, count + 1
        return None if count & (count - 1) == 0 else cause

    def note(self, args: tuple[Any, ...], cause: str) -> None:
        """A call was traced and is left to NumPy."""
        key = _key_of(args)
        if key is None:
            return
        if len(self._causes) >= MOST and key not in self._causes:
            self._causes.clear()
        self._causes[key] = cause, self._causes.get(key, (cause, 3))[1]


def _key_of(obj: Any) -> Hashable:
    """What a trace sees of an argument; None if that cannot be told cheaply."""
    if type(obj) is np.ndarray:
        return obj.dtype, obj.shape, obj.strides, obj.flags.num
    if type(obj) in _PLAIN or isinstance(obj, np.number | np.bool_):
        return type(obj), obj
    if type(obj) is tuple:
        parts = tuple(map(_key_of, obj))
        return None if None in parts else parts
    return None
