"""Functions that run as compiled segments with Python between them.

A function in which Python has to run a statement (a call that cannot be followed, a write to an
object from outside) is opened: see `fusejit.tracer.graph_breaks.segments`. Its segments are
functions that are
decorated in their turn, so that each is compiled for the types that arrive there, once for all
calls and iterations, and is opened itself when it meets such a statement.
"""

from __future__ import annotations

import functools
import inspect
import os
import site
import sys
import sysconfig
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from inspect import CO_VARARGS, CO_VARKEYWORDS
from types import CellType, CodeType, FunctionType, MethodType
from typing import Any

import numpy as np

from fusejit.carrier import Body
from fusejit.codegen.launcher.call_guard import CallGuard, Expected, are_like, expected_of
from fusejit.dataclass import dataclass, field, replace
from fusejit.decorated import dispatcher_of
from fusejit.errors import FusejitError, NeedsPython
from fusejit.interrupts import is_from_handler
from fusejit.ir.host import Path
from fusejit.ir.source import Location
from fusejit.ir.traced import CheckKind, PathCheck
from fusejit.settling import Settling
from fusejit.tracer.capture.callables import is_library_module, is_user_function
from fusejit.tracer.capture.source_text import (
    FunctionSource,
    as_definition,
    compile_function,
    find_source,
    made_from,
    texts_in,
)
from fusejit.tracer.graph_breaks.foreign import why_foreign, why_foreign_within
from fusejit.tracer.graph_breaks.python_statements import Follow
from fusejit.tracer.graph_breaks.segments import NOTHING, Opened, Retired, Segment, open_function

Decorate = Callable[[FunctionType, str], Callable[..., Any]]
"""Compiles a function, and is told what it does on errors: see `fusejit.options`."""
MOST_OF_A_CODE = 4  # functions made from one ``def`` that are fused: inner ones come with each call

_PACKAGES = tuple(
    os.path.realpath(folder) + os.sep
    for folder in {
        sysconfig.get_path("purelib"),
        sysconfig.get_path("platlib"),
        *site.getsitepackages(),
        site.getusersitepackages(),
    }
)
_PLAIN = (np.ndarray, np.generic, bool, int, float, complex, type(None), slice, range)
_HELD = (str, bytes, bytearray, list, dict, set, frozenset, memoryview)


@dataclass(slots=True)
class Boundary:
    """A statement that Python runs, and why."""

    file: str
    line: int
    reason: str


@dataclass(slots=True)
class SegmentedFunction:
    """An opened function, or one that Python runs whole.

    Attributes
    ----------
    run : callable
        Takes the parameters by position.
    boundaries : list of Boundary
        The statements that Python runs.
    segments : list of callable
        The compiled parts in the order of the program.
    settling : Settling or None
        Which of them pay; tells who serves calls from now on.
    bodies : dict of callable to Body
        The statements of functions that have served calls.
    served : tuple of Body and CallGuard, or None
        The statements that serve calls now and what is asked first; None if `run` decides.
    expected : sequence of Expected or None
        What the arguments of a call are like that it may serve; None for any call.
    """

    run: Callable[..., Any]
    boundaries: list[Boundary]
    segments: list[SegmentCall] = field(default_factory=list)
    helper: _Helper | None = None
    settling: Settling | None = None
    bodies: dict[Callable[..., Any], Body] = field(default_factory=dict)
    served: tuple[Body, CallGuard] | None = None
    expected: Sequence[Expected] | None = None

    def takes(self, args: Sequence[Any]) -> bool:
        """Whether it may serve a call."""
        if self.expected is None:
            return True
        given = zip(self.expected, args, strict=True)
        return are_like(self.expected, args) and all(
            why_foreign_within("", arg) is not None for one, arg in given if one.kind is not None
        )

    def serve_by(self, serve: Callable[[], None]) -> None:
        """Call ``serve`` whenever it changes what serves calls."""
        if self.settling is None:
            return
        looked_at = self.settling.looked_at

        def changed(run: Callable[..., Any], guard: CallGuard | None) -> None:
            self.run, self.served = run, None
            if guard is not None:
                self.served = self.bodies.get(run, Body(run)), guard
            if guard is not None and not guard.is_open:
                asks = guard.asks
                self.run = lambda *args: looked_at(*args) if asks(*args) else run(*args)
            serve()

        self.settling.serve = changed

    @property
    def calls_something(self) -> bool:
        """Whether it has segments, or calls of functions that may be fused."""
        return bool(self.segments) or (self.helper is not None and bool(self.helper.sites))

    @property
    def is_plain(self) -> bool:
        """Whether nothing in it is compiled or pays: the function itself runs."""
        return not self.segments if self.settling is None else self.settling.is_plain

    @property
    def depends_on_sizes(self) -> bool:
        """Whether larger arguments may change that."""
        return bool(self.segments) if self.settling is None else self.settling.depends_on_sizes

    def codes(self) -> Iterator[CodeType]:
        """The code of the frames in which Python has run its statements."""
        runs = [self.run] if self.settling is None else self.settling.runs
        yield from (run.__code__ for run in runs if isinstance(run, FunctionType))

    def called_by_python(self, function: FunctionType) -> Callable[..., Any] | None:
        """What Python may call instead of the decorated ``function``, with the same arguments.

        So a recursion comes as deep as undecorated: each call is one frame.
        """
        run = self.run if self.settling is None else self.settling.runs[-1]
        if self.helper is None or not isinstance(run, FunctionType):
            return None
        code = function.__code__
        takes_others = code.co_flags & (CO_VARARGS | CO_VARKEYWORDS) or code.co_kwonlyargcount
        if takes_others or code.co_posonlyargcount:
            return None
        if run.__defaults__ is not function.__defaults__:
            run.__defaults__ = function.__defaults__
        return run

    def functions(self) -> Iterator[tuple[str, Any]]:
        """The functions of the user's that Python calls, and what is known of their fused form."""
        for function, made in () if self.helper is None else self.helper.fused.items():
            state = dispatcher_of(made)
            if made is not function and state is not None:
                yield function.__qualname__, state


def _is_installed(filename: str) -> bool:
    return os.path.realpath(filename).startswith(_PACKAGES)


@dataclass(frozen=True, slots=True)
class Openable:
    """A function that may be opened.

    Attributes
    ----------
    function : FunctionType
    decorate : callable
        Makes the compiled form of each segment.
    fused : FusedFunctions
        Functions that Python calls and that are fused already.
    on_error : str
        What it does where it raises: see `fusejit.options`.
    failed : callable
        Is told of faults of ours; the function is then not opened.
    plain : callable or None
        Runs it as it is, given all parameters by position; None if that is what it takes itself.
    retires : bool
        Whether segments that do not pay are put back: see `fusejit.settling`.
    is_part : bool
        Whether it is a segment, or what Python calls between segments.
    """

    function: FunctionType
    decorate: Decorate
    fused: FusedFunctions
    on_error: str
    failed: Callable[[Exception], None]
    plain: Callable[..., Any] | None = None
    retires: bool = True
    is_part: bool = False


def opened(
    what: Openable, arguments: Mapping[str, Any], error: FusejitError
) -> SegmentedFunction | None:
    """Open a function whose trace ended with ``error``; None if that cannot be done.

    Parameters
    ----------
    what : Openable
    arguments : mapping of str to object
        Those of the call by parameter, in order.
    error : FusejitError
        Tells the line.
    """
    line = _line_in(what.function, error)
    position = error.position
    if line is None or position is None or position[0] != line:
        position = None
    opaque = frozenset(n for n, a in arguments.items() if position is None and _is_opaque(a))
    reason = str(error).partition(": ")[2]
    called = error.called if isinstance(error, NeedsPython) else ""
    return _opened(what, list(arguments), position, opaque, reason, called)


def opened_for_contents(
    what: Openable, arguments: Mapping[str, Any], differing: Set[str]
) -> SegmentedFunction | None:
    """Open a function so that Python runs what reads lists, texts and other objects.

    Those from outside too, a global list that grows, and ``differing``: objects that hold some.
    """
    outside = inspect.getclosurevars(what.function)
    known = {**outside.globals, **outside.nonlocals}
    held = {name for name, value in known.items() if isinstance(value, _HELD)}
    opaque = frozenset(name for name, value in arguments.items() if _is_opaque(value))
    opaque |= held | differing
    if not opaque:
        return None
    names = ", ".join(map(repr, sorted(opaque)))
    reason = f"reads {names}, which differ from call to call"
    return _opened(what, list(arguments), None, opaque, reason)


def opened_for_kinds(
    what: Openable, arguments: Mapping[str, Any], foreign: Mapping[str, str]
) -> SegmentedFunction | None:
    """Open a function for arguments of kinds that no kernel is given: Python runs what reads those.

    ``foreign`` has them by parameter, and why. It serves calls with others of their kinds. If
    nothing is left to compile Python runs the whole of a part; of a function of the user's, None.
    """
    reason = "; ".join(foreign.values())
    expected = [
        expected_of(value) if name in foreign else Expected() for name, value in arguments.items()
    ]
    follow = _followed(arguments[name] for name in foreign)
    made = _opened(
        what, list(arguments), None, frozenset(foreign), reason, expected=expected, follow=follow
    )
    if made is not None and made.calls_something:
        return made
    if not what.is_part or what.plain is None:
        return None
    code = what.function.__code__
    boundaries = [Boundary(code.co_filename, code.co_firstlineno, reason)]
    source = find_source(what.function)
    body = Body(what.plain, None if isinstance(source, str) else source)
    served = body, CallGuard(expected, function=what.function)
    return SegmentedFunction(what.plain, boundaries, served=served, expected=expected)


def _followed(foreign: Iterable[Any]) -> Follow:
    """What of such objects is compiled again: what is made of an array is most often alike."""
    are_arrays = all(type(obj) is np.ndarray for obj in foreign)
    return Follow.CONVERSIONS if are_arrays else Follow.EVERYTHING


def opened_singly(what: Openable, arguments: Mapping[str, Any]) -> SegmentedFunction | None:
    """Open a function so that each statement is a segment: Python knows what each has bound."""
    return _opened(what, list(arguments), None, frozenset(), "")


def contents_that_differ(variants: Iterable[Sequence[PathCheck]]) -> set[str]:
    """Names under which variants found other lengths, texts or classes, given their checks.

    ``log.items`` that grows makes a variant for each length, and ``log`` is such a name; so is that
    of an object of a class that a function makes anew with each call.
    """
    found: dict[Path, set[tuple[CheckKind, Any]]] = {}
    for checks in variants:
        for check in checks:
            is_text = check.kind is CheckKind.EQUAL and isinstance(check.expected, str | bytes)
            if is_text or check.kind is CheckKind.KEYS or _is_made_anew(check.expected):
                found.setdefault(check.path, set()).add((check.kind, check.expected))
    return {path.name for path, expected in found.items() if len(expected) > 1}


def _is_made_anew(obj: Any) -> bool:
    """Whether it is a class that stands in a function."""
    return isinstance(obj, type) and "<locals>" in obj.__qualname__


def of_python(
    function: FunctionType, run: Callable[..., Any], error: FusejitError
) -> SegmentedFunction:
    """A part that Python runs: nothing in it can be compiled on its own.

    ``run`` calls ``function`` with all parameters by position.
    """
    code = function.__code__
    reason = str(error).partition(": ")[2]
    return SegmentedFunction(run, [Boundary(code.co_filename, code.co_firstlineno, reason)])


def _opened(
    what: Openable,
    parameters: Sequence[str],
    position: tuple[int, int] | None,
    python_names: frozenset[str],
    reason: str,
    called: str = "",
    *,
    expected: Sequence[Expected] | None = None,
    follow: Follow = Follow.NOTHING,
) -> SegmentedFunction | None:
    source = find_source(what.function)
    node = None if isinstance(source, str) else as_definition(source.node)
    if isinstance(source, str) or node is None:
        return None

    def cut(retired: Retired) -> Opened | None:
        return open_function(
            node,
            parameters,
            position,
            python_names,
            called=called,
            follow=follow,
            singly=position is None and not python_names,
            on_error=what.on_error,
            retired=retired,
        )

    try:
        return _Maker(what, source, cut, expected).make(reason)
    except Exception as error:
        if is_from_handler(error):
            raise
        what.failed(error)
        return None


def _line_in(function: FunctionType, error: FusejitError) -> int | None:
    """The line of the function itself that ran when the trace ended."""
    location = error.location
    if not isinstance(location, Location):
        return None
    while location.inlined_from is not None:
        location = location.inlined_from
    return location.line if location.file == function.__code__.co_filename else None


def _is_opaque(obj: Any) -> bool:
    """Whether a trace would depend on more than the type of what it is given."""
    if isinstance(obj, _PLAIN):
        return False
    if isinstance(obj, tuple):
        return any(map(_is_opaque, obj))
    if isinstance(obj, _HELD):
        return True
    return not callable(obj) and not _is_of_user(type(obj))


def _is_of_user(kind: type) -> bool:
    """Whether a class stands in a file of the user's."""
    if is_library_module(kind.__module__):
        return False
    file = getattr(sys.modules.get(kind.__module__), "__file__", None)
    return file is None or not _is_installed(file)


class _Maker:
    """Makes functions out of the parts of one."""

    def __init__(
        self,
        what: Openable,
        source: FunctionSource,
        cut: Callable[[Retired], Opened | None],
        expected: Sequence[Expected] | None = None,
    ) -> None:
        self.what = what
        self.expected = expected
        self.function = what.function
        self.source = source
        self.cut = cut
        self.bodies: dict[Callable[..., Any], Body] = {}

    def make(self, reason: str) -> SegmentedFunction | None:
        cut = self.cut(NOTHING)
        if cut is None:
            return None
        self.source = replace(self.source, parts={**self.source.parts, **cut.parts})
        helper = _Helper(self.what)
        calls = helper.calls
        sites = helper.sites = [CallSite(helper, number) for number in range(cut.num_calls)]
        for one in sites:
            setattr(helper, f"c{one.number}", one)
        for segment in cut.segments:
            made = self.compiled(segment.node)
            if made is None:
                return None
            call = SegmentCall(helper, segment, made)
            calls[segment.name] = call
            setattr(helper, segment.name, call)
        run = self.compiled(cut.node, cut.helper, helper)
        if run is None:
            return None
        file = self.function.__code__.co_filename
        boundaries = [Boundary(file, line, reason) for line in cut.boundaries]
        original = self.function if self.what.plain is None else self.what.plain
        segments = [*calls.values()]
        remade = functools.partial(self._without, helper)
        bodies = self.bodies
        bodies[original] = Body(original, self.source)
        if not self.what.retires:
            like = self.expected or [Expected() for _ in cut.node.args.args]
            served = bodies[run], CallGuard(like, function=self.function)
            return SegmentedFunction(
                run, boundaries, segments, helper, None, bodies, served, self.expected
            )
        settling = Settling(run, original, remade, segments, sites, self.function, self.expected)
        helper.settling = settling
        first = settling.first
        segmented = SegmentedFunction(
            first, boundaries, segments, helper, settling, bodies, None, self.expected
        )
        segmented.serve_by(lambda: None)
        return segmented

    def _without(self, helper: _Helper, retired: Retired) -> FunctionType:
        """The opened function without what is retired."""
        cut = self.cut(retired)
        assert cut is not None
        run = self.compiled(cut.node, cut.helper, helper)
        assert run is not None
        return run

    def compiled(
        self, node: Any, helper: str | None = None, value: object = None
    ) -> FunctionType | None:
        """A function with the globals and cells of the user's."""
        code = self.function.__code__
        made = compile_function(self.source, node, code, () if helper is None else (helper,))
        cells = dict(zip(code.co_freevars, self.function.__closure__ or (), strict=True))
        if helper is not None:
            cells[helper] = CellType(value)
        if any(name not in cells for name in made.co_freevars):
            return None
        source = replace(self.source, node=node)
        if helper is None:
            made_from(made, source)
        closure = tuple(cells[name] for name in made.co_freevars)
        function = FunctionType(
            made, self.function.__globals__, self.function.__name__, None, closure
        )
        function.__qualname__ = self.function.__qualname__
        function.__module__ = self.function.__module__
        if helper is not None:
            self.bodies[function] = Body(function, source, helper, value)
        return function


class FusedFunctions:
    """Functions of the user's that Python calls in one decorated function, and what they call.

    The fused form of a recursive function finds itself here. Of functions that are made anew with
    each call, inner ones, the first few are fused: each would have to be traced and kept. ``told``
    are the warnings that were shown for any of them.
    """

    def __init__(self) -> None:
        self.told: set[str] = set()
        self.by_function: dict[FunctionType, Callable[..., Any]] = {}
        self._counts: Counter[CodeType] = Counter()

    def get(self, function: FunctionType, decorate: Decorate) -> Callable[..., Any]:
        """The fused form of a function, or the function itself."""
        known = self.by_function.get(function)
        if known is not None:
            return known
        code = function.__code__
        if self._counts[code] >= MOST_OF_A_CODE:
            return function
        self._counts[code] += 1
        made = self.by_function[function] = _made(function, decorate)
        return made


class _Helper:
    """What an opened function calls: its segments, and functions of the user's."""

    def __init__(self, what: Openable) -> None:
        self.what = what
        self.fused: dict[FunctionType, Callable[..., Any]] = {}
        self.calls: dict[str, SegmentCall] = {}
        self.sites: list[CallSite] = []
        self.settling: Settling | None = None

    def call(self, function: Any) -> Any:
        """A function or method of the user's in its fused form; anything else as it is."""
        if type(function) is MethodType:
            inner = self._fused_form(function.__func__)
            return function if inner is function.__func__ else MethodType(inner, function.__self__)
        return self._fused_form(function)

    def decide_again(self) -> None:
        """Something that is called has changed: ask at the next call what pays."""
        if self.settling is not None:
            self.settling.again()

    def bound(self, error: BaseException, name: str) -> Mapping[str, Any]:
        """The names of a segment, called ``name``, that has raised ``error`` in this call."""
        codes = self.calls[name].codes()
        entry = error.__traceback__
        while entry is not None:
            if entry.tb_frame.f_code in codes:
                return entry.tb_frame.f_locals
            entry = entry.tb_next
        return {}

    def _fused_form(self, function: Any) -> Any:
        if type(function) is not FunctionType:
            return function
        state = dispatcher_of(function)
        if state is not None:
            return state.called_by_python(function, self.what.function)
        known = self.fused.get(function)
        if known is None:
            known = self.what.fused.get(function, self.what.decorate)
            if function in self.what.fused.by_function:
                self.fused[function] = known
        elif _is_retired(known):  # larger arguments may still find its fused form
            return function
        return known


def _is_retired(fused: Callable[..., Any]) -> bool:
    """Whether a fused form runs the function itself, whatever the sizes of arguments."""
    state = dispatcher_of(fused)
    return state is not None and state.paying.is_plain and not state.paying.depends_on_sizes


class CallSite:
    """A call of Python's: the function that it calls may be the user's, and fused."""

    def __init__(self, helper: _Helper, number: int) -> None:
        self.helper = helper
        self.number = number
        self.functions: set[Any] = set()
        self.was_called = False

    def __call__(self, function: Any) -> Any:
        made = self.helper.call(function)
        if made is not function and not _is_decorated(function):
            inner = made.__func__ if type(made) is MethodType else made
            if inner not in self.functions:
                self.functions.add(inner)
                _watch(inner, self.helper)
        if not self.was_called:
            self.was_called = True
            self.helper.decide_again()
        return made

    @property
    def is_fused(self) -> bool:
        """Whether it calls a fused function that pays."""
        return not all(state is not None and state.paying.is_plain for state in self._states())

    @property
    def depends_on_sizes(self) -> bool:
        """Whether larger arguments may change that."""
        return any(state is not None and state.paying.depends_on_sizes for state in self._states())

    def look_again(self) -> None:
        """Ask anew whether its functions pay, at their next calls."""
        for state in self._states():
            if state is not None:
                state.paying.look_again()

    def _states(self) -> list[Any]:
        return [dispatcher_of(function) for function in self.functions]


def _watch(fused: Callable[..., Any], helper: _Helper) -> None:
    """Have a function that is opened decide anew when what it calls has changed."""
    state = dispatcher_of(fused)
    if state is not None:
        state.paying.watchers.append(helper.decide_again)


def _is_decorated(function: Any) -> bool:
    """Whether it is one of the user's with a decorator, or a method of such a one."""
    inner = function.__func__ if type(function) is MethodType else function
    return hasattr(inner, "__fusejit_state__")


def _made(function: FunctionType, decorate: Decorate) -> Callable[..., Any]:
    """The fused form of a function of the user's; anything else as it is."""
    is_other = hasattr(function, "__fusejit_state__") or hasattr(function, "__wrapped__")
    if is_other or not is_user_function(function):
        return function
    unusual = (
        inspect.iscoroutinefunction(function)
        or inspect.isasyncgenfunction(function)
        or inspect.isgeneratorfunction(function)
    )
    if unusual or _is_installed(function.__code__.co_filename):
        return function
    if isinstance(find_source(function), str):
        return function
    return decorate(function, "")


class SegmentCall:
    """A segment at its first call: then it is known what arrives, and how to run it."""

    def __init__(self, helper: _Helper, segment: Segment, function: FunctionType) -> None:
        self.helper = helper
        self.segment = segment
        self.function = function
        self.chosen: Callable[..., Any] | None = None
        self.opened: SegmentedFunction | None = None

    @property
    def lines(self) -> tuple[int, int]:
        """The first and the last line."""
        body = self.segment.node.body
        return body[0].lineno, max(s.end_lineno or s.lineno for s in body)

    @property
    def state(self) -> Any:
        """What is known of the compiled form; None before the first call, and without one."""
        return dispatcher_of(self.chosen)

    def codes(self) -> set[CodeType]:
        """The code of the frames in which Python runs its statements."""
        parts = [self.opened, *(() if self.state is None else self.state.variants.opened)]
        codes = {code for part in parts if part is not None for code in part.codes()}
        served = set() if self.state is None else self.state.carrier.bodies
        return {self.function.__code__, *codes, *served}

    @property
    def name(self) -> str:
        """Under which the opened function finds it."""
        return self.segment.name

    @property
    def was_called(self) -> bool:
        """Whether it is known what arrives."""
        return self.chosen is not None

    @property
    def is_retired(self) -> bool:
        """Whether Python runs its statements, as compiling them does not pay."""
        if self.opened is not None:
            return self.opened.is_plain
        return self.chosen is not None and (self.state is None or self.state.paying.is_plain)

    @property
    def depends_on_sizes(self) -> bool:
        """Whether larger arguments may change that."""
        if self.opened is not None:
            return self.opened.depends_on_sizes
        return self.state is not None and bool(self.state.paying.depends_on_sizes)

    def look_again(self) -> None:
        """Ask anew whether compiling it pays, at the next call."""
        inner = self.opened or next(iter(self.state.variants.opened if self.state else ()), None)
        if inner is not None and inner.settling is not None:
            inner.settling.look_again()
        elif self.state is not None:
            self.state.paying.look_again()

    def __call__(self, *args: Any) -> Any:
        if self.chosen is None:
            self._serve(self._choose(args))
            assert self.chosen is not None
            _watch(self.chosen, self.helper)
            self.helper.decide_again()
        return self.chosen(*args)

    def _changed(self, opened: SegmentedFunction) -> None:
        self._serve(opened.run)
        self.helper.decide_again()

    def _serve(self, chosen: Callable[..., Any]) -> None:
        self.chosen = chosen
        setattr(self.helper, self.segment.name, chosen)

    def _choose(self, args: Sequence[Any]) -> Callable[..., Any]:
        parameters = [a.arg for a in self.segment.node.args.args]
        opaque = frozenset(
            name
            for name, value in zip(parameters, args, strict=True)
            if name in self.segment.from_python and _is_opaque(value)
        )
        decorate, on_error = self.helper.what.decorate, self.segment.on_error
        if opaque:
            texts = texts_in(self.function)
            names = ", ".join(sorted(texts.get(n) or repr(n) for n in opaque))
            reason = f"reads {names}, which Python made"
            given = dict(zip(parameters, args, strict=True))
            are_foreign = all(why_foreign(name, given[name]) is not None for name in opaque)
            follow = _followed(map(given.get, opaque)) if are_foreign else Follow.NOTHING
            what = replace(self.helper.what, function=self.function, on_error=on_error, plain=None)
            self.opened = _opened(what, parameters, None, opaque, reason, follow=follow)
            if self.opened is None:
                return self.function
            opened = self.opened
            opened.serve_by(lambda: self._changed(opened))
            return opened.run
        return decorate(self.function, on_error)
