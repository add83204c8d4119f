"""Functions that run as compiled segments with Python between them.

A function in which Python has to run a statement (a call that cannot be followed, a write to an
object from outside) is split: see `fusejit.tracer.breaks.cut_segments`. Its segments are
functions that are decorated in their turn, so that each is compiled for the types that arrive
there, once for all calls and iterations, and is split itself when it meets such a statement.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from inspect import CO_VARARGS, CO_VARKEYWORDS
from types import CodeType, FunctionType, MethodType
from typing import Any

from fusejit.codegen.launcher.call_guard import CallGuard, Expected, are_like
from fusejit.dataclass import dataclass, field
from fusejit.entry_stubs.stub_code import FunctionBody
from fusejit.ir.analysis.exactness import is_exact
from fusejit.segments.find_dispatcher import dispatcher_of
from fusejit.segments.split_request import SplitRequest
from fusejit.support.tracebacks import strip_segment_calls
from fusejit.tiering.segment_profiler import SegmentProfiler
from fusejit.tracer.breaks.split_result import Segment
from fusejit.tracer.values.foreign import why_foreign_within


@dataclass(slots=True)
class Boundary:
    """A statement that Python runs, and why."""

    file: str
    line: int
    reason: str


@dataclass(slots=True)
class SegmentedFunction:
    """A split function, or one that Python runs whole.

    Attributes
    ----------
    run : callable
        Takes the parameters by position.
    boundaries : list of Boundary
        The statements that Python runs.
    segments : list of callable
        The compiled parts in the order of the program.
    profiler : SegmentProfiler or None
        Which of them pay; tells who serves calls from now on.
    bodies : dict of callable to FunctionBody
        The statements of functions that have served calls.
    served : tuple of FunctionBody and CallGuard, or None
        The statements that serve calls now and what is asked first; None if `run` decides.
    expected : sequence of Expected or None
        What the arguments of a call are like that it may serve; None for any call.
    is_for_foreign : bool
        Whether it serves only calls with arguments that no kernel is given.
    """

    run: Callable[..., Any]
    boundaries: list[Boundary]
    segments: list[SegmentCall] = field(default_factory=list)
    helper: Helper | None = None
    profiler: SegmentProfiler | None = None
    bodies: dict[Callable[..., Any], FunctionBody] = field(default_factory=dict)
    served: tuple[FunctionBody, CallGuard] | None = None
    expected: Sequence[Expected] | None = None
    is_for_foreign: bool = False

    def takes(self, args: Sequence[Any]) -> bool:
        """Whether it may serve a call."""
        if self.expected is None:
            return True
        given = zip(self.expected, args, strict=True)
        return are_like(self.expected, args) and all(
            why_foreign_within("", arg) is not None
            for one, arg in given
            if one.kind is not None and self.is_for_foreign
        )

    def serve_by(self, serve: Callable[[], None]) -> None:
        """Call ``serve`` whenever it changes what serves calls."""
        if self.profiler is None:
            return
        reprofile_call = self.profiler.reprofile_call

        def changed(run: Callable[..., Any], guard: CallGuard | None) -> None:
            self.run, self.served = run, None
            if guard is not None:
                self.served = self.bodies.get(run, FunctionBody(run)), guard
            if guard is not None and not guard.is_open:
                asks = guard.rejects
                self.run = lambda *args: reprofile_call(*args) if asks(*args) else run(*args)
            serve()

        self.profiler.serve = changed

    @property
    def calls_something(self) -> bool:
        """Whether it has segments, or calls of functions that may be fused."""
        return bool(self.segments) or (self.helper is not None and bool(self.helper.sites))

    @property
    def runs_interpreted(self) -> bool:
        """Whether nothing in it is compiled or pays: the function itself runs."""
        return not self.segments if self.profiler is None else self.profiler.runs_interpreted

    def compiles_nothing(self, asked: set[int]) -> bool:
        """Whether nothing in it is compiled, nor in what it calls, besides what is ``asked``."""
        parts: list[SegmentCall | CallSite] = [*self.segments]
        parts += [] if self.helper is None else self.helper.sites
        return all(part.compiles_nothing(asked) for part in parts)

    @property
    def depends_on_sizes(self) -> bool:
        """Whether larger arguments may change that."""
        return bool(self.segments) if self.profiler is None else self.profiler.depends_on_sizes

    def codes(self) -> Iterator[CodeType]:
        """The code of the frames in which Python has run its statements."""
        runs = [self.run] if self.profiler is None else self.profiler.runs
        yield from (run.__code__ for run in runs if isinstance(run, FunctionType))

    def called_by_python(self, function: FunctionType) -> Callable[..., Any] | None:
        """What Python may call instead of the decorated ``function``, with the same arguments.

        So a recursion comes as deep as undecorated: each call is one frame.
        """
        run = self.run if self.profiler is None else self.profiler.runs[-1]
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


class Helper:
    """The functions that a split function calls: its segments, and functions of the user's."""

    def __init__(self, what: SplitRequest) -> None:
        self.what = what
        self.fused: dict[FunctionType, Callable[..., Any]] = {}
        self.calls: dict[str, SegmentCall] = {}
        self.sites: list[CallSite] = []
        self.profiler: SegmentProfiler | None = None
        self.strip_segment_calls = strip_segment_calls

    def decide_again(self) -> None:
        """Something that is called has changed: ask at the next call what pays."""
        if self.profiler is not None:
            self.profiler.again()

    def bound(self, error: BaseException, name: str) -> Mapping[str, Any]:
        """The names of a segment, called ``name``, that has raised ``error`` in this call."""
        codes = self.calls[name].codes()
        entry = error.__traceback__
        while entry is not None:
            if entry.tb_frame.f_code in codes:
                return entry.tb_frame.f_locals
            entry = entry.tb_next
        return {}

    def fused_form(self, function: Any) -> Any:
        """A function of the user's in its fused form; anything else as it is."""
        if type(function) is not FunctionType:
            return function
        state = dispatcher_of(function)
        if state is not None:
            return state.splitter.called_by_python(function, self.what.function)
        known = self.fused.get(function)
        if known is None:
            known = self.what.fused.get(function, self.what.decorate)
            if function in self.what.fused.by_function:
                self.fused[function] = known
        elif _runs_interpreted(known):  # larger arguments may still find its fused form
            return function
        return known


def _runs_interpreted(fused: Callable[..., Any]) -> bool:
    """Whether a fused form runs the function itself, whatever the sizes of arguments."""
    state = dispatcher_of(fused)
    return (
        state is not None and state.tiering.runs_interpreted and not state.tiering.depends_on_sizes
    )


class CallSite:
    """A call of Python's: the function that it calls may be the user's, and fused."""

    def __init__(self, helper: Helper, number: int) -> None:
        self.helper = helper
        self.number = number
        self.functions: set[Any] = set()
        self.was_called = False
        self._last: tuple[Any, Any] = (self, self)  # what was called, its form until that changes

    def __call__(self, function: Any) -> Any:
        if type(function) is MethodType:
            own = function.__func__
            inner = self._fused_form(own)
            return function if inner is own else MethodType(inner, function.__self__)
        return self._fused_form(function)

    def _fused_form(self, function: Any) -> Any:
        last, made = self._last
        if last is function:
            return made
        made = self.helper.fused_form(function)
        is_ours = function in self.helper.fused if type(function) is FunctionType else False
        if is_ours and made is not function and made not in self.functions:
            self.functions.add(made)
            _watch(made, self._changed)
        if not self.was_called:
            self.was_called = True
            self.helper.decide_again()
        if is_ours:  # which keeps it alive
            self._last = function, made
        return made

    def _changed(self) -> None:
        self._last = self, self
        self.helper.decide_again()

    @property
    def is_fused(self) -> bool:
        """Whether it calls a fused function that pays.

        A recursion by itself does not: functions that call each other do not pay for each other.
        """
        asked: set[int] = set()
        return not all(
            state is not None
            and (state.tiering.runs_interpreted or state.tiering.compiles_nothing(asked))
            for state in self.states()
        )

    def compiles_nothing(self, asked: set[int]) -> bool:
        """Whether nothing is compiled in what it calls, besides what is ``asked`` already."""
        return self.was_called and all(
            state is not None and state.tiering.compiles_nothing(asked) for state in self.states()
        )

    @property
    def depends_on_sizes(self) -> bool:
        """Whether larger arguments may change that."""
        return any(state is not None and state.tiering.depends_on_sizes for state in self.states())

    @property
    def may_be_tried(self) -> bool:
        """Whether Python computes the very bits that the functions which it calls do."""
        return all(_has_bits_of_python(state, set()) for state in self.states())

    def request_reprofile(self) -> None:
        """Check again whether its functions pay, at their next calls."""
        for state in self.states():
            if state is not None:
                state.tiering.request_reprofile()

    def states(self) -> list[Any]:
        """What is known of the fused functions that it has called."""
        return [dispatcher_of(function) for function in self.functions]


def _has_bits_of_python(state: Any, asked: set[int]) -> bool:
    """Whether kernels of a function and of all that it calls compute the very bits of Python."""
    if state is None or id(state) in asked:
        return True
    asked.add(id(state))
    states: list[Any] = []
    for segmented in state.variants.all_segmented:
        states += [segment.state for segment in segmented.segments]
        sites = () if segmented.helper is None else segmented.helper.sites
        states += [inner for site in sites for inner in site.states()]
    are_exact = (is_exact(variant.traced.graph) for variant in state.variants.compiled)
    return all(are_exact) and all(_has_bits_of_python(inner, asked) for inner in states)


def _is_constant(statement: ast.stmt) -> bool:
    """Whether a statement is a docstring, or another constant by itself."""
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _watch(fused: Callable[..., Any], changed: Callable[[], None]) -> None:
    """Have ``changed`` called when it changes whether a function pays."""
    state = dispatcher_of(fused)
    if state is not None:
        state.tiering.watchers.append(changed)


class SegmentCall:
    """A segment at its first call: then it is known what arrives, and how to run it."""

    def __init__(self, helper: Helper, segment: Segment, function: FunctionType) -> None:
        self.helper = helper
        self.segment = segment
        self.function = function
        self.chosen: Callable[..., Any] | None = None

    @property
    def lines(self) -> tuple[int, int]:
        """The first and the last line; a docstring is none of them."""
        body = self.segment.node.body
        first = body[1] if len(body) > 1 and _is_constant(body[0]) else body[0]
        return first.lineno, max(s.end_lineno or s.lineno for s in body)

    @property
    def state(self) -> Any:
        """The state of the compiled form; None before the first call, and without one."""
        return dispatcher_of(self.chosen)

    def codes(self) -> set[CodeType]:
        """The code of the frames in which Python runs its statements."""
        parts = () if self.state is None else self.state.variants.all_segmented
        codes = {code for part in parts for code in part.codes()}
        served = set() if self.state is None else self.state.entry_stub.bodies
        return {self.function.__code__, *codes, *served}

    @property
    def name(self) -> str:
        """Under which the split function finds it."""
        return self.segment.name

    @property
    def was_called(self) -> bool:
        """Whether it is known what arrives."""
        return self.chosen is not None

    @property
    def is_interpreted(self) -> bool:
        """Whether Python runs its statements, as compiling them does not pay."""
        return self.chosen is not None and (
            self.state is None or self.state.tiering.runs_interpreted
        )

    @property
    def may_be_tried(self) -> bool:
        """Whether Python computes the very bits that its kernels do."""
        return self.state is not None and _has_bits_of_python(self.state, set())

    @property
    def may_take_long(self) -> bool:
        """Whether Python's form of a long call is not much longer, by the estimate."""
        return self.state is None or self.state.tiering.may_take_long

    def compiles_nothing(self, asked: set[int]) -> bool:
        """Whether nothing in it is compiled, nor in what it calls, besides what is ``asked``."""
        return self.was_called and (
            self.state is None or self.state.tiering.compiles_nothing(asked)
        )

    @property
    def depends_on_sizes(self) -> bool:
        """Whether larger arguments may change that."""
        return self.state is not None and bool(self.state.tiering.depends_on_sizes)

    def request_reprofile(self) -> None:
        """Check again whether compiling it pays, at the next call."""
        inner = next(iter(self.state.variants.all_segmented if self.state else ()), None)
        if inner is not None and inner.profiler is not None:
            inner.profiler.request_reprofile()
        elif self.state is not None:
            self.state.tiering.request_reprofile()

    def __call__(self, *args: Any) -> Any:
        if self.chosen is None:
            self.chosen = self.helper.what.decorate(self.function, self.segment.on_error)
            setattr(self.helper, self.segment.name, self.chosen)
            _watch(self.chosen, self.helper.decide_again)
            self.helper.decide_again()
        return self.chosen(*args)
