"""Which functions stand for decorated ones: a trace goes through them to what they compute.

An attribute would not tell: `functools.wraps` copies attributes to wrappers of the user's.
"""

from __future__ import annotations

import weakref
from types import FunctionType
from typing import Any

_CARRIERS: weakref.WeakSet[FunctionType] = weakref.WeakSet()


def mark_carrier(function: FunctionType) -> None:
    """Declare that a function computes what its ``__wrapped__`` does."""
    _CARRIERS.add(function)


def is_carrier(function: Any) -> bool:
    """Whether it stands for a decorated function."""
    return type(function) is FunctionType and function in _CARRIERS
