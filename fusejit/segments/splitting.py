"""Splitting a function: which statements Python runs, and the functions made of the rest."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from types import FunctionType
from typing import Any

from fusejit.codegen.launcher.call_guard import CallGuard, Expected, expected_of
from fusejit.dataclass import replace
from fusejit.entry_stubs.stub_code import FunctionBody
from fusejit.errors import FusejitError, NeedsPython
from fusejit.ir.host import Path
from fusejit.ir.source import Location
from fusejit.ir.traced import CheckKind, PathCheck
from fusejit.segments.opaque import HELD, followed, is_opaque
from fusejit.segments.segmented import Boundary, CallSite, Helper, SegmentCall, SegmentedFunction
from fusejit.segments.split_request import SplitRequest
from fusejit.support.interrupts import is_from_handler
from fusejit.tiering.segment_profiler import SegmentProfiler
from fusejit.tracer.breaks.cut_segments import split_function
from fusejit.tracer.breaks.python_statements import Follow
from fusejit.tracer.breaks.split_result import NOTHING, InterpretedParts, SplitFunction
from fusejit.tracer.source.source_text import (
    FunctionSource,
    as_definition,
    compile_function,
    find_source,
    made_from,
    with_code,
)


def split(
    what: SplitRequest,
    arguments: Mapping[str, Any],
    error: FusejitError,
    expected: Sequence[Expected] | None = None,
) -> SegmentedFunction | None:
    """Split a function whose trace ended with ``error``; None if that cannot be done.

    Parameters
    ----------
    what : SplitRequest
    arguments : mapping of str to object
        Those of the call by parameter, in order.
    error : FusejitError
        Tells the line.
    expected : sequence of Expected, optional
        What the arguments of the calls are like that it may serve; any by default.
    """
    line = _line_in(what.function, error)
    position = error.position
    if line is None or position is None or position[0] != line:
        position = None
    opaque = frozenset(n for n, a in arguments.items() if position is None and is_opaque(a))
    reason = error.outcome.advice
    called = error.called if isinstance(error, NeedsPython) else ""
    return _split(what, list(arguments), position, opaque, reason, called, expected=expected)


def split_for_contents(
    what: SplitRequest, arguments: Mapping[str, Any], differing: Set[str]
) -> SegmentedFunction | None:
    """Split a function so that Python runs what reads lists, texts and other objects.

    Those from outside too, a global list that grows, and ``differing``: objects that hold some.
    """
    outside = inspect.getclosurevars(what.function)
    known = {**outside.globals, **outside.nonlocals}
    held = {name for name, value in known.items() if isinstance(value, HELD)}
    opaque = frozenset(name for name, value in arguments.items() if is_opaque(value))
    opaque |= held | differing
    if not opaque:
        return None
    names = ", ".join(map(repr, sorted(opaque)))
    reason = f"reads {names}, which differ from call to call"
    return _split(what, list(arguments), None, opaque, reason)


def split_for_types(
    what: SplitRequest, arguments: Mapping[str, Any], foreign: Mapping[str, str]
) -> SegmentedFunction | None:
    """Split a function for arguments of types that no kernel is given: Python runs what reads them.

    ``foreign`` has them by parameter, and why. It serves calls with others of their kinds. If
    nothing is left to compile Python runs the whole of a part; of a function of the user's, None.
    """
    reason = "; ".join(foreign.values())
    expected = [
        expected_of(value) if name in foreign else Expected() for name, value in arguments.items()
    ]
    follow = followed(arguments[name] for name in foreign)
    made = _split(
        what, list(arguments), None, frozenset(foreign), reason, expected=expected, follow=follow
    )
    if made is not None and made.calls_something:
        made.is_for_foreign = True
        return made
    if not what.is_segment or what.plain is None:
        return None
    code = what.function.__code__
    boundaries = [Boundary(code.co_filename, code.co_firstlineno, reason)]
    source = find_source(what.function)
    body = FunctionBody(what.plain, None if isinstance(source, str) else source)
    served = body, CallGuard(expected, function=what.function)
    return SegmentedFunction(
        what.plain, boundaries, served=served, expected=expected, is_for_foreign=True
    )


def split_per_statement(
    what: SplitRequest, arguments: Mapping[str, Any]
) -> SegmentedFunction | None:
    """Split a function so that each statement is a segment: Python knows what each has bound."""
    return _split(what, list(arguments), None, frozenset(), "")


def contents_that_differ(
    variants: Iterable[Sequence[PathCheck]], *, lengths_alone: bool = False
) -> set[str]:
    """Names under which variants found other lengths, texts or classes, given their checks.

    ``log.items`` that grows makes a variant for each length, and ``log`` is such a name; so is that
    of an object of a class that a function makes again with each call. With ``lengths_alone`` only
    lists, tuples and dicts of other lengths count.
    """
    found: dict[Path, set[tuple[CheckKind, Any]]] = {}
    for checks in variants:
        for check in checks:
            is_text = check.kind is CheckKind.EQUAL and isinstance(check.expected, str | bytes)
            is_other = is_text or _is_made_anew(check.expected)
            if check.kind is CheckKind.KEYS or (is_other and not lengths_alone):
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
    reason = error.outcome.advice
    return SegmentedFunction(run, [Boundary(code.co_filename, code.co_firstlineno, reason)])


def _split(
    what: SplitRequest,
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

    def cut(interpreted: InterpretedParts) -> SplitFunction | None:
        return split_function(
            node,
            parameters,
            position,
            python_names,
            called=called,
            follow=follow,
            singly=position is None and not python_names,
            on_error=what.on_error,
            interpreted=interpreted,
        )

    try:
        return _SegmentMaker(what, source, cut, expected).make(reason)
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


class _SegmentMaker:
    """Makes functions out of the parts of one."""

    def __init__(
        self,
        what: SplitRequest,
        source: FunctionSource,
        cut: Callable[[InterpretedParts], SplitFunction | None],
        expected: Sequence[Expected] | None = None,
    ) -> None:
        self.what = what
        self.expected = expected
        self.function = what.function
        self.source = source
        self.cut = cut
        self.bodies: dict[Callable[..., Any], FunctionBody] = {}

    def make(self, reason: str) -> SegmentedFunction | None:
        cut = self.cut(NOTHING)
        if cut is None:
            return None
        self.source = replace(self.source, parts={**self.source.parts, **cut.parts})
        helper = Helper(self.what)
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
        bodies[original] = FunctionBody(original, self.source)
        if not self.what.tiering:
            like = self.expected or [Expected() for _ in cut.node.args.args]
            served = bodies[run], CallGuard(like, function=self.function)
            return SegmentedFunction(
                run, boundaries, segments, helper, None, bodies, served, self.expected
            )
        profiler = SegmentProfiler(
            run, original, remade, segments, sites, self.function, self.expected
        )
        helper.profiler = profiler
        first = profiler.first
        segmented = SegmentedFunction(
            first, boundaries, segments, helper, profiler, bodies, None, self.expected
        )
        segmented.serve_by(lambda: None)
        return segmented

    def _without(self, helper: Helper, interpreted: InterpretedParts) -> FunctionType:
        """The split function without what Python runs."""
        cut = self.cut(interpreted)
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
        function = with_code(self.function, made, {} if helper is None else {helper: value})
        if function is None:
            return None
        source = self.source.of_part(node)
        if helper is None:
            made_from(made, source)
        else:
            self.bodies[function] = FunctionBody(function, source, helper, value)
        return function
