"""Forms of NumPy's functions that their handlers leave out: NumPy runs these between kernels.

A handler knows the forms of a function that are loops: `np.convolve` of real numbers, `np.tile` by
known counts. Where it refuses a form, the same call becomes a host call, provided that nothing has
happened that cannot be taken back; where that is refused as well, Python runs the statement. Under
``fullgraph=True`` the first refusal is the one that is told.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from fusejit.errors import ConcretizationError, FusejitError, UnsupportedError
from fusejit.ir.ops import Effect, HostCall
from fusejit.ir.types import Kind
from fusejit.tracer.builder.primitives import HOST_PRIMITIVES
from fusejit.tracer.builder.shapes import Varies
from fusejit.tracer.builder.trace import Trace, current_trace
from fusejit.tracer.host.host_call_tracing import host_call
from fusejit.tracer.ops.stores import stored_into
from fusejit.tracer.program.callables import RULES, is_numpy_function
from fusejit.tracer.program.fallback import WRONG_CALL, Fallback
from fusejit.tracer.program.locations import MOVE_OUTSIDE, as_graph_break, unsupported
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.memmaps import with_classes

_STORES = ("copyto", "fill_diagonal", "place", "put", "put_along_axis", "putmask")
_CHANGE_ARGUMENTS = frozenset({*_STORES, "at", "partition", "sort"})
"""Names of functions and methods that store into their arguments."""


@functools.lru_cache(maxsize=4096)
def with_host_fallback(function: Any, handler: Callable[..., Any]) -> Callable[..., Any]:
    """The handler of a function, which leaves to NumPy the forms that it does not know."""
    return with_classes(function, _with_form(function, handler))


def _with_form(function: Any, handler: Callable[..., Any]) -> Callable[..., Any]:
    name = _name_of(function, handler)
    if name is None:
        return handler

    @functools.wraps(handler)
    def call(*args: Any, **kwargs: Any) -> Any:
        trace = current_trace()
        before = _state(trace)
        try:
            made = handler(*args, **kwargs)
            if made is NotImplemented and _has_arrays((*args, *kwargs.values())):
                raise unsupported(f"this form of {name} is not traced", MOVE_OUTSIDE)
            return made
        except (UnsupportedError, ConcretizationError, Fallback, TypeError) as error:
            if isinstance(error, Fallback) and error.outcome.is_raised_by_numpy:
                raise
            if trace.computes_everywhere or not _is_refusal(error):
                raise
            is_open = _state(trace)[:-1] != before[:-1] or not _is_pure(trace, before[-1])
            if is_open or name.rpartition(".")[2] in _CHANGE_ARGUMENTS:
                raise as_graph_break(error) from error
            return _by_numpy(name, function, args, kwargs, error)

    return call


def _is_refusal(error: Exception) -> bool:
    """Whether a handler refuses a form, if only by not having its parameters."""
    return not isinstance(error, TypeError) or bool(WRONG_CALL.search(str(error)))


def _name_of(function: Any, handler: Any) -> str | None:
    """The dotted name under which launchers find a function of NumPy's; None if it has no form."""
    if HOST_PRIMITIVES.get(function) is handler:
        return None
    name = getattr(function, "__name__", "")
    if getattr(function, "__objclass__", None) is np.ndarray:
        return f"numpy.ndarray.{name}"
    owner = getattr(function, "__self__", None)
    if isinstance(owner, np.ufunc):
        is_public = getattr(np, owner.__name__, None) is owner
        return f"numpy.{owner.__name__}.{name}" if is_public else None
    if not is_numpy_function(function) or _has_callbacks(function):
        return None
    for module, members in _MODULES.items():
        if getattr(members, name, None) is function:
            return f"{module}.{name}"
    return None


_MODULES = {"numpy": np, "numpy.linalg": np.linalg, "numpy.fft": np.fft}


def _has_callbacks(function: Any) -> bool:
    rule = RULES.get(function)
    return rule is not None and bool(rule.callbacks)


def _state(trace: Trace) -> tuple[int, int, int, int]:
    """What tells whether anything but ops was added: open blocks and regions; then the ops."""
    return len(trace.blocks), len(trace.regions), id(trace.block), len(trace.block.ops)


def _is_pure(trace: Trace, start: int) -> bool:
    return all(op.effect is Effect.PURE for op in trace.block.ops[start:])


def _by_numpy(
    name: str,
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    refusal: Exception,
) -> Any:
    """The call as a host call, whose result is stored into ``out=`` where given."""
    options = {key: value for key, value in kwargs.items() if value is not np._NoValue}
    out = options.pop("out", None)
    given = [*args, *options.values()]
    is_ufunc = isinstance(function, np.ufunc)
    if out is not None and (not is_ufunc or options.get("where", True) is not True):
        raise as_graph_break(
            refusal
        )  # other functions ask more of it; a mask leaves elements alone
    try:
        if any(callable(a) and not isinstance(a, type) for a in given):
            raise as_graph_break(refusal)
        by_data = function is np.arange or any(map(_is_size, _flat(given)))  # arange: by floats too
        made = host_call(name, function, args, options, by_data=by_data)
        _note_refusal(current_trace(), refusal)
        return made if out is None else stored_into(made, out, name)
    except (FusejitError, Fallback, Varies) as error:
        raise as_graph_break(refusal) from error


def _note_refusal(trace: Trace, refusal: Exception) -> None:
    """Why the newest op is a host call, for who allows none."""
    op = trace.block.ops[-1]
    if isinstance(op, HostCall) and isinstance(refusal, FusejitError):
        op.refusal = str(refusal)


def _has_arrays(given: Any) -> bool:
    """Whether NumPy itself could not take the arguments as they are."""
    return any(isinstance(a, TracedArray) for a in _flat(given))


def _flat(items: Any) -> list[Any]:
    found = []
    for item in items:
        found += _flat(item) if isinstance(item, list | tuple) else [item]
    return found


def _is_size(obj: Any) -> bool:
    """Whether the extents of a result may depend on it: an integer that only the kernel knows."""
    if not isinstance(obj, TracedArray):
        return getattr(obj, "is_local", False)
    return obj.dtype.kind in "iu" and (obj.kind is not Kind.ARRAY or obj.ndim <= 1)
