"""`FunctionSplitter`: a function in segments, with Python between them, and what that serves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from fusejit.codegen.launcher.call_guard import HOLD_ITEMS, CallGuard, Expected, unwatched_open
from fusejit.dataclass import replace
from fusejit.dispatch.entry_installer import EntryInstaller
from fusejit.dispatch.function_state import FunctionState
from fusejit.dispatch.tiering_policy import TieringPolicy
from fusejit.entry_stubs.entry_stub import no_variant
from fusejit.errors import (
    FusejitError,
    InternalError,
    NeedsPython,
    UnsupportedError,
    VerificationError,
)
from fusejit.ir.traced import CheckKind
from fusejit.segments.segmented import SegmentedFunction
from fusejit.segments.split_request import SplitRequest
from fusejit.segments.splitting import (
    contents_that_differ,
    of_python,
    split,
    split_for_contents,
    split_for_types,
    split_per_statement,
)
from fusejit.stages import Traced
from fusejit.support.interrupts import is_from_handler
from fusejit.tracer.source.source_text import find_source, texts_in
from fusejit.tracer.values.foreign import foreign_arguments, is_operand

MAX_FOR_TYPES = 4  # forms in segments for arguments of kinds that no kernel is given


class FunctionSplitter:
    """Splits one function at statements that Python runs.

    Parameters
    ----------
    state : FunctionState
    installer : EntryInstaller
    tiering : TieringPolicy
    """

    def __init__(
        self, state: FunctionState, installer: EntryInstaller, tiering: TieringPolicy
    ) -> None:
        self._variants = state.variants
        self._options = state.options
        self._function = state.function
        self._entry_stub = state.entry_stub
        self._diagnostics = state.diagnostics
        self._state = state
        self._installer = installer
        self._tiering = tiering

    def split(self, error: FusejitError, args: tuple[Any, ...]) -> SegmentedFunction | None:
        """The function as segments with Python between them; None if no statement can be opened."""
        if isinstance(error, InternalError | VerificationError):
            return None
        if isinstance(error, NeedsPython) and error.is_whole:
            return None
        named = self._state.arguments.named(args)
        return split(self.split_request(), named, error, self._expected(args))

    def split_for_types(self, args: tuple[Any, ...]) -> SegmentedFunction | None:
        """The function in segments, for a call with arguments of kinds that no kernel is given."""
        foreign = foreign_arguments(self._state.arguments.named(args), texts_in(self._function))
        if self._options.fullgraph or not foreign or self._is_full:
            return None
        made = split_for_types(self.split_request(), self._state.arguments.named(args), foreign)
        if made is None:
            return None
        source = find_source(self._function)
        name = self._function.__name__
        what = f"{name} runs as plain NumPy for this call"
        if made.calls_something:
            what = f"Python runs statements of {name}"
        for parameter, why in foreign.items():
            if isinstance(source, str) or is_operand(source.node, parameter):
                self._diagnostics.warn_once(f"{what}: {why}")
        return self.entered(made)

    @property
    def _is_full(self) -> bool:
        """Whether there may be no more forms for some calls only."""
        return len(self._variants.for_types) >= MAX_FOR_TYPES

    def _expected(self, args: tuple[Any, ...]) -> list[Expected] | None:
        """Expect the lists and dictionaries of a call that cannot be compiled; None without any.

        Calls with arrays in their place may compile.
        """
        if self._is_full or {*map(type, args)}.isdisjoint(HOLD_ITEMS):
            return None
        return [Expected(type(arg)) if type(arg) in HOLD_ITEMS else Expected() for arg in args]

    def split_request(self) -> SplitRequest:
        """The function, and how its segments are compiled."""
        return SplitRequest(
            self._function,
            self.compile_segment,
            self._state.fused,
            self._options.on_error,
            lambda error: self._diagnostics.count(self._diagnostics.fault(error, "open").outcome),
            self._state.run_python,
            self._options.tiering,
            self._options.is_segment,
        )

    def per_statement(self, traced: Traced, args: tuple[Any, ...]) -> SegmentedFunction:
        """Each statement by itself of a segment that may raise after a store: names are read."""
        made = split_per_statement(self.split_request(), self._state.arguments.named(args))
        if made is not None:
            return made
        what = "may raise after a store, in a `try` or `with`"
        return self.of_python(UnsupportedError.at(traced.traced.location, what), args)

    def of_python(self, error: FusejitError, args: tuple[Any, ...]) -> SegmentedFunction:
        """A part as Python runs it."""
        made = of_python(self._function, self._state.run_python, error)
        made.expected = self._expected(args)
        expected = made.expected or [Expected()] * len(args)
        unwatched = unwatched_open(args, made.expected)
        guard = CallGuard(expected, function=self._function, unwatched=unwatched)
        made.served = self._installer.own_body(), guard
        return made

    def without_contents(self, args: tuple[Any, ...]) -> SegmentedFunction | None:
        """A part for which the contents of lists or texts make variants: Python reads those."""
        differing = contents_that_differ(v.traced.checks for v in self._variants.compiled)
        return split_for_contents(
            self.split_request(), self._state.arguments.named(args), differing
        )

    def compile_segment(self, function: Callable[..., Any], on_error: str) -> Callable[..., Any]:
        """A segment, or a function that Python calls between segments, in its fused form."""
        options = replace(self._options, is_segment=True, on_error=on_error)
        try:
            return self._state.decorated.part(function, options, self._state.fused)
        except Exception as error:  # of ours: Python runs it as it is
            if is_from_handler(error):
                raise
            self._diagnostics.count(self._diagnostics.fault(error, "decorate").outcome)
            return function

    def entered(self, segmented: SegmentedFunction) -> SegmentedFunction:
        """Let segments serve calls; what is whole for other types stays so."""
        if segmented.expected is None:
            self._variants.segmented = segmented
            if self._options.is_segment:
                self._drop_lengths()
        else:
            self._variants.for_types = (segmented, *self._variants.for_types)
        segmented.serve_by(lambda: self.segments_changed(segmented))
        self.segments_changed(segmented)
        return segmented

    def _drop_lengths(self) -> None:
        """Forget the variants of a part that are for one length each of a list or dict that grows.

        Each of them would be asked by each call, and look at all keys of a dict.
        """
        compiled = self._variants.compiled
        grown = contents_that_differ((v.traced.checks for v in compiled), lengths_alone=True)
        self._variants.compiled = tuple(
            variant
            for variant in compiled
            if not any(
                c.kind is CheckKind.KEYS and c.path.name in grown for c in variant.traced.checks
            )
        )

    def segments_changed(self, segmented: SegmentedFunction) -> None:
        """Have segments serve calls as they are now, and tell who asks whether they pay."""
        self._state.inline_cache.forget(no_variant)
        self._installer.install_segments(segmented)
        self._tiering.notify_watchers()

    def called_by_python(
        self, function: Callable[..., Any], caller: Callable[..., Any]
    ) -> Callable[..., Any]:
        """What Python calls in ``caller`` instead of ``function``, which is decorated."""
        segmented = self._variants.newest_segmented
        is_own = function is self._entry_stub.function
        if segmented is None or segmented.is_for_foreign or not is_own:
            is_interpreted = self._tiering.interpreted is not None and not self._variants.compiled
            if is_interpreted and not self._tiering.depends_on_sizes and is_own:
                return self._function
            return function
        if self._variants.compiled and caller is not self._function:
            return function
        return segmented.called_by_python(cast(Any, function)) or function
