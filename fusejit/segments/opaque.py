"""Objects that a trace cannot be given by their type alone, and what is made of them."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

import numpy as np

from fusejit.ir.raw_reads import is_a
from fusejit.segments.installed import is_installed
from fusejit.tracer.breaks.python_statements import Follow
from fusejit.tracer.program.callables import is_library_module

_PLAIN = (np.ndarray, np.generic, bool, int, float, complex, type(None), slice, range)
HELD = (str, bytes, bytearray, list, dict, set, frozenset, memoryview)


def is_opaque(obj: Any) -> bool:
    """Whether a trace would depend on more than the type of what it is given."""
    if is_a(obj, _PLAIN):
        return False
    if is_a(obj, tuple):
        return any(map(is_opaque, tuple.__iter__(obj)))
    if is_a(obj, HELD):
        return True
    return not callable(obj) and not _is_of_user(type(obj))


def _is_of_user(kind: type) -> bool:
    """Whether a class stands in a file of the user's."""
    if is_library_module(kind.__module__):
        return False
    file = getattr(sys.modules.get(kind.__module__), "__file__", None)
    return file is None or not is_installed(file)


def followed(foreign: Iterable[Any]) -> Follow:
    """What of such objects is compiled again: what is made of an array is most often alike."""
    are_arrays = all(type(obj) is np.ndarray for obj in foreign)
    return Follow.CONVERSIONS if are_arrays else Follow.EVERYTHING
