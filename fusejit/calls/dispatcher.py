"""`Dispatcher`: from a call to the variant that serves it.

A call goes to the newest variant's launcher (`fusejit.carrier`). If that does not serve it, the
other variants are asked, and then the call is traced, fused and compiled into a new one. What
cannot be compiled runs as plain NumPy on the caller's own arguments, before anything was modified
(see Declining in docs/design.md).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any, cast

from fusejit.budget import Allowance, compiling
from fusejit.calls.alternation import Alternation, Rank, Way, guarded
from fusejit.calls.declined import DeclinedCalls
from fusejit.calls.kinds import WAITS, CallKinds
from fusejit.calls.paying import Paying
from fusejit.calls.raised import RaisedCalls
from fusejit.carrier import Body, no_variant
from fusejit.codegen.launcher.call_guard import CallGuard, Expected
from fusejit.codegen.launcher.miss import MISS, Miss
from fusejit.codegen.launcher.runtime import ERRSTATE, LEFT_TO_NUMPY, OVERLAP
from fusejit.dataclass import replace
from fusejit.decorated import Decorated
from fusejit.errors import (
    ConcretizationError,
    FusejitError,
    InternalError,
    NeedsPython,
    NumpyRaises,
    OutOfTime,
    UnsupportedError,
    VerificationError,
)
from fusejit.explain import sizes_of_call
from fusejit.failures import fault
from fusejit.frame_readers import READS_CALLERS
from fusejit.identity import Identity, own_signature
from fusejit.interrupts import CALLED_BY_NUMBA, compiler_is_taken, is_from_handler
from fusejit.locks import ForkSafeLock
from fusejit.notices import warn
from fusejit.options import Options
from fusejit.package_files import is_raised_by_us
from fusejit.profit.retiring import RetiredFunction, may_be_retired
from fusejit.profit.trial import may_be_tried
from fusejit.segments.fused_functions import FusedFunctions
from fusejit.segments.openable import Openable
from fusejit.segments.opening import (
    contents_that_differ,
    of_python,
    opened,
    opened_for_contents,
    opened_for_kinds,
    opened_singly,
)
from fusejit.segments.segmented import SegmentedFunction
from fusejit.stages import Compiled, Lowered, Traced, trace
from fusejit.tracer.capture.source_text import find_source, texts_in
from fusejit.tracer.control_flow.raises import may_raise_late
from fusejit.tracer.graph_breaks.declined import SHARED_MEMORY, Declined
from fusejit.tracer.graph_breaks.foreign import foreign_arguments, is_operand
from fusejit.tracer.runtime.locations import strip_frames

MOST_OF_KINDS = 4  # forms in segments for arguments of kinds that no kernel is given
MOST_OF_A_PART = 4  # variants, before lists and texts it is given are left to Python


class Dispatcher:
    """What a decorated function knows: its options, variants, and the slow way of a call."""

    def __init__(self, decorated: Decorated) -> None:
        # of a part: its newest variant, and the sizes of the call that it was made for
        self.newest: tuple[Lowered, dict[str, int]] | None = None
        self.function = decorated.function
        self.options = decorated.options
        self.variants = decorated.variants
        self.declined = DeclinedCalls(guesses=not self.options.fullgraph)
        self.kinds = CallKinds()
        self.raised = RaisedCalls()
        self.parts_time = decorated.parts_time or Allowance(self.options.compile_seconds)
        self.lock = ForkSafeLock()
        self.signature = decorated.signature
        self.identity = decorated.identity
        self.fused = FusedFunctions() if decorated.fused is None else decorated.fused
        self.run_plain = self.by_position()
        self.carrier = decorated.carrier
        self.paying = Paying(self)
        self.alternation = Alternation(self.carrier.serve_first, self.paying.launchers)
        self.carrier.ask(self.slow, self.rescued)
        if not self.options.enabled:
            self.carrier.serve_first(self.disabled)

    # -- a call ---------------------------------------------------------------------------------
    def slow(self, args: tuple[Any, ...], missed: Miss = MISS) -> Any:
        """A call that the carrier does not serve by itself; ``args`` are in parameter order."""
        for differs in self.raised.guards:
            if not differs(*args):
                result = self.run_plain(*args)
                self.raised.has_returned()
                return result
        if not self.identity.holds():
            return self.renewed(args)
        if self.variants.passed is not None:
            self.variants.count_passed()
            self.declined.recount()
        while True:
            seen = self.variants.compiled
            for variant in seen:
                variant.renew()
                result = self.launched(variant, args)
                if not isinstance(result, Miss):
                    self.alternation.served_by(self.paying.asked(variant))
                    return result
                missed = missed if result is MISS else result
            segmented, of_kinds = self.variants.segmented_for(args), self.variants.of_kinds
            if segmented is not None:
                self.serve_segments(segmented)
                return segmented.run(*args)
            retired = self.paying.retired
            if retired is not None and retired.serves(args):
                self.serve_retired(retired.guard)
                return self.plain(*args)
            if missed.is_fault:
                self.declined.add_kind(args, missed.reason, is_final=True)
            if missed.is_fault or missed in (ERRSTATE, OVERLAP, *LEFT_TO_NUMPY):
                return self.decline(missed.reason, args)
            known = self.declined.cause(args)
            if known is None and not self.options.fullgraph:
                if self.kinds.waits(args):
                    return self.waiting(args)
                known = self.kinds.refusal(args)
            if isinstance(known, NumpyRaises) and self.declined.is_guess(args):
                result = self.raising(args)  # like the one before, most often
                self.declined.forget(args)
                return result
            if known is None and compiler_is_taken():
                known = CALLED_BY_NUMBA
            if known is not None:
                return self.decline(known, args)
            with self.lock:
                is_same = self.variants.of_kinds is of_kinds and self.variants.compiled is seen
                if is_same and self.variants.segmented is None:  # no other thread made one
                    made = self.compiled(args)
                    break
        if isinstance(made, str):
            return self.decline(made, args)
        if isinstance(made, SegmentedFunction):
            return made.run(*args)
        if isinstance(made, RetiredFunction):
            return self.plain(*args)
        result = self.launched(made, args)
        if not isinstance(result, Miss):
            self.kinds.note_variant(args)
            self.carrier.serve_first(self.paying.asked(made))
            return result
        if result not in LEFT_TO_NUMPY:
            self.drop(made)
        if result is MISS:
            self.declined.add(args, result.reason)
        elif result.is_fault:
            self.declined.add_kind(args, result.reason, is_final=True)
        return self.decline(result.reason, args)

    def waiting(self, args: tuple[Any, ...]) -> Any:
        """A call with new texts, which is compiled when they come back."""
        counts, plain = self.variants.declined, self.run_plain
        counts[WAITS] += 1
        guard = self.kinds.ever_other(args, cast(Any, self.function))
        if guard is not None:

            def waiting(*args: Any) -> Any:
                counts[WAITS] += 1
                return plain(*args)

            alone = partial(self.serve_python, guard)
            way = Way(guarded(guard, waiting), Rank.DECLINED, WAITS, alone)
            self.alternation.served(way)
        return plain(*args)

    def run_segments(self, *args: Any) -> Any:
        """The function in segments, unless it was changed."""
        segmented = self.variants.segmented
        return segmented.run(*args) if segmented is not None and self.identity.holds() else MISS

    def serve_segments(self, segmented: SegmentedFunction) -> None:
        """Have segments serve calls, among others; alone unless a variant does."""
        if segmented not in self.variants.opened:
            return
        served = segmented.served
        if served is not None:
            body, guard = served

            def alone() -> bool:
                if self.variants.compiled or segmented.served is not served:
                    return False
                self.carrier.serve_body(body, guard)
                return True

            self.alternation.served(Way(guarded(guard, body.run), Rank.SEGMENTS, guard, alone))
        elif not self.variants.compiled:
            is_for_all = segmented is self.variants.segmented
            self.carrier.serve_first(self.run_segments if is_for_all else no_variant)

    def serve_retired(self, guard: CallGuard) -> None:
        """Have Python serve calls that a guard lets pass, among others."""
        way = guarded(guard, self.run_plain)
        alone = partial(self.serve_python, guard)
        self.alternation.served(Way(way, Rank.PYTHON, guard, alone))

    def serve_python(self, guard: CallGuard) -> bool:
        """Have the function's own statements serve calls, unless a variant does."""
        if self.variants.compiled:
            return False
        self.carrier.serve_body(self.own_body(), guard)
        return True

    def own_body(self) -> Body:
        """The statements of the function."""
        source = find_source(cast(Any, self.function))
        return Body(self.run_plain, None if isinstance(source, str) else source)

    def disabled(self, *args: Any) -> Any:
        """The function as Python runs it, with default values as they are now."""
        return self.plain(*args) if self.identity.holds() else self.renewed(args)

    def renewed(self, args: tuple[Any, ...]) -> Any:
        """A call of a function whose code or default values were replaced, from which all begins.

        The carrier has filled in the old default values already: they stand for the new ones.
        """
        with self.lock:
            old, old_signature = self.identity, self.signature
            self.identity = Identity(cast(Any, self.function))
            self.signature = own_signature(self.function)
            self.run_plain = self.by_position()
            self.variants.compiled = ()
            self.variants.segmented = None
            self.variants.of_kinds = ()
            self.raised.forget()
            self.variants.retired = ""
            self.paying.retired = self.paying.trial = None
            self.declined = DeclinedCalls(guesses=not self.options.fullgraph)
            self.alternation.forget(no_variant)
            self.carrier.renew(self.function, self.signature)
            if not self.options.enabled:
                self.carrier.serve_first(self.disabled)
        positional, keywords = old.given(old_signature, args)
        return self.carrier.function(*positional, **keywords)

    def launched(self, variant: Compiled, args: tuple[Any, ...]) -> Any:
        """What a variant's launcher returns; a `Miss` if it fails early enough."""
        try:
            return variant.launch(*args)
        except Exception as error:
            missed = self.rescued(error)
            if missed is None:
                raise
        return missed

    def rescued(self, error: Exception) -> Miss | None:
        """A miss that is a fault, if a launcher has failed and NumPy can run the call.

        That is not so if the exception is one of the program's, or if the caller could have seen
        something already.
        """
        if self.options.fullgraph:
            return None
        by_code = {cast(Any, v.launch).__code__: v for v in self.variants.compiled}
        entry = error.__traceback__
        while entry is not None and entry.tb_frame.f_code not in by_code:
            entry = entry.tb_next
        if entry is None or not is_raised_by_us(error) or is_from_handler(error):
            return None
        variant = by_code[entry.tb_frame.f_code]
        if not variant.launcher.can_start_anew(entry.tb_lineno):
            return None
        if isinstance(error, RecursionError | MemoryError):  # no fault of the launcher
            kind = type(error).__name__
            return Miss(NumpyRaises(f"NumPy raises {kind}", f"{kind} in a launcher"), is_fault=True)
        self.drop(variant)
        return Miss(str(self.fault(error, "launch")), is_fault=True)

    def drop(self, variant: Compiled) -> None:
        """Forget a variant."""
        with self.lock:
            kept = tuple(v for v in self.variants.compiled if v is not variant)
            self.variants.compiled = kept
            self.alternation.forget(no_variant)
            if self.carrier.first == self.paying.asked(variant):
                self.carrier.serve_first(no_variant)

    # -- a new variant --------------------------------------------------------------------------
    def compiled(
        self, args: tuple[Any, ...]
    ) -> Compiled | SegmentedFunction | RetiredFunction | str:
        """A new variant for a call, entered into the table, or why there is none.

        A function in which Python has to run a statement is opened instead, once and for all calls
        that no earlier variant serves.
        """
        if self.options.is_part and len(self.variants) >= MOST_OF_A_PART:
            segmented = self.without_contents(args)
            if segmented is not None:
                return self.entered(segmented)
        if len(self.variants) >= self.options.max_variants:
            return f"more than {self.options.max_variants} variants"
        try:
            return self.variant(args)
        except Declined as declined:
            segmented = self.opened_for_kinds(args)
            if segmented is not None:
                return segmented
            self.declined.add(args, declined.cause)
            return declined.cause
        except RecursionError:  # of a program that is that deep
            return NumpyRaises("NumPy raises RecursionError", "RecursionError while tracing")
        except OutOfTime as error:
            self.declined.add_kind(args, str(error), is_final=True)
            return str(error)
        except FusejitError as error:
            if self.options.fullgraph:
                raise strip_frames(error) from error.__cause__
            return self.left_to_python(error, args)

    def options_now(self) -> Options:
        """The options; where another number is shown in text, Python makes the text from now on."""
        shows = any(v.traced.shows_numbers for v in self.variants.compiled)
        if not shows or self.options.fullgraph:
            return self.options
        return replace(self.options, python_texts=True)

    def given_up(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> str | None:
        """Why calls like this one are never compiled; None if they may be."""
        if self.carrier.is_plain:
            return READS_CALLERS
        try:
            values = tuple(self.bound(args, kwargs).values())
        except TypeError:  # it is no call of the function
            return None
        return self.declined.final(values)

    def variant(self, args: tuple[Any, ...]) -> Compiled | SegmentedFunction | RetiredFunction:
        """The whole function as one variant."""
        known = self.paying.tried_again(args)
        if known is not None:
            return known
        seconds = self.parts_time if self.options.is_part else self.options.compile_seconds
        with compiling(self.function.__name__, seconds):
            traced = trace(self.function, *self.split(args), self.options_now())
            if self.options.on_error and may_raise_late(traced.graph):
                return self.entered(self.apart(traced, args))
            with self.failing("decide what pays"):
                estimate = self.paying.estimate(traced, args)
                if estimate is not None and may_be_retired(estimate, is_part=self.options.is_part):
                    return self.paying.retire(estimate, args)
            lowered = traced.fuse().lower()
            variant = lowered.compile()
        self.variants.compiled = (variant, *self.variants.compiled)
        if estimate is not None and may_be_tried(estimate, traced.graph):
            self.paying.try_out(variant, estimate, args)
        if self.options.is_part:  # nobody but us has its arguments
            self.newest = lowered, sizes_of_call(lowered, self.named(args))
        return variant

    def left_to_python(self, error: FusejitError, args: tuple[Any, ...]) -> SegmentedFunction | str:
        """What cannot be compiled: the statement is Python's, or else all calls of this kind."""
        is_fault = isinstance(error, InternalError | VerificationError)
        is_of_python = isinstance(error, NeedsPython | ConcretizationError)
        segmented = self.opened(error, self.named(args))
        if segmented is None and not is_of_python and not self.options.is_part:
            self.declined.add_kind(args, str(error), is_final=is_fault)
            return str(error)
        is_empty = segmented is None or not segmented.calls_something
        if is_empty and isinstance(error, NeedsPython) and error.may_change:
            self.declined.add(args, str(error))
            return str(error)
        name = self.function.__name__
        if segmented is None:
            segmented = self.of_python(error)
            if not is_of_python or not self.options.is_part:
                self.note(str(error))
        elif not is_of_python:
            self.tell(f"Python runs a statement of {name}: {error}")
        elif isinstance(error, NeedsPython) and error.is_loop:
            self.tell(f"Python runs a loop of {name}: {error}")
        return self.entered(segmented)

    def entered(self, segmented: SegmentedFunction) -> SegmentedFunction:
        """Let segments serve calls; what is whole for other types stays so."""
        if segmented.expected is None:
            self.variants.segmented = segmented
        else:
            self.variants.of_kinds = (segmented, *self.variants.of_kinds)
        segmented.serve_by(lambda: self.segments_changed(segmented))
        self.segments_changed(segmented)
        return segmented

    def segments_changed(self, segmented: SegmentedFunction) -> None:
        """Have segments serve calls as they are now, and tell who asks whether they pay."""
        self.alternation.forget(no_variant)
        self.serve_segments(segmented)
        self.paying.tell()

    def raising(self, args: tuple[Any, ...]) -> Any:
        """A call that is expected to raise: if it does, others like it are run by Python at once.

        Not under ``fullgraph=True``: one that does not raise must not be run by Python unseen. Nor
        where what can be compiled shall be: others like it may not raise.
        """
        try:
            return self.plain(*args)
        except Exception:
            if self.options.retires and not self.options.fullgraph:
                self.raised.add(args, cast(Any, self.function))
            raise

    def by_position(self) -> Callable[..., Any]:
        """The undecorated function; takes all parameters by position."""
        simple = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        is_simple = all(p.kind in simple for p in self.signature.parameters.values())
        return self.function if is_simple else self.by_keyword

    # -- segments -------------------------------------------------------------------------------
    def opened(self, error: FusejitError, arguments: Mapping[str, Any]) -> SegmentedFunction | None:
        """The function as segments with Python between them; None if no statement can be opened."""
        if isinstance(error, InternalError | VerificationError):
            return None
        return opened(self.openable(), arguments, error)

    def opened_for_kinds(self, args: tuple[Any, ...]) -> SegmentedFunction | None:
        """The function in segments, for a call with arguments of kinds that no kernel is given."""
        foreign = foreign_arguments(self.named(args), texts_in(cast(Any, self.function)))
        is_full = len(self.variants.of_kinds) >= MOST_OF_KINDS
        if self.options.fullgraph or not foreign or is_full:
            return None
        made = opened_for_kinds(self.openable(), self.named(args), foreign)
        if made is None:
            return None
        source = find_source(cast(Any, self.function))
        name = self.function.__name__
        what = f"{name} runs as plain NumPy for this call"
        if made.calls_something:
            what = f"Python runs statements of {name}"
        for parameter, why in foreign.items():
            if isinstance(source, str) or is_operand(source.node, parameter):
                self.tell(f"{what}: {why}")
        return self.entered(made)

    def openable(self) -> Openable:
        """The function, and how its segments are compiled."""
        return Openable(
            cast(Any, self.function),
            self.decorate_part,
            self.fused,
            self.options.on_error,
            lambda error: self.note(str(self.fault(error, "open"))),
            self.run_plain,
            self.options.retires,
            self.options.is_part,
        )

    def apart(self, traced: Traced, args: tuple[Any, ...]) -> SegmentedFunction:
        """Each statement by itself of a segment that may raise behind a store: names are read."""
        made = opened_singly(self.openable(), self.named(args))
        at = traced.traced.location
        text = (
            f"{at.file}:{at.line}, in {at.function}: may raise behind a store, in a `try` or `with`"
        )
        return self.of_python(UnsupportedError(text)) if made is None else made

    def of_python(self, error: FusejitError) -> SegmentedFunction:
        """A part as Python runs it."""
        made = of_python(cast(Any, self.function), self.plain, error)
        anything = [Expected() for _ in self.signature.parameters]
        made.served = self.own_body(), CallGuard(anything, function=cast(Any, self.function))
        return made

    def without_contents(self, args: tuple[Any, ...]) -> SegmentedFunction | None:
        """A part for which the contents of lists or texts make variants: Python reads those."""
        differing = contents_that_differ(v.traced.checks for v in self.variants.compiled)
        return opened_for_contents(self.openable(), self.named(args), differing)

    def decorate_part(self, function: Callable[..., Any], on_error: str) -> Callable[..., Any]:
        """A segment, or a function that Python calls between segments, in its fused form."""
        options = replace(self.options, is_part=True, on_error=on_error)
        try:
            made = Decorated(function, options, self.fused, self.parts_time)
            return made.carrier.function
        except Exception as error:  # of ours: Python runs it as it is
            if is_from_handler(error):
                raise
            self.note(str(self.fault(error, "decorate")))
            return function

    def called_by_python(
        self, function: Callable[..., Any], caller: Callable[..., Any]
    ) -> Callable[..., Any]:
        """What Python calls in ``caller`` instead of ``function``, which is decorated."""
        segmented = self.variants.segmented
        if segmented is None or function is not self.carrier.function:
            is_plain = self.paying.retired is not None and not self.variants.compiled
            if is_plain and not self.paying.depends_on_sizes and function is self.carrier.function:
                return self.function
            return function
        if self.variants.compiled and caller is not self.function:
            return function
        return segmented.called_by_python(cast(Any, function)) or function

    # -- arguments ------------------------------------------------------------------------------
    def bound(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """All arguments of a call by parameter, in order."""
        bound = self.signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return bound.arguments

    def named(self, args: tuple[Any, ...]) -> dict[str, Any]:
        """Values in parameter order by parameter."""
        return dict(zip(self.signature.parameters, args, strict=True))

    def split(self, args: tuple[Any, ...]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Values in parameter order as positional and keyword arguments of the function."""
        bound = inspect.BoundArguments(self.signature, cast(Any, self.named(args)))
        return bound.args, bound.kwargs

    # -- plain NumPy ----------------------------------------------------------------------------
    def plain(self, *args: Any) -> Any:
        """Run the undecorated function; ``args`` are in parameter order."""
        return self.run_plain(*args)

    def by_keyword(self, *args: Any) -> Any:
        """Run the undecorated function, some parameters of which are given by keyword."""
        positional, keywords = self.split(args)
        return self.function(*positional, **keywords)

    def decline(self, cause: str, args: tuple[Any, ...]) -> Any:
        """Run the undecorated function; warn once per cause unless NumPy raises."""
        if isinstance(cause, NumpyRaises):
            result = self.raising(args)
            self.note(cause.otherwise)
            return result
        if self.options.fullgraph:
            self.variants.declined[cause] += 1
            raise UnsupportedError(
                f"{self.function.__name__}: this call cannot be compiled: {cause}. Without "
                "fullgraph=True it runs as plain NumPy."
            )
        self.note(cause)
        self.serve_declined(args, cause)
        return self.plain(*args)

    def serve_declined(self, args: tuple[Any, ...], cause: str) -> None:
        """Have the function's own statements serve calls that are always declined."""
        function = cast(Any, self.function)

        def alone() -> bool:
            if self.variants.compiled or self.variants.segmented or self.paying.retired:
                return False
            guard = self.declined.guard(args, function)
            if guard is None:
                return False
            self.variants.passed = cause, guard
            return self.serve_python(guard)

        def run(cause: str) -> Callable[..., Any]:
            counts, plain = self.variants.declined, self.run_plain

            def declined(*args: Any) -> Any:
                counts[cause] += 1
                return plain(*args)

            return declined

        passing = self.declined.passing(args, function, run)
        if passing is not None:
            key, call = passing
            self.alternation.served(Way(call, Rank.DECLINED, key, alone))

    def note(self, cause: str) -> None:
        """Count a declined call; the first one of a cause warns at the user's line.

        A part may be given an array and a view of it because a statement was cut between them:
        that is told by `explain` only, as no argument of the user's has to share memory.
        """
        self.variants.declined[cause] += 1
        if self.options.is_part and cause in (SHARED_MEMORY, OVERLAP.reason):
            return
        if self.variants.declined[cause] == 1:
            self.tell(f"{self.function.__name__} runs as plain NumPy for this call: {cause}")

    def tell(self, text: str) -> None:
        """Warn at the user's line, once, unless nobody wants to know."""
        if self.options.warn and text not in self.fused.told:
            self.fused.told.add(text)
            warn(text)

    @contextmanager
    def failing(self, stage: str) -> Iterator[None]:
        """What fails in a stage that has no IR is a fault of fusejit."""
        try:
            yield
        except Exception as error:
            if is_from_handler(error) or isinstance(error, Warning | FusejitError):
                raise  # a warning may have been made an error
            raise self.fault(error, stage) from error

    def fault(self, error: Exception, stage: str) -> InternalError:
        """A fault of fusejit in a stage that has no IR, with a report."""
        return fault(self.function.__name__, self.options, error, [stage])
