"""`Dispatcher`: handle calls that the entry stub cannot serve, and compile new variants.

A call goes to the newest variant's launcher (`fusejit.entry_stubs`). If that does not serve it, the
other variants are asked, and then the call is traced, fused and compiled into a new one. What
cannot be compiled runs as plain NumPy on the caller's own arguments, before anything was modified
(see Fallback in docs/design.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from fusejit.codegen.launcher.debuggers import is_debugged
from fusejit.dataclass import replace
from fusejit.dispatch.call_signatures import (
    FREE_VARIANTS_OF_LATE_SEGMENTS,
    FREE_VARIANTS_PER_SEGMENT,
    MANY_SEGMENT_VARIANTS,
    MAX_UNCOUNTED_VARIANTS,
    CallSignatures,
)
from fusejit.dispatch.entry_installer import EntryInstaller
from fusejit.dispatch.function_splitter import FunctionSplitter
from fusejit.dispatch.function_state import DecoratedFunction, FunctionState
from fusejit.dispatch.inline_cache import InlineCache
from fusejit.dispatch.postponed_traces import PostponedTraces
from fusejit.dispatch.raised_calls import RaisedCalls
from fusejit.dispatch.tiering_policy import TieringPolicy
from fusejit.entry_stubs.entry_stub import no_variant
from fusejit.errors import CutShort, FusejitError, NeedsPython, OutOfTime, UnsupportedError
from fusejit.ir.raw_reads import defined_by, has_asking_class
from fusejit.ir.traced import CheckKind
from fusejit.options import Options
from fusejit.outcome import (
    INTERPRET,
    MISS,
    Outcome,
    OutcomeKind,
    fallback,
    is_of_kind,
    numpy_raising,
)
from fusejit.segments.segmented import SegmentedFunction
from fusejit.stages import Compiled, Lowered, trace
from fusejit.support.budget import compiling
from fusejit.support.interrupts import CALLED_BY_NUMBA, compiler_is_taken, is_from_handler
from fusejit.support.locks import cut_short
from fusejit.support.package_files import is_raised_by_us
from fusejit.support.tracebacks import strip_all_frames
from fusejit.tiering.interpreted_function import InterpretedFunction, may_be_interpreted
from fusejit.tiering.timings import discard_timings
from fusejit.tracer.flow.raises import may_raise_deferred
from fusejit.tracer.program.fallback import Fallback

MAX_PER_PART = 4  # variants, or calls that wait, before Python reads the lists it is given


class Dispatcher:
    """Handle the calls of a decorated function that its entry stub cannot serve.

    Attributes
    ----------
    state : FunctionState
    function, options, variants, entry_stub, diagnostics
        Its own.
    installer : EntryInstaller
    postponed : PostponedTraces
    tiering : TieringPolicy
    splitter : FunctionSplitter
    newest : tuple or None
        Of a part: its newest variant, and the sizes of the call that it was made for.
    """

    def __init__(self, decorated: DecoratedFunction) -> None:
        self.newest: tuple[Lowered, dict[str, int]] | None = None
        self.state = state = FunctionState(decorated)
        self.variants = state.variants
        self.options = state.options
        self.function = state.function
        self.entry_stub = state.entry_stub
        self.diagnostics = state.diagnostics
        self.signatures = CallSignatures()
        self.installer = EntryInstaller(state)
        self.postponed = PostponedTraces(state, self.installer)
        self.tiering = TieringPolicy(state, self.installer, self.try_launch)
        self.raised = RaisedCalls(state, self.tiering.count_raised)
        self.splitter = FunctionSplitter(state, self.installer, self.tiering)
        install, unasked = state.entry_stub.install_launcher, self.installer.install_unasked
        state.inline_cache = InlineCache(install, self.tiering.launchers, unasked)
        state.entry_stub.connect(self.dispatch_miss, self.recover)
        if not state.options.enabled:
            state.entry_stub.install_launcher(self.disabled)

    # -- a call ---------------------------------------------------------------------------------
    def dispatch_miss(self, args: tuple[Any, ...], missed: Outcome = MISS) -> Any:
        """A call that the entry stub does not serve by itself; ``args`` are in parameter order.

        What can serve it is tried in this order: code that is never inspected, variants, segments
        and the interpreted tier, what is known to fall back, and at last a new variant.
        """
        if is_debugged() and self.state.identity.holds():
            return self.state.decorated.interpret_for_debugger()
        result = self._run_unseen(args)
        if not isinstance(result, Outcome):
            return result
        result = self.postponed.look_at(args)
        if not isinstance(result, Outcome):
            return result
        while True:
            seen, for_types = self.variants.compiled, self.variants.for_types
            result = self._run_known(args, missed)
            if not isinstance(result, Outcome):
                return result
            missed = result
            if missed.kind is not OutcomeKind.GUARD_FAILED:
                if not is_of_kind(missed, OutcomeKind.NUMPY_RAISES):
                    self.raised.count(args, is_guarded=False)
                return self.run_fallback(missed, args)
            result = self._run_expected_fallback(args)
            if not isinstance(result, Outcome):
                return result
            if not self.options.fullgraph and self.postponed.must_wait(args):
                return self.postponed.run(args)
            with self.state.lock:
                is_same = self.variants.for_types is for_types and self.variants.compiled is seen
                if is_same and self.variants.segmented is None:  # no other thread made one
                    with self.postponed.tracing(args) as note:
                        made = self.compile_call(args)
                        note(made)
                    break
        if self.state.allowance.is_speculative and is_of_kind(made, OutcomeKind.OUT_OF_TIME):
            return self.postponed.run(args)
        return self._run_first(made, args)

    def _run_unseen(self, args: tuple[Any, ...]) -> Any:
        """Run a call that no variant may inspect; `MISS` for others."""
        if any(map(has_asking_class, args)):
            return self.run_uninspected(args)
        for arg in args:
            if defined_by(type(arg), "__fuse_jit_call__") is not None:
                return type(arg).__fuse_jit_call__(self.entry_stub.function, args)
        for differs in self.raised.guards:
            if not differs(*args):
                return self.raised.run_expected(args)
        if not self.state.identity.holds():
            return self.rerun_after_redefinition(args)
        if self.variants.passed is not None:
            self.variants.count_passed()
            self.state.fallback_cache.recount()
        return MISS

    def _run_known(self, args: tuple[Any, ...], missed: Outcome) -> Any:
        """Run a call by a variant, segments or the interpreted tier; else return why not."""
        for variant in self.variants.compiled:
            variant.renew()
            result = self.try_launch(variant, args)
            if not isinstance(result, Outcome):
                self.state.inline_cache.record_variant(self.tiering.launcher_of(variant))
                return result
            missed = missed if result is MISS else result
        segmented = self.variants.segmented_for(args)
        if segmented is not None:
            self.installer.install_segments(segmented)
            return segmented.run(*args)
        interpreted = self.tiering.interpreted
        if interpreted is not None and interpreted.serves(args):
            self.installer.install_interpreted(interpreted.guard)
            return self.state.run_python(*args)
        result = self.tiering.tried_again(args)
        if not isinstance(result, Outcome):
            return result
        missed = missed if result is MISS else result
        if missed.is_fault:
            self.state.fallback_cache.add_signature(args, missed)
        return missed

    def _run_expected_fallback(self, args: tuple[Any, ...]) -> Any:
        """Run in Python a call that is known not to compile; `MISS` for others."""
        if cut_short():
            return self.run_fallback(fallback(cut_short()), args)
        known = self.state.fallback_cache.outcome(args)
        if known is None and not self.options.fullgraph:
            if self.signatures.waits(args):
                segmented = self.split_segment(self.signatures.waited(args), args)
                if segmented is not None:
                    return segmented.run(*args)
                self.installer.install_waiting(self.signatures, args)
                return self.state.run_python(*args)
            known = self.signatures.refusal(args, self.free_variants)
            if known is not None and self.state.decorated.looks_again():
                known = None
        if is_of_kind(known, OutcomeKind.NUMPY_RAISES):
            result = self.raised.run(args)  # like the one before, unless what it reads has changed
            self.state.fallback_cache.forget(args)
            return result
        if known is None and compiler_is_taken():
            known = fallback(CALLED_BY_NUMBA)
        return MISS if known is None else self.run_fallback(known, args)

    def _columns_of(self, made: Compiled) -> list[int]:
        """The places of the arguments whose items the kernels of a variant read."""
        paths = [c.path for c in made.traced.checks if c.kind is CheckKind.LIST]
        names = {path.name for path in paths if path.root == "arg" and not path.steps}
        parameters = self.state.arguments.signature.parameters
        return [place for place, name in enumerate(parameters) if name in names]

    def _run_first(self, made: Any, args: tuple[Any, ...]) -> Any:
        """Run a call by what `compile_call` has made for it."""
        if isinstance(made, Outcome):
            return self.run_fallback(made, args)
        if isinstance(made, SegmentedFunction):
            return made.run(*args)
        if isinstance(made, InterpretedFunction):
            return self.state.run_python(*args)
        result = self.try_launch(made, args)
        if not isinstance(result, Outcome):
            self.signatures.note_variant(args, self._columns_of(made))
            self.entry_stub.install_launcher(self.tiering.launcher_of(made))
            return result
        if result.kind in (OutcomeKind.GUARD_FAILED, OutcomeKind.FAULT):
            self.drop(made)
        if result is MISS:
            self.state.fallback_cache.add(args, result)
        elif result.is_fault:
            self.state.fallback_cache.add_signature(args, result)
        return self.run_fallback(result, args)

    def run_uninspected(self, args: tuple[Any, ...]) -> Any:
        """Run in Python a call with an argument that only user code could inspect."""
        names = self.state.arguments.signature.parameters
        name = next(n for n, arg in zip(names, args, strict=True) if has_asking_class(arg))
        why = f"{name} is or holds an object whose metaclass defines __eq__ or __getattribute__"
        if self.options.fullgraph and self.options.enabled:
            raise UnsupportedError(f"{self.function.__name__}: this call cannot be compiled: {why}")
        self.diagnostics.count(fallback(why))
        return self.disabled(*args)

    def disabled(self, *args: Any) -> Any:
        """The function as Python runs it, with default values as they are now."""
        return (
            self.state.run_python(*args)
            if self.state.identity.holds()
            else self.rerun_after_redefinition(args)
        )

    def rerun_after_redefinition(self, args: tuple[Any, ...]) -> Any:
        """A call of a function whose code or default values were replaced, from which all begins.

        The entry stub has filled in the old default values already: they stand for the new ones.
        """
        with self.state.lock:
            signature = self.entry_stub.signature_of_calls()
            positional, keywords = self.state.identity.given(signature, args)
            self.renew()
        return self.entry_stub.function(*positional, **keywords)

    def notice(self) -> None:
        """Take on what was assigned, before anything is told of the function."""
        if not self.state.identity.holds():
            self.renew()

    def renew(self) -> None:
        """Begin anew with the function as it is now, as somebody has assigned parts of it."""
        with self.state.lock:
            self.entry_stub.adopt()
            for served in self.state.identity.served:
                if served.is_replaced:
                    served.adopt()
            self.state.renew()
            self.raised.forget()
            self.signatures = CallSignatures()
            self.postponed = PostponedTraces(self.state, self.installer)
            self.tiering.renew()
            self.state.inline_cache.forget(no_variant)
            self.entry_stub.renew()
            if not self.options.enabled:
                self.entry_stub.install_launcher(self.disabled)

    def try_launch(self, variant: Compiled, args: tuple[Any, ...]) -> Any:
        """What a variant's launcher returns; an `Outcome` if it fails early enough."""
        try:
            return variant.launch(*args)
        except Exception as error:
            missed = self.recover(error)
            if missed is None:
                raise
        return missed

    def recover(self, error: Exception) -> Outcome | None:
        """What becomes of a call whose launcher has failed, if NumPy can run it.

        That is not so if the exception is one of the program's, or if the caller could have seen
        something already.
        """
        by_code = {cast(Any, v.launch).__code__: v for v in self.variants.compiled}
        entry = error.__traceback__
        while entry is not None and entry.tb_frame.f_code not in by_code:
            entry = entry.tb_next
        if entry is None and isinstance(error, TypeError) and self.entry_stub.is_replaced:
            return MISS if is_raised_by_us(error) else None  # the launcher has other parameters
        if self.options.fullgraph:
            return None
        if entry is None or not is_raised_by_us(error) or is_from_handler(error):
            return None
        variant = by_code[entry.tb_frame.f_code]
        if not variant.launcher.can_start_anew(entry.tb_lineno):
            return None
        if isinstance(error, RecursionError | MemoryError | OverflowError):  # no fault of its own
            kind = type(error).__name__
            return numpy_raising(f"NumPy raises {kind}", f"{kind} in a launcher")
        self.drop(variant)
        return self.diagnostics.fault(error, "launch").outcome

    def drop(self, variant: Compiled) -> None:
        """Forget a variant."""
        with self.state.lock:
            self.variants.compiled = tuple(v for v in self.variants.compiled if v is not variant)
            self.state.inline_cache.forget(no_variant)
            if self.entry_stub.first == self.tiering.launcher_of(variant):
                self.entry_stub.install_launcher(no_variant)

    # -- a new variant --------------------------------------------------------------------------
    def compile_call(
        self, args: tuple[Any, ...]
    ) -> Compiled | SegmentedFunction | InterpretedFunction | Outcome:
        """A new variant for a call, entered into the table, or why there is none.

        A function in which Python has to run a statement is split instead, once and for all calls
        that no earlier variant serves.
        """
        segmented = self.split_segment(len(self.variants), args)
        if segmented is not None:
            return segmented
        if len(self.variants) >= self.options.max_variants:
            if not self.options.is_general:
                return fallback(f"more than {self.options.max_variants} variants")
            self.drop(self.variants[-1])  # the oldest
        try:
            return self.compile_variant(args)
        except Fallback as ended:
            segmented = self.splitter.split_for_types(args)
            if segmented is not None:
                return segmented
            self.state.fallback_cache.add(args, ended.outcome)
            return ended.outcome
        except RecursionError:  # of a program that is that deep
            return numpy_raising("NumPy raises RecursionError", "RecursionError while tracing")
        except CutShort as error:
            return error.outcome
        except OutOfTime as error:
            if not self.state.allowance.is_speculative:  # which may have more time later
                self.state.fallback_cache.add_signature(args, error.outcome)
            return error.outcome
        except FusejitError as error:
            if self.options.fullgraph:
                raise strip_all_frames(error) from error.__cause__
            return self.break_graph(error, args)

    @property
    def free_variants(self) -> int:
        """How many variants there may be before another kind of calls has to come often."""
        if not self.options.is_segment:
            return MAX_UNCOUNTED_VARIANTS
        return (
            FREE_VARIANTS_PER_SEGMENT
            if self.state.allowance.made < MANY_SEGMENT_VARIANTS
            else FREE_VARIANTS_OF_LATE_SEGMENTS
        )

    def split_segment(self, differing: int, args: tuple[Any, ...]) -> SegmentedFunction | None:
        """A part in segments, if too many calls differ in lists and texts: Python reads those."""
        if not self.options.is_segment or differing < MAX_PER_PART:
            return None
        with self.state.lock:
            made = self.variants.segmented or self.splitter.without_contents(args)
            if made is None or made is self.variants.segmented:  # by another thread
                return made
            return self.splitter.entered(made)

    def options_now(self, args: tuple[Any, ...]) -> Options:
        """The options; where another number is shown in text, Python makes the text from now on."""
        shows = any(v.traced.shows_numbers for v in self.variants.compiled)
        places, names = self.signatures.varying(args), self.state.arguments.signature.parameters
        varying = frozenset(name for place, name in enumerate(names) if place in places)
        shows &= not self.options.fullgraph
        return replace(self.options, formats_in_python=shows, varying=varying)

    def permanent_fallback(
        self, args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> Outcome | None:
        """Why calls like this one are never compiled; None if they may be."""
        if self.entry_stub.is_passthrough:
            return fallback(self.variants.interpreted)
        try:
            values = tuple(self.state.arguments.bound(args, kwargs).values())
        except TypeError:  # it is no call of the function
            return None
        return self.state.fallback_cache.final(values)

    def compile_variant(
        self, args: tuple[Any, ...]
    ) -> Compiled | SegmentedFunction | InterpretedFunction:
        """The whole function as one variant."""
        discard_timings()
        allowance = self.state.allowance
        most = allowance.left if self.options.is_segment else self.options.compile_seconds
        limit = allowance if self.options.is_segment else allowance.limit(most)
        with compiling(self.function.__name__, limit) as budget:
            options = self.options_now(args)
            traced = trace(self.function, *self.state.arguments.split(args), options)
            if self.options.on_error and may_raise_deferred(traced.graph):
                return self.splitter.entered(self.splitter.per_statement(traced, args))
            with self.diagnostics.failing("decide what pays"):
                estimate = self.tiering.estimate(traced, args)
                if estimate is not None and may_be_interpreted(
                    estimate, is_segment=self.options.is_segment
                ):
                    return self.tiering.demote(estimate, args)
            with allowance.investing(budget, most):
                lowered = traced.fuse().lower()
                variant = lowered.compile()
        self.variants.compiled = (variant, *self.variants.compiled)
        self.variants.measured = None
        self.tiering.entered(variant, estimate)
        if self.options.is_segment:  # nobody but us has its arguments
            self.state.allowance.made += 1
            self.newest = lowered, lowered.sizes_of_call(self.state.arguments.named(args))
        return variant

    def break_graph(
        self, error: FusejitError, args: tuple[Any, ...]
    ) -> SegmentedFunction | Outcome:
        """Leave to Python what cannot be compiled: the statement, or all such calls."""
        outcome = error.outcome
        if self.options.is_op:
            self.state.fallback_cache.add(args, outcome)
            return outcome
        is_of_python = outcome.kind is OutcomeKind.GRAPH_BREAK
        segmented = self.splitter.split(error, args)
        if segmented is None and not is_of_python and not self.options.is_segment:
            self.state.fallback_cache.add_signature(args, outcome)
            return outcome
        is_empty = segmented is None or not segmented.calls_something
        if is_empty and isinstance(error, NeedsPython) and error.may_change:
            self.state.fallback_cache.add(args, outcome)
            return outcome
        name = self.function.__name__
        if segmented is None:
            segmented = self.splitter.of_python(error, args)
            if not is_of_python or not self.options.is_segment:
                self.diagnostics.count(outcome)
        elif not is_of_python:
            self.diagnostics.warn_once(f"Python runs a statement of {name}: {error}")
        elif isinstance(error, NeedsPython) and error.is_loop:
            self.diagnostics.warn_once(f"Python runs a loop of {name}: {error}")
        return self.splitter.entered(segmented)

    # -- plain NumPy ----------------------------------------------------------------------------
    def run_fallback(self, outcome: Outcome, args: tuple[Any, ...]) -> Any:
        """Have the entry stub run the function; warn once per cause unless NumPy raises."""
        if is_of_kind(outcome, OutcomeKind.NUMPY_RAISES):
            result = self.raised.run(args)
            self.diagnostics.count(fallback(outcome.otherwise))
            return result
        if self.options.fullgraph:
            self.variants.fallbacks[str(outcome)] += 1
            raise UnsupportedError(
                f"{self.function.__name__}: this call cannot be compiled: {outcome}. Without "
                "fullgraph=True it runs as plain NumPy."
            )
        self.diagnostics.count(outcome)
        self.installer.install_fallback(args, outcome, lambda: self.tiering.interpreted is not None)
        return INTERPRET
