"""``copy.copy`` and ``copy.deepcopy``: of arrays, of numbers, and of containers of the function.

A shallow copy of an object shares with it what its attributes hold, and what Python copies while
tracing would be taken for an object of the function's own. So Python copies objects in each call.
"""

from __future__ import annotations

import copy
from typing import Any

from fusejit.tracer.builder.primitives import primitive
from fusejit.tracer.builder.trace import current_trace
from fusejit.tracer.np.arrays.conversions import copy_method
from fusejit.tracer.program.callables import CONSTANT_TYPES
from fusejit.tracer.program.locations import MOVE_OUTSIDE, needs_python
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.containers import TracedContainer
from fusejit.tracer.values.masked import as_array as with_selected
from fusejit.tracer.values.symbolic_number import is_host_number
from fusejit.tracer.values.union_scalar import is_union_scalar

_DEPTH = 8  # of containers in each other
_IMMUTABLE = (*CONSTANT_TYPES, tuple, range, frozenset)


@primitive(copy.copy, complex=True)
def shallow(obj: Any) -> Any:
    """``copy.copy(obj)``."""
    if isinstance(obj, TracedContainer):
        return obj if obj.python_type in _IMMUTABLE else obj.user_attribute("copy")()
    if type(obj) in _IMMUTABLE:
        return obj
    if type(obj) in (list, dict, set):
        return current_trace().inlined(_by_method, (obj,))
    return _of_value(obj)


def _by_method(obj):  # type: ignore[no-untyped-def]
    return obj.copy()


@primitive(copy.deepcopy, complex=True)
def deep(obj: Any, memo: Any = None) -> Any:
    """``copy.deepcopy(obj)``."""
    if type(obj) in CONSTANT_TYPES:
        return obj
    if type(obj) in (list, dict, tuple, set) and _is_of_values(obj, _DEPTH):
        return NotImplemented  # Python makes new containers, and asks us for their items
    return _of_value(obj)


def _is_of_values(obj: Any, depth: int) -> bool:
    """Whether all that containers hold is traced, or constant."""
    if type(obj) in (list, dict, tuple, set):
        items = (*obj, *obj.values()) if isinstance(obj, dict) else obj
        return depth > 0 and all(_is_of_values(item, depth - 1) for item in items)
    is_value = type(obj) in CONSTANT_TYPES or isinstance(obj, TracedArray)
    return is_value or is_host_number(obj)


def _of_value(obj: Any) -> Any:
    """A copy of an array, which has the order of its axes, or of a number."""
    obj = with_selected(obj)
    if isinstance(obj, TracedArray):
        return copy_method(obj, "K")
    if is_host_number(obj) or is_union_scalar(obj):
        return obj
    raise needs_python(f"copies an object of type {type(obj).__name__}", MOVE_OUTSIDE)
