"""One run of a rewritten function: what its callbacks share, and the entry of the front end."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from types import CodeType, FunctionType
from typing import Any

from fusejit.errors import UnsupportedError
from fusejit.ir.host import Path
from fusejit.support.frame_readers import codes_in
from fusejit.tracer.builder.trace import running_trace
from fusejit.tracer.capture.active_calls import native_call
from fusejit.tracer.capture.calls import Calls
from fusejit.tracer.capture.function_primitives import FunctionPrimitives
from fusejit.tracer.capture.native_access import WATCHED
from fusejit.tracer.capture.plain import vet, vet_arguments
from fusejit.tracer.capture.slots import native_operator
from fusejit.tracer.carried.outside_attributes import OutsideAttributes
from fusejit.tracer.program.callables import CONSTANT_TYPES, is_library_source
from fusejit.tracer.program.captures import CaptureRegistry, defaults_of, keyword_defaults_of
from fusejit.tracer.program.fallback import Fallback, Retrace
from fusejit.tracer.program.locations import mark_entry, unsupported
from fusejit.tracer.program.trace_interface import TraceInterface
from fusejit.tracer.program.watch import Watch
from fusejit.tracer.rewriting.rewritten_function import rewritten_function


class CaptureSession:
    """The front end's state of one trace.

    Parameters
    ----------
    trace : TraceInterface
        Makes traced values, records checks, knows the handlers.
    entry : FunctionType
        The function that is traced.

    Attributes
    ----------
    captures : CaptureRegistry
        What was found outside, and where.
    """

    def __init__(self, trace: TraceInterface, entry: FunctionType) -> None:
        self.trace = trace
        self.entry = entry
        self.watch = Watch()
        self.captures = CaptureRegistry(trace, self.watch.meet)
        self._calls = Calls(
            trace, self.captures, self._activate, self._made_here, self.watch.meet_native
        )
        self.call = self._calls.invoke
        trace.inlined = self._calls.inlined
        trace.captured_reads.library_reads = self.captures.library_reads
        trace.captured_reads.entry_stubs = self.captures.entry_stubs
        self.access = self._calls.access
        self._bound: dict[int, tuple[FunctionType, FunctionType, bool]] = {}
        self._with_defaults: set[int] = set()
        self._rewritten: dict[int, CodeType] = {}
        for function in (*WATCHED, native_call, native_operator):
            self.watch.watch_callees(function.__code__)

    def _made_here(self, function: FunctionType) -> bool:
        return id(function.__code__) in self._rewritten

    def _note_rewritten(self, code: CodeType) -> None:
        self._rewritten |= {id(one): one for one in codes_in(code)}

    def _activate(self, function: FunctionType, args: tuple[Any, ...]) -> FunctionType:
        """The rewritten form of a function that is called, its default values read by path."""
        bound, is_untraced = self._bind(function)
        path = self.captures.path_of(function)
        if is_untraced:
            vet_arguments(function, args, self.captures)
        elif id(function) not in self._with_defaults:
            self._with_defaults.add(id(function))
            self._read_defaults(function, bound, path)
        return bound

    def _bind(self, function: FunctionType) -> tuple[FunctionType, bool]:
        """The rewritten form of a function (the same one each time), and whether it is plain."""
        if id(function) not in self._bound:
            path = None if function is self.entry else self.captures.path_of(function)
            form = rewritten_function(function, self._calls.active.has_loops)
            if form.code is None:
                bound = function
                self.trace.has_untraced_callee = True
                self.watch.start()
                if form.note is not None:
                    self.trace.notes.append(form.note)
                    self.trace.untraced[function.__code__] = form.note
                for code in vet(function, path, self.entry, self.captures):
                    self.watch.allow(code)
            else:
                activation = FunctionPrimitives(
                    function,
                    path,
                    self.entry,
                    self.captures,
                    self.access,
                    self.call,
                    self._calls.exact,
                    self._calls.asked,
                )
                activation.definitely_assigned = form.definitely_assigned
                bound = form.bind(function, activation)
                self.watch.allow(bound.__code__)
                self._note_rewritten(bound.__code__)
            self._bound[id(function)] = (function, bound, form.code is None)
        return self._bound[id(function)][1:]

    def _read_defaults(
        self, function: FunctionType, bound: FunctionType, path: Path | None
    ) -> None:
        """Default values live outside: a call that leaves an argument out reads them."""
        if function.__defaults__:
            bound.__defaults__ = tuple(
                self._default(function, at, value) for at, value in defaults_of(function, path)
            )
        if function.__kwdefaults__:
            bound.__kwdefaults__ = {
                name: self._default(function, at, value)
                for name, at, value in keyword_defaults_of(function, path)
            }

    def _default(self, function: FunctionType, path: Path | None, value: Any) -> Any:
        if type(value) in CONSTANT_TYPES:
            if path is not None:
                self.captures.fix(path, value)
            return value
        if path is None and is_library_source(function):
            return value
        if path is None:
            what = f"a default value of {function.__qualname__} cannot be followed"
            raise unsupported(what, "pass it as an argument")
        return self.captures.read(path, value)

    def run(self, arguments: Mapping[str, Any], begin: Callable[[], None] | None = None) -> Any:
        """Run the entry on traced values by parameter name, after ``begin``."""
        if (trace := running_trace()) is not None:
            trace.owned(OutsideAttributes).begin(trace, self.captures, self.access.attr)
        for name, traced in arguments.items():
            self.captures.register(Path("arg", name), traced)
        args, kwargs = positional_and_keyword(self.entry, arguments)
        function, is_untraced = self._bind(self.entry)
        if is_untraced:
            vet_arguments(self.entry, (*args, *kwargs.values()), self.captures)
        with self.watch.active():
            try:
                if begin is not None:
                    begin()
                result = function(*args, **kwargs)
            except (UnsupportedError, Fallback, Retrace) as error:
                self._calls.active.name_recursion(self.entry, error)
                raise
            except Exception as error:
                if self.watch.offence is not None:
                    raise self.watch.offence from error
                raise
        if self.watch.offence is not None:
            raise self.watch.offence
        return result


@mark_entry
def run_traced(
    fn: Callable[..., Any],
    trace: TraceInterface,
    bound_arguments: Mapping[str, Any],
    begin: Callable[[], None] | None = None,
) -> Any:
    """Run the rewritten form of ``fn`` on traced values and return what it returns.

    Parameters
    ----------
    fn : FunctionType
        The user's function, not the decorated one.
    trace : TraceInterface
        The trace that the traced values belong to; it must be the active one.
    bound_arguments : mapping of str to object
        Traced values by parameter name, as in `inspect.BoundArguments.arguments` with defaults
        applied.
    begin : callable, optional
        Traces what comes before the function.

    Raises
    ------
    UnsupportedError
        If the function does what cannot be traced; the message has the user's file and line.
    """
    if not isinstance(fn, FunctionType):
        raise TypeError(f"expected a Python function, not {type(fn).__name__}")
    return CaptureSession(trace, fn).run(bound_arguments, begin)


def positional_and_keyword(
    function: FunctionType, arguments: Mapping[str, Any]
) -> tuple[list[Any], dict[str, Any]]:
    """Arguments by parameter name as they are written in a call."""
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    code = function.__code__
    names = code.co_varnames
    for name in names[: code.co_argcount]:
        args.append(arguments[name])
    end = code.co_argcount + code.co_kwonlyargcount
    for name in names[code.co_argcount : end]:
        kwargs[name] = arguments[name]
    if code.co_flags & inspect.CO_VARARGS:
        args += arguments.get(names[end], ())
        end += 1
    if code.co_flags & inspect.CO_VARKEYWORDS:
        kwargs.update(arguments.get(names[end], {}))
    return args, kwargs
