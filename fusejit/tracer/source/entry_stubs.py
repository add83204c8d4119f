"""Which functions stand for decorated ones: a trace goes through them to what they compute.

An attribute would not tell: `functools.wraps` copies attributes to wrappers of the user's.
"""

from __future__ import annotations

import weakref
from types import FunctionType
from typing import Any

from fusejit.support.identity import served_by

_MARKED: weakref.WeakSet[FunctionType] = weakref.WeakSet()


def mark_entry_stub(function: FunctionType) -> None:
    """Declare that a function that we did not make computes what its ``__wrapped__`` does."""
    _MARKED.add(function)


def is_entry_stub(function: Any) -> bool:
    """Whether it stands for a decorated function."""
    is_marked = type(function) is FunctionType and function in _MARKED
    return is_marked or served_by(function) is not None
