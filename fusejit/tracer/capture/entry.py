"""The entry: a function and the arguments of one call -> `TracedFunction`."""

from __future__ import annotations

import functools
import importlib
import pkgutil
import sys
from collections.abc import Callable, Mapping
from types import CodeType, FunctionType
from typing import Any, cast

from fusejit import tracer
from fusejit.errors import ConcretizationError, FusejitError, NeedsPython, UnsupportedError
from fusejit.ir.complex_numbers import NotForComplex
from fusejit.ir.host import Path
from fusejit.ir.source import UNKNOWN, Location
from fusejit.ir.traced import TracedFunction
from fusejit.ir.verifier.verify import verify
from fusejit.support.identity import own_signature
from fusejit.support.interrupts import is_from_handler
from fusejit.tracer.builder.shapes import Varies
from fusejit.tracer.builder.trace import Trace, activated
from fusejit.tracer.capture.bindings import bind_operations
from fusejit.tracer.capture.finish import finish
from fusejit.tracer.capture.front_end import run_traced
from fusejit.tracer.capture.handlers import handler_of, is_traced
from fusejit.tracer.carried.outside_attributes import UNDOES
from fusejit.tracer.flow.traced_if import TracedIf
from fusejit.tracer.indexing.kernel_indices import connect_checks
from fusejit.tracer.keyed.argument_tables import argument_table, fill_tables
from fusejit.tracer.lists.aliases import ListIdentities
from fusejit.tracer.lists.argument_list import argument_list, read_by_items
from fusejit.tracer.lists.changed_lists import changed_list, fill_changed
from fusejit.tracer.lists.form_guesses import Guesses
from fusejit.tracer.lists.given_objects import (
    GivenObjects,
    attribute_names,
    fill_pools,
    find_given,
    given_objects,
    require_alone,
)
from fusejit.tracer.lists.item_forms import IDENTITIES
from fusejit.tracer.lists.object_pool import begin_pools
from fusejit.tracer.lists.traced_list import TracedList
from fusejit.tracer.np.host_functions import install_rows
from fusejit.tracer.program.active_trace import outside_program
from fusejit.tracer.program.fallback import (
    WRONG_CALL,
    Fallback,
    Retrace,
    fault_location,
    raised_while_tracing,
)
from fusejit.tracer.program.locations import MOVE_OUTSIDE, needs_python_where
from fusejit.tracer.source.source_text import given_to, texts_in
from fusejit.tracer.strings.string_table import begin_table, require_all_strings
from fusejit.tracer.strings.string_view import argument_text
from fusejit.tracer.values.captured_reads import CapturedReads
from fusejit.tracer.values.pooled_objects import PooledObjects

MAX_RESTARTS = 50

_STRUCTURED_OPS = "fusejit.tracer.np.structured_ops"
"""The module of those handlers that are needed only where a program uses structured ops."""


def _fill_dispatch_table() -> None:
    """Import the modules of handlers, which register these in `PRIMITIVES`."""
    modules = [*pkgutil.walk_packages(tracer.__path__, f"{tracer.__name__}.")]
    if not modules:
        raise ImportError(f"the importer of {tracer.__name__} cannot list its modules")
    for module in modules:
        if module.name != _STRUCTURED_OPS:
            importlib.import_module(module.name)


_fill_dispatch_table()
install_rows()
bind_operations()


def trace_function(
    fn: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    *,
    is_segment: bool = False,
    undoes: bool = False,
    formats_in_python: bool = False,
    varying: frozenset[str] = frozenset(),
    is_bounded: bool = False,
    is_general: bool = False,
) -> TracedFunction:
    """Run ``fn`` once on traced values for its arguments and return its graph.

    Nothing is executed and no argument is modified.

    Parameters
    ----------
    fn : callable
        A Python function.
    args, kwargs : tuple, mapping
        The arguments of one call.
    is_segment : bool
        Whether the function is a segment of one that runs already: see `fusejit.options`.
    undoes : bool
        Whether NumPy takes over where the call would raise after a store, which is undone.
    formats_in_python : bool
        Whether text of numbers is left to Python, as another variant would be needed for each.
    varying : frozenset of str
        Parameters that are given lists of ever other lengths.
    is_bounded : bool
        Whether Python runs loops that would be unrolled far: see `tracer.program.unrolling`.
    is_general : bool
        Whether extents of 1 are symbols like others: see `fusejit.options`.

    Returns
    -------
    TracedFunction

    Raises
    ------
    Fallback
        If plain NumPy has to run the call: arguments outside the machinery, or NumPy would raise.
    UnsupportedError
        If the function uses something that is not traced.
    ConcretizationError
        If Python needs a value that is known only when the kernel runs.
    """
    table: dict[Any, Any] = {}
    refusal: Exception | None = None  # of lists in columns, if they are read item by item by now
    for _ in range(MAX_RESTARTS):
        trace = new_trace(fn.__name__, table, _definition(fn))
        trace.is_segment = is_segment
        trace.undoes = undoes or UNDOES in table
        trace.varying = varying
        trace.formats_in_python = is_segment or formats_in_python
        trace.is_bounded = is_bounded
        trace.is_general = is_general
        try:
            return _trace_once(fn, args, kwargs, trace)
        except Retrace:
            continue
        except (Fallback, UnsupportedError, ConcretizationError) as error:
            guesses = trace.owned(Guesses)
            if guesses.try_others(table, isinstance(error, Fallback)):
                continue
            if isinstance(error, Fallback) and guesses.is_open():
                what = "reads items of a list that has none while tracing"
                raise needs_python_where(error, what, MOVE_OUTSIDE) from None
            if not read_by_items(table):
                if isinstance(refusal, Fallback | None) or isinstance(
                    error, Fallback | NeedsPython
                ):
                    raise
                raise refusal from None  # what was done to the list says more than its items
            refusal = error
    raise UnsupportedError.at(
        _definition(fn),
        f"compiling did not come to an end after {MAX_RESTARTS} attempts",
        "please report this, and use fuse_jit(enabled=False) meanwhile",
    )


def _columns_at(trace: Trace, path: Path, obj: Any) -> Any:
    """The list or string at a path, if kernels are to read its items."""
    if type(obj) in (dict, set):
        return argument_table(trace, path, obj)
    if type(obj) is str:
        return argument_text(trace, path, obj)
    made = changed_list(trace, path, obj, argument_list(trace, path, obj))
    return given_objects(trace, path, obj) if made is None else made


def new_trace(
    name: str, table: dict[Any, Any] | None = None, location: Location = UNKNOWN
) -> Trace:
    """A trace of a function, with what the floors above the graph do for it."""
    trace = Trace(name, table, location)
    trace.captured_reads = CapturedReads(trace)
    trace.captured_reads.columns_at = functools.partial(_columns_at, trace)
    trace.handler, trace.is_traced = handler_of, is_traced
    connect_checks(trace)
    return trace


def _definition(fn: Callable[..., Any]) -> Location:
    """Where a function begins."""
    code = fn.__code__
    return Location(code.co_filename, code.co_firstlineno, code.co_qualname)


def _trace_once(
    fn: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any], trace: Trace
) -> TracedFunction:
    if "fusejit.structured.op" in sys.modules:  # not while the watch takes its import for a call
        importlib.import_module(_STRUCTURED_OPS)
    bound = _bound(fn, args, dict(kwargs))
    texts = texts_in(cast(FunctionType, fn))
    trace.given = given_to(cast(FunctionType, fn))
    trace.owned(GivenObjects).names_read = attribute_names(fn.__code__)
    with activated(trace):
        paths = {n: Path("arg", n, (), texts.get(n, "")) for n in bound.arguments}
        arguments = {
            n: trace.captured_reads.read(paths[n], obj) for n, obj in bound.arguments.items()
        }
        result = _run(fn, trace, arguments)
        traced = finish(trace, result, trace.location)
        require_all_strings(trace)
        require_alone(trace)
        trace.owned(PooledObjects).require_kept(trace)
    verify(traced.graph)
    return traced


def _bound(fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The arguments by parameter name, defaults applied; falls back where the call is an error."""
    try:
        bound = own_signature(fn).bind(*args, **kwargs)
    except TypeError as error:
        raise Fallback(f"the call itself fails: {error}") from error
    bound.apply_defaults()
    return bound


def _begin(trace: Trace, code: CodeType) -> None:
    """Trace what comes before the program: the tables of its strings, and of what it is given."""
    find_given(trace)
    begin_pools(trace)
    if IDENTITIES in trace.table:
        trace.owned(ListIdentities).given = TracedList(trace, ("list identities",))
    begin_table(trace, code)
    fill_pools(trace)
    fill_tables(trace)
    fill_changed(trace)


def _run(fn: Callable[..., Any], trace: Trace, arguments: dict[str, Any]) -> Any:
    """The rewritten function's result; plain NumPy raises exceptions of the user's program."""
    try:
        begin = functools.partial(_begin, trace, fn.__code__)
        return run_traced(fn, trace, arguments, begin)
    except Retrace:
        raise
    except NotForComplex as error:
        raise Fallback(str(error)) from error
    except (FusejitError, Fallback, Varies) as error:
        for region in reversed(trace.regions):
            if region.can_unroll and not trace.owned(Guesses).has_others(trace.table):
                region.decide(True, "unroll")
        if isinstance(error, Varies):
            raise _of_varying(trace, error) from error
        if isinstance(error, Fallback) and error.outcome.is_raised_by_numpy:
            _ask_what_was_guessed(trace, error)
        raise
    except Exception as error:
        if is_from_handler(error):
            raise
        with outside_program():
            text = str(error)
        if isinstance(error, TypeError) and WRONG_CALL.search(text):
            raise Fallback(f"the arguments of a call do not fit its function: {text}") from error
        is_conditional = any(isinstance(region, TracedIf) for region in trace.regions)
        if is_conditional and isinstance(error, RecursionError):
            why = "the end of this recursion depends on an element of an array"
            what = f"{why}, so tracing it never ends"
            raise UnsupportedError.at(_definition(fn), what, "write it as a loop") from None
        if is_conditional and not fault_location(error):
            condition = "a condition that is known only when compiled code runs"
            what = f"raises {type(error).__name__} under {condition}"
            raise Fallback(f"{what}; return a flag, and raise outside") from error
        _ask_what_was_guessed(trace, error)
        # raised by the program, by what a callback did for it, or by mistake: the plain function
        # tells
        raise raised_while_tracing(error, text) from error


def _of_varying(trace: Trace, error: Varies) -> NeedsPython:
    """Leave a statement to Python that has to know an integer while tracing."""
    if not trace.regions:
        what = "a size, an index or a bound of a slice depends on an element of an array"
        return needs_python_where(error, what, "pass the number as an argument of its own")
    remedy = "write it so that it does not depend on the iteration"
    made = needs_python_where(error, str(error), remedy)
    made.is_loop = True
    return made


def _ask_what_was_guessed(trace: Trace, error: Exception) -> None:
    """Leave it to Python if an exception follows a guess about a size that nobody knew.

    ``if len(np.unique(x)) != 1: raise ValueError`` raises in every trace, and in few calls.
    """
    if trace.decisions.first_guess is not None:
        raise trace.decisions.first_guess from error
