"""What a recursion asks that is traced as a loop: see `fusejit.tracer.source.recursion`."""

from __future__ import annotations

import builtins
import functools
import sys
from typing import Any

from fusejit.ir.ops import Assert
from fusejit.tracer.builder.trace import running_trace
from fusejit.tracer.lists import list_methods
from fusejit.tracer.lists.any_list import AnyList, of_kind
from fusejit.tracer.lists.displays import Displays
from fusejit.tracer.lists.traced_list import TracedList
from fusejit.tracer.ops.checks import LEFT_TO_PYTHON
from fusejit.tracer.ops.kernel_numbers import as_kernel_number, truth_of
from fusejit.tracer.ops.union_types import has_type
from fusejit.tracer.program.locations import needs_python
from fusejit.tracer.program.python_state import is_shared
from fusejit.tracer.strings.string_view import StringView
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.containers import is_tuple, tuple_of
from fusejit.tracer.values.operand_types import represented_type
from fusejit.tracer.values.undefined import Undefined
from fusejit.tracer.values.union_scalar import is_union_scalar

_SPARE = 100
"""Calls that may be active around the function."""

_SEQUENCES = (list, tuple, str, range, AnyList, StringView)


def require_depth(pending: Any) -> None:
    """Leave a call to Python in which so many calls of a function are active that it may raise."""
    if isinstance(pending, AnyList):
        size: Any = pending.size()
        few = size < max(sys.getrecursionlimit() - _SPARE, 0)
        holds = as_kernel_number(truth_of(few)).value()
        reason = "a recursion is no deeper than Python's"
        pending.trace.emit(Assert(condition=holds, reason=reason, error=LEFT_TO_PYTHON))


def returned(name: str, result: Any) -> Any:
    """What a call of the function ``name`` has returned."""
    if isinstance(result, Undefined):
        what = f"{name} calls itself before it has returned anything"
        raise needs_python(what, "write the recursion as a loop")
    return result


def own_lists(result: Any, names: frozenset[str]) -> Any:
    """A result with new lists for those that nothing but some names of the function leads to.

    Nobody can tell them apart, as nobody reads these names again.
    """
    if is_tuple(result):
        return tuple_of(type(result), [own_lists(one, names) for one in result])
    trace = running_trace()
    if trace is None:
        return result
    trace.owned(Displays).try_traced(trace, result)
    if not isinstance(result, TracedList):
        return result
    is_own = not result.may_be_another() and not is_shared(result, names)
    if not is_own and result.python_type is list:
        return result
    return of_kind(trace.inlined(list_methods.copied, (result,)), result.python_type)


def require_builtin(function: Any, name: str) -> None:
    """Require that a name is that of Python's function."""
    if function is not getattr(builtins, name):
        raise needs_python(f"has another {name} than Python's", "give it another name")


def require_cache(function: Any) -> None:
    """Require that a decorator is that of `functools`, which keeps all results."""
    if function is not functools.cache and function is not functools.lru_cache:
        raise needs_python("has another cache than that of functools", "give it another name")


def memo_key(key: Any) -> Any:
    """The arguments of a function whose results are kept: Python's integers and strings.

    `functools` tells 1, 1.0 and True apart in some calls and not in others.
    """
    for part in key if type(key) is tuple else (key,):
        if is_union_scalar(part) or represented_type(part) not in (int, str):
            raise needs_python("keeps results by other than integers", "use a dictionary")
    return key


def memo_value(value: Any) -> Any:
    """A result that is kept: one that nobody can change."""
    parts = value if is_tuple(value) else (value,)
    if not all(map(has_type, parts)):
        raise needs_python("keeps results that may be changed", "use a dictionary")
    return value


def require_sequence(items: Any) -> None:
    """Require what a ``for`` loop reads by places: neither a dictionary nor an iterator."""
    is_array = isinstance(items, TracedArray) and items.ndim > 0
    if not is_array and not isinstance(items, _SEQUENCES):
        what = "runs over what is no list, tuple or array in a function that calls itself"
        raise needs_python(what, "run over a list of it")
