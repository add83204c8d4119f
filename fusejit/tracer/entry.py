"""The entry: a function and the arguments of one call -> `TracedFunction`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from fusejit.errors import UnsupportedError
from fusejit.ir.host import Path
from fusejit.ir.source import Location
from fusejit.ir.traced import TracedFunction
from fusejit.ir.verifier import verify
from fusejit.tracer import (
    builtin_functions,
    contraction,
    creation,
    indexing,
    reductions,
    ufuncs,
    views,
)
from fusejit.tracer.declined import Restart
from fusejit.tracer.finish import finish
from fusejit.tracer.hooks import run_staged
from fusejit.tracer.trace import Trace, bind

# importing these modules fills the dispatch table
HANDLER_MODULES = (
    builtin_functions,
    contraction,
    creation,
    indexing,
    reductions,
    ufuncs,
    views,
)
MAX_RESTARTS = 50


def trace_function(
    fn: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    *,
    decisions: dict[Any, Any] | None = None,
) -> TracedFunction:
    """Run ``fn`` once on stand-ins for its arguments and return its graph.

    Nothing is executed and no argument is modified.

    Parameters
    ----------
    fn : callable
        A Python function.
    args, kwargs : tuple, mapping
        The arguments of one call.
    decisions : dict, optional
        The decision table of an earlier trace of the same call.

    Returns
    -------
    TracedFunction

    Raises
    ------
    Declined
        If plain NumPy has to run the call: arguments outside the machinery, or NumPy would raise.
    UnsupportedError
        If the function uses something that is not traced.
    ConcretizationError
        If Python needs a value that is known only when the kernel runs.
    """
    table: dict[Any, Any] = {} if decisions is None else decisions
    for _ in range(MAX_RESTARTS):
        try:
            return _trace_once(fn, args, kwargs, table)
        except Restart:
            continue
    raise UnsupportedError(f"{fn.__name__}: tracing did not settle after {MAX_RESTARTS} attempts")


def _trace_once(
    fn: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    table: dict[Any, Any],
) -> TracedFunction:
    bound = bind(fn, args, dict(kwargs))
    trace = Trace(fn.__name__, table)
    with trace.active():
        arguments = {n: trace.read(Path("arg", n), obj) for n, obj in bound.arguments.items()}
        result = run_staged(fn, trace, arguments)
        code = fn.__code__
        location = Location(code.co_filename, code.co_firstlineno, code.co_qualname)
        traced = finish(trace, result, location)
    verify(traced.graph)
    return traced
