"""What a decorated function tells of a call without making it: its graph, MLIR, explanation."""

from __future__ import annotations

from typing import Any

from fusejit.dispatch.dispatcher import Dispatcher
from fusejit.errors import ConcretizationError, FusejitError, NeedsPython, UnsupportedError
from fusejit.explain import explain_interpreted, explain_segments, explain_variant, passes_text
from fusejit.outcome import Outcome
from fusejit.path_resolver import resolver
from fusejit.reports.answer import Answer
from fusejit.stages import Compiled, Traced, trace
from fusejit.support.tracebacks import strip_all_frames
from fusejit.tiering.interpreted_function import may_be_interpreted
from fusejit.tracer.program.fallback import Fallback


def traced(of: Dispatcher, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Traced:
    """The traced graph of a call.

    Raises
    ------
    UnsupportedError
        If the call runs as plain NumPy.
    """
    of.notice()
    try:
        return trace(of.function, args, kwargs, of.options)
    except Fallback as fallback:
        raise UnsupportedError(
            f"{of.function.__name__} has no graph for these arguments: NumPy runs the call, "
            f"because {fallback.outcome}"
        ) from None
    except FusejitError as error:
        raise strip_all_frames(error) from error.__cause__


def mlir(of: Dispatcher, args: tuple[Any, ...], kwargs: dict[str, Any], fused: bool) -> str:
    """The traced, or the fused graph of a call as MLIR text."""
    stage = traced(of, args, kwargs)
    return stage.fuse().mlir() if fused else stage.mlir()


def explained(
    of: Dispatcher, args: tuple[Any, ...], kwargs: dict[str, Any], passes: bool, detail: bool
) -> Answer:
    """What runs compiled in a call, what does not, and why.

    With ``detail`` all that the passes did; with ``passes`` also how long each of them took.
    """
    of.notice()
    name = of.function.__name__
    known = of.permanent_fallback(args, kwargs)
    if known is not None:
        return Answer.of([f"{name} runs as plain NumPy for this call: {known}"])
    arguments = of.state.arguments.bound(args, kwargs)
    values = tuple(arguments.values())
    try:
        stage = trace(of.function, args, kwargs, of.options)
        stage.log.is_detailed |= passes
        estimate = None if of.variants.compiled else of.tiering.estimate(stage, values)
        if estimate is not None and not (detail or passes):
            interpreted = of.tiering.interpreted
            if interpreted is not None and not interpreted.guard.would_reject(values):
                return explain_interpreted(name, of.variants.interpreted)
            if may_be_interpreted(estimate, is_segment=of.options.is_segment):
                return explain_interpreted(name, estimate)
        lowered = stage.fuse().lower()
    except Fallback as fallback:
        for segmented in of.variants.for_types:
            if segmented.takes(list(values)):
                return explain_segments(segmented, of.function, None, is_detailed=detail)
        return Answer.of([f"{name} runs as plain NumPy for this call: {fallback.outcome}"])
    except FusejitError as error:
        if of.options.fullgraph:
            raise strip_all_frames(error) from error.__cause__
        shown = of.variants.segmented_for(values) or of.splitter.split(error, values)
        if shown is None and isinstance(error, NeedsPython | ConcretizationError):
            shown = of.splitter.of_python(error, values)
        if shown is None:
            return Answer.of([f"{name} runs as plain NumPy for this call: {error}"])
        return explain_segments(shown, of.function, of.variants.measured, is_detailed=detail)
    refused = _refused(of, stage, values)
    if refused is not None:
        return Answer.of([f"{name} runs as plain NumPy for this call: {refused}"])
    sizes = lowered.sizes_of_call(arguments)
    made = explain_variant(lowered, sizes, of.variants, is_detailed=detail)
    if not passes:
        return made
    return Answer.of(made.head, made.rows, f"{made.rest}\n{passes_text(stage.log)}")


def why_in_python(of: Dispatcher, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """Why a call would run in Python now; empty if a variant serves it, or would be made."""
    of.notice()
    known = of.permanent_fallback(args, kwargs)
    if known is not None:
        return str(known)
    try:
        stage = trace(of.function, args, kwargs, of.options)
    except Fallback as fallback:
        return str(fallback.outcome)
    except FusejitError as error:
        return str(error)
    refused = _refused(of, stage, tuple(of.state.arguments.bound(args, kwargs).values()))
    return "" if refused is None else str(refused)


def _refused(of: Dispatcher, stage: Traced, values: tuple[Any, ...]) -> Outcome | None:
    """Why a traced call gets no variant now; None if it gets one, or has one."""
    if of.options.fullgraph:
        return None
    arguments = of.state.arguments.named(values)
    if any(_serves(of, variant, stage, arguments) for variant in of.variants.compiled):
        return None
    return of.signatures.next_refusal(values, of.free_variants)


def _serves(of: Dispatcher, variant: Compiled, stage: Traced, arguments: dict[str, Any]) -> bool:
    """Whether a variant serves a traced call: arguments are checked alike, and its guards hold."""
    traced = variant.traced
    if sorted(map(str, traced.checks)) != sorted(map(str, stage.traced.checks)):
        return False
    find = resolver(of.function, arguments, traced)
    names: dict[str, Any] = {}
    try:
        for symbol in traced.graph.symbols:
            names[symbol.name] = symbol.expr.evaluate(find, names)
        return all(bool(g.expr.evaluate(find, names)) == g.expected for g in traced.graph.guards)
    except Exception:  # what a guard reads is not there
        return False
