"""`Dispatcher`: from a call to the variant that serves it.

A call goes to the newest variant's launcher (`fusejit.carrier`). If that does not serve it, the
other variants are asked, and then the call is traced, fused and compiled into a new one. What
cannot be compiled runs as plain NumPy on the caller's own arguments, before anything was modified
(see Declining in docs/design.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from fusejit.budget import compiling
from fusejit.calls.alternation import Alternation
from fusejit.calls.kinds import FREE, FREE_OF_A_PART, FREE_OF_LATE_PARTS, MANY, CallKinds
from fusejit.calls.paying import Paying
from fusejit.calls.raised import RaisedCalls
from fusejit.calls.segmenting import Segmenting
from fusejit.calls.serving import Serving
from fusejit.calls.state import FunctionState
from fusejit.carrier import no_variant
from fusejit.dataclass import replace
from fusejit.decorated import Decorated
from fusejit.errors import (
    FusejitError,
    NeedsPython,
    OutOfTime,
    UnsupportedError,
)
from fusejit.explain import sizes_of_call
from fusejit.frame_readers import READS_CALLERS
from fusejit.interrupts import CALLED_BY_NUMBA, compiler_is_taken, is_from_handler
from fusejit.ir.raw_reads import defined_by, has_asking_class
from fusejit.options import Options
from fusejit.outcome import MISS, Outcome, OutcomeKind, declined, numpy_raising
from fusejit.package_files import is_raised_by_us
from fusejit.profit.retiring import RetiredFunction, may_be_retired
from fusejit.profit.trial import may_be_tried, spoil
from fusejit.segments.segmented import SegmentedFunction
from fusejit.stages import Compiled, Lowered, trace
from fusejit.tracer.control_flow.raises import may_raise_late
from fusejit.tracer.graph_breaks.declined import Declined
from fusejit.tracer.runtime.locations import strip_frames

MOST_OF_A_PART = 4  # variants, or calls that wait, before Python reads the lists it is given


class Dispatcher:
    """What serves a decorated function's calls: the slow way of a call, and new variants.

    Attributes
    ----------
    state : FunctionState
    function, options, variants, carrier, telling
        Its own.
    serving : Serving
    paying : Paying
    segmenting : Segmenting
    newest : tuple or None
        Of a part: its newest variant, and the sizes of the call that it was made for.
    """

    def __init__(self, decorated: Decorated) -> None:
        self.newest: tuple[Lowered, dict[str, int]] | None = None
        self.state = state = FunctionState(decorated)
        self.variants = state.variants
        self.options = state.options
        self.function = state.function
        self.carrier = state.carrier
        self.telling = state.telling
        self.kinds = CallKinds()
        self.raised = RaisedCalls()
        self.serving = Serving(state)
        self.paying = Paying(state, self.serving, self.launched)
        self.segmenting = Segmenting(state, self.serving, self.paying)
        state.alternation = Alternation(state.carrier.serve_first, self.paying.launchers)
        state.carrier.ask(self.slow, self.rescued)
        if not state.options.enabled:
            state.carrier.serve_first(self.disabled)

    # -- a call ---------------------------------------------------------------------------------
    def slow(self, args: tuple[Any, ...], missed: Outcome = MISS) -> Any:
        """A call that the carrier does not serve by itself; ``args`` are in parameter order."""
        if any(map(has_asking_class, args)):
            return self.unasked(args)
        for arg in args:
            if defined_by(type(arg), "__fuse_jit_call__") is not None:
                return type(arg).__fuse_jit_call__(self.carrier.function, args)
        for differs in self.raised.guards:
            if not differs(*args):
                result = self.state.run_plain(*args)
                self.raised.has_returned()
                return result
        if not self.state.identity.holds():
            return self.renewed(args)
        if self.variants.passed is not None:
            self.variants.count_passed()
            self.state.declined.recount()
        while True:
            seen = self.variants.compiled
            for variant in seen:
                variant.renew()
                result = self.launched(variant, args)
                if not isinstance(result, Outcome):
                    self.state.alternation.served_by(self.paying.asked(variant))
                    return result
                missed = missed if result is MISS else result
            segmented, of_kinds = self.variants.segmented_for(args), self.variants.of_kinds
            if segmented is not None:
                self.serving.serve_segments(segmented)
                return segmented.run(*args)
            retired = self.paying.retired
            if retired is not None and retired.serves(args):
                self.serving.serve_retired(retired.guard)
                return self.state.run_plain(*args)
            result = self.paying.tried_again(args)
            if not isinstance(result, Outcome):
                return result
            if missed.is_fault:
                self.state.declined.add_kind(args, missed)
            if missed.kind is not OutcomeKind.GUARD_FAILED:
                return self.decline(missed, args)
            known = self.state.declined.outcome(args)
            if known is None and not self.options.fullgraph:
                if self.kinds.waits(args):
                    segmented = self.segments_of_part(self.kinds.waited(args), args)
                    if segmented is not None:
                        return segmented.run(*args)
                    self.serving.serve_waiting(self.kinds, args)
                    return self.state.run_plain(*args)
                known = self.kinds.refusal(args, self.free_variants)
            if _is_raised(known) and self.state.declined.is_guess(args):
                result = self.raising(args)  # like the one before, most often
                self.state.declined.forget(args)
                return result
            if known is None and compiler_is_taken():
                known = declined(CALLED_BY_NUMBA)
            if known is not None:
                return self.decline(known, args)
            with self.state.lock:
                is_same = self.variants.of_kinds is of_kinds and self.variants.compiled is seen
                if is_same and self.variants.segmented is None:  # no other thread made one
                    made = self.compiled(args)
                    break
        if isinstance(made, Outcome):
            return self.decline(made, args)
        if isinstance(made, SegmentedFunction):
            return made.run(*args)
        if isinstance(made, RetiredFunction):
            return self.state.run_plain(*args)
        result = self.launched(made, args)
        if not isinstance(result, Outcome):
            self.kinds.note_variant(args)
            self.carrier.serve_first(self.paying.asked(made))
            return result
        if result.kind in (OutcomeKind.GUARD_FAILED, OutcomeKind.FAULT):
            self.drop(made)
        if result is MISS:
            self.state.declined.add(args, result)
        elif result.is_fault:
            self.state.declined.add_kind(args, result)
        return self.decline(result, args)

    def unasked(self, args: tuple[Any, ...]) -> Any:
        """A call with an argument of which nothing can be asked without running the user's code."""
        names = self.state.arguments.signature.parameters
        name = next(n for n, arg in zip(names, args, strict=True) if has_asking_class(arg))
        why = f"{name} is or holds an object whose metaclass defines __eq__ or __getattribute__"
        if self.options.fullgraph and self.options.enabled:
            raise UnsupportedError(f"{self.function.__name__}: this call cannot be compiled: {why}")
        self.telling.note(declined(why))
        return self.disabled(*args)

    def disabled(self, *args: Any) -> Any:
        """The function as Python runs it, with default values as they are now."""
        return self.state.run_plain(*args) if self.state.identity.holds() else self.renewed(args)

    def renewed(self, args: tuple[Any, ...]) -> Any:
        """A call of a function whose code or default values were replaced, from which all begins.

        The carrier has filled in the old default values already: they stand for the new ones.
        """
        with self.state.lock:
            old, old_signature = self.state.identity, self.state.arguments.signature
            self.state.renew()
            self.raised.forget()
            self.paying.retired = self.paying.trial = None
            self.state.alternation.forget(no_variant)
            self.carrier.renew(self.function, self.state.arguments.signature)
            if not self.options.enabled:
                self.carrier.serve_first(self.disabled)
        positional, keywords = old.given(old_signature, args)
        return self.carrier.function(*positional, **keywords)

    def launched(self, variant: Compiled, args: tuple[Any, ...]) -> Any:
        """What a variant's launcher returns; an `Outcome` if it fails early enough."""
        try:
            return variant.launch(*args)
        except Exception as error:
            missed = self.rescued(error)
            if missed is None:
                raise
        return missed

    def rescued(self, error: Exception) -> Outcome | None:
        """What becomes of a call whose launcher has failed, if NumPy can run it.

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
            return numpy_raising(f"NumPy raises {kind}", f"{kind} in a launcher")
        self.drop(variant)
        return self.telling.fault(error, "launch").outcome

    def drop(self, variant: Compiled) -> None:
        """Forget a variant."""
        with self.state.lock:
            kept = tuple(v for v in self.variants.compiled if v is not variant)
            self.variants.compiled = kept
            self.state.alternation.forget(no_variant)
            if self.carrier.first == self.paying.asked(variant):
                self.carrier.serve_first(no_variant)

    # -- a new variant --------------------------------------------------------------------------
    def compiled(
        self, args: tuple[Any, ...]
    ) -> Compiled | SegmentedFunction | RetiredFunction | Outcome:
        """A new variant for a call, entered into the table, or why there is none.

        A function in which Python has to run a statement is opened instead, once and for all calls
        that no earlier variant serves.
        """
        segmented = self.segments_of_part(len(self.variants), args)
        if segmented is not None:
            return segmented
        if len(self.variants) >= self.options.max_variants:
            return declined(f"more than {self.options.max_variants} variants")
        try:
            return self.variant(args)
        except Declined as ended:
            segmented = self.segmenting.opened_for_kinds(args)
            if segmented is not None:
                return segmented
            self.state.declined.add(args, ended.outcome)
            return ended.outcome
        except RecursionError:  # of a program that is that deep
            return numpy_raising("NumPy raises RecursionError", "RecursionError while tracing")
        except OutOfTime as error:
            self.state.declined.add_kind(args, error.outcome)
            return error.outcome
        except FusejitError as error:
            if self.options.fullgraph:
                raise strip_frames(error) from error.__cause__
            return self.left_to_python(error, args)

    @property
    def free_variants(self) -> int:
        """How many variants there may be before another kind of calls has to come often."""
        if not self.options.is_part:
            return FREE
        return FREE_OF_A_PART if self.state.parts_time.made < MANY else FREE_OF_LATE_PARTS

    def segments_of_part(self, differing: int, args: tuple[Any, ...]) -> SegmentedFunction | None:
        """A part in segments, if too many calls differ in lists and texts: Python reads those."""
        if not self.options.is_part or differing < MOST_OF_A_PART:
            return None
        with self.state.lock:
            made = self.variants.segmented or self.segmenting.without_contents(args)
            if made is None or made is self.variants.segmented:  # by another thread
                return made
            return self.segmenting.entered(made)

    def options_now(self) -> Options:
        """The options; where another number is shown in text, Python makes the text from now on."""
        shows = any(v.traced.shows_numbers for v in self.variants.compiled)
        if not shows or self.options.fullgraph:
            return self.options
        return replace(self.options, python_texts=True)

    def given_up(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Outcome | None:
        """Why calls like this one are never compiled; None if they may be."""
        if self.carrier.is_plain:
            return declined(READS_CALLERS)
        try:
            values = tuple(self.state.arguments.bound(args, kwargs).values())
        except TypeError:  # it is no call of the function
            return None
        return self.state.declined.final(values)

    def variant(self, args: tuple[Any, ...]) -> Compiled | SegmentedFunction | RetiredFunction:
        """The whole function as one variant."""
        spoil()
        seconds = self.state.parts_time if self.options.is_part else self.options.compile_seconds
        with compiling(self.function.__name__, seconds):
            traced = trace(self.function, *self.state.arguments.split(args), self.options_now())
            if self.options.on_error and may_raise_late(traced.graph):
                return self.segmenting.entered(self.segmenting.apart(traced, args))
            with self.telling.failing("decide what pays"):
                estimate = self.paying.estimate(traced, args)
                if estimate is not None and may_be_retired(estimate, is_part=self.options.is_part):
                    return self.paying.retire(estimate, args)
            lowered = traced.fuse().lower()
            variant = lowered.compile()
        self.variants.compiled = (variant, *self.variants.compiled)
        if estimate is not None and may_be_tried(estimate, traced.graph):
            self.paying.try_out(variant, estimate, args)
        if self.options.is_part:  # nobody but us has its arguments
            self.state.parts_time.made += 1
            self.newest = lowered, sizes_of_call(lowered, self.state.arguments.named(args))
        return variant

    def left_to_python(
        self, error: FusejitError, args: tuple[Any, ...]
    ) -> SegmentedFunction | Outcome:
        """What cannot be compiled: the statement is Python's, or else all calls of this kind."""
        outcome = error.outcome
        is_of_python = outcome.kind is OutcomeKind.GRAPH_BREAK
        segmented = self.segmenting.opened(error, self.state.arguments.named(args))
        if segmented is None and not is_of_python and not self.options.is_part:
            self.state.declined.add_kind(args, outcome)
            return outcome
        is_empty = segmented is None or not segmented.calls_something
        if is_empty and isinstance(error, NeedsPython) and error.may_change:
            self.state.declined.add(args, outcome)
            return outcome
        name = self.function.__name__
        if segmented is None:
            segmented = self.segmenting.of_python(error)
            if not is_of_python or not self.options.is_part:
                self.telling.note(outcome)
        elif not is_of_python:
            self.telling.tell(f"Python runs a statement of {name}: {error}")
        elif isinstance(error, NeedsPython) and error.is_loop:
            self.telling.tell(f"Python runs a loop of {name}: {error}")
        return self.segmenting.entered(segmented)

    # -- plain NumPy ----------------------------------------------------------------------------
    def raising(self, args: tuple[Any, ...]) -> Any:
        """A call that is expected to raise: if it does, others like it are run by Python at once.

        Not under ``fullgraph=True``: one that does not raise must not be run by Python unseen. Nor
        where what can be compiled shall be: others like it may not raise.
        """
        try:
            return self.state.run_plain(*args)
        except Exception:
            if self.options.retires and not self.options.fullgraph:
                self.raised.add(args, self.function)
            raise

    def decline(self, outcome: Outcome, args: tuple[Any, ...]) -> Any:
        """Run the undecorated function; warn once per cause unless NumPy raises."""
        if _is_raised(outcome):
            result = self.raising(args)
            self.telling.note(declined(outcome.otherwise))
            return result
        if self.options.fullgraph:
            self.variants.declined[str(outcome)] += 1
            raise UnsupportedError(
                f"{self.function.__name__}: this call cannot be compiled: {outcome}. Without "
                "fullgraph=True it runs as plain NumPy."
            )
        self.telling.note(outcome)
        self.serving.serve_declined(args, outcome, lambda: self.paying.retired is not None)
        return self.state.run_plain(*args)


def _is_raised(outcome: Outcome | None) -> bool:
    """Whether NumPy is expected to raise."""
    return outcome is not None and outcome.kind is OutcomeKind.NUMPY_RAISES
