"""Which calls are judged: the first of each kind, and a sample of those that follow.

A test may call one function ten thousand times in ways that hardly differ, and spend the time in
which the rest of it would have been judged. Calls are of one kind if they agree in types, dtypes,
shapes, strides and all that is short, numbers within arrays aside.
"""

from __future__ import annotations

import types
from collections import Counter
from collections.abc import Hashable
from typing import Any

import numpy as np

from fusejit.ir.write_access import WriteAccess

ALL_OF_FIRST = 24  # calls of a kind
EACH = 16  # of the others
_BY_VALUE = (bool, int, complex, str, bytes, type(None), type, np.dtype)
_MAX_ITEMS = 12
_MAX_DEPTH = 4
_LONGEST = 40  # characters of texts that count by value


class Sampling:
    """How many calls of each kind there were."""

    def __init__(self) -> None:
        self._met: Counter[Hashable] = Counter()

    def is_due(self, function: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """Whether a call is judged; counts it."""
        kind = function, _kind(args, 0), _kind(kwargs, 0)
        self._met[kind] += 1
        count = self._met[kind]
        return count <= ALL_OF_FIRST or count % EACH == 0


def _kind(value: Any, depth: int) -> Hashable:
    """What two calls of one kind agree in."""
    if isinstance(value, np.ndarray):
        return type(value), str(value.dtype), value.shape, value.strides, WriteAccess.of(value)
    if isinstance(value, str | bytes) and len(value) > _LONGEST:
        return type(value), len(value)
    if isinstance(value, _BY_VALUE):
        return type(value), value if isinstance(value, type) else repr(value)
    if isinstance(value, types.FunctionType | types.BuiltinFunctionType | np.ufunc):
        return type(value), value.__name__
    if depth >= _MAX_DEPTH:
        return (type(value),)
    if isinstance(value, list | tuple):
        items = tuple(_kind(item, depth + 1) for item in value[:_MAX_ITEMS])
        return type(value), len(value), items
    if isinstance(value, dict):
        pairs = [*value.items()][:_MAX_ITEMS]
        return dict, len(value), tuple((repr(k), _kind(v, depth + 1)) for k, v in pairs)
    state = None if isinstance(value, types.ModuleType) else _state(value)
    if state:
        return type(value), _kind(state, depth + 1)
    return (type(value),)


def _state(value: Any) -> dict[str, Any] | None:
    """The attributes of an object, unless it does not let itself be asked."""
    try:
        state = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return None
    return state if type(state) is dict else None
