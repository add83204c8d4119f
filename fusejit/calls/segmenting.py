"""`Segmenting`: a function in segments, with Python between them, and what that serves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

from fusejit.calls.paying import Paying
from fusejit.calls.serving import Serving
from fusejit.calls.state import FunctionState
from fusejit.carrier import no_variant
from fusejit.codegen.launcher.call_guard import CallGuard, Expected
from fusejit.dataclass import replace
from fusejit.decorated import Decorated
from fusejit.errors import FusejitError, InternalError, UnsupportedError, VerificationError
from fusejit.interrupts import is_from_handler
from fusejit.ir.traced import CheckKind
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
from fusejit.stages import Traced
from fusejit.tracer.capture.source_text import find_source, texts_in
from fusejit.tracer.graph_breaks.foreign import foreign_arguments, is_operand

MOST_OF_KINDS = 4  # forms in segments for arguments of kinds that no kernel is given


class Segmenting:
    """Opens one function.

    Parameters
    ----------
    state : FunctionState
    serving : Serving
    paying : Paying
    """

    def __init__(self, state: FunctionState, serving: Serving, paying: Paying) -> None:
        self._variants = state.variants
        self._options = state.options
        self._function = state.function
        self._carrier = state.carrier
        self._telling = state.telling
        self._state = state
        self._serving = serving
        self._paying = paying

    def opened(self, error: FusejitError, arguments: Mapping[str, Any]) -> SegmentedFunction | None:
        """The function as segments with Python between them; None if no statement can be opened."""
        if isinstance(error, InternalError | VerificationError):
            return None
        return opened(self.openable(), arguments, error)

    def opened_for_kinds(self, args: tuple[Any, ...]) -> SegmentedFunction | None:
        """The function in segments, for a call with arguments of kinds that no kernel is given."""
        foreign = foreign_arguments(self._state.arguments.named(args), texts_in(self._function))
        is_full = len(self._variants.of_kinds) >= MOST_OF_KINDS
        if self._options.fullgraph or not foreign or is_full:
            return None
        made = opened_for_kinds(self.openable(), self._state.arguments.named(args), foreign)
        if made is None:
            return None
        source = find_source(self._function)
        name = self._function.__name__
        what = f"{name} runs as plain NumPy for this call"
        if made.calls_something:
            what = f"Python runs statements of {name}"
        for parameter, why in foreign.items():
            if isinstance(source, str) or is_operand(source.node, parameter):
                self._telling.tell(f"{what}: {why}")
        return self.entered(made)

    def openable(self) -> Openable:
        """The function, and how its segments are compiled."""
        return Openable(
            self._function,
            self.decorate_part,
            self._state.fused,
            self._options.on_error,
            lambda error: self._telling.note(self._telling.fault(error, "open").outcome),
            self._state.run_plain,
            self._options.retires,
            self._options.is_part,
        )

    def apart(self, traced: Traced, args: tuple[Any, ...]) -> SegmentedFunction:
        """Each statement by itself of a segment that may raise behind a store: names are read."""
        made = opened_singly(self.openable(), self._state.arguments.named(args))
        if made is not None:
            return made
        what = "may raise behind a store, in a `try` or `with`"
        return self.of_python(UnsupportedError.at(traced.traced.location, what))

    def of_python(self, error: FusejitError) -> SegmentedFunction:
        """A part as Python runs it."""
        made = of_python(self._function, self._state.run_plain, error)
        anything = [Expected() for _ in self._state.arguments.signature.parameters]
        made.served = self._serving.own_body(), CallGuard(anything, function=self._function)
        return made

    def without_contents(self, args: tuple[Any, ...]) -> SegmentedFunction | None:
        """A part for which the contents of lists or texts make variants: Python reads those."""
        differing = contents_that_differ(v.traced.checks for v in self._variants.compiled)
        return opened_for_contents(self.openable(), self._state.arguments.named(args), differing)

    def decorate_part(self, function: Callable[..., Any], on_error: str) -> Callable[..., Any]:
        """A segment, or a function that Python calls between segments, in its fused form."""
        options = replace(self._options, is_part=True, on_error=on_error)
        try:
            made = Decorated(function, options, self._state.fused, self._state.parts_time)
            return made.carrier.function
        except Exception as error:  # of ours: Python runs it as it is
            if is_from_handler(error):
                raise
            self._telling.note(self._telling.fault(error, "decorate").outcome)
            return function

    def entered(self, segmented: SegmentedFunction) -> SegmentedFunction:
        """Let segments serve calls; what is whole for other types stays so."""
        if segmented.expected is None:
            self._variants.segmented = segmented
            if self._options.is_part:
                self._drop_lengths()
        else:
            self._variants.of_kinds = (segmented, *self._variants.of_kinds)
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
        self._state.alternation.forget(no_variant)
        self._serving.serve_segments(segmented)
        self._paying.tell()

    def called_by_python(
        self, function: Callable[..., Any], caller: Callable[..., Any]
    ) -> Callable[..., Any]:
        """What Python calls in ``caller`` instead of ``function``, which is decorated."""
        segmented = self._variants.segmented
        is_own = function is self._carrier.function
        if segmented is None or not is_own:
            is_plain = self._paying.retired is not None and not self._variants.compiled
            if is_plain and not self._paying.depends_on_sizes and is_own:
                return self._function
            return function
        if self._variants.compiled and caller is not self._function:
            return function
        return segmented.called_by_python(cast(Any, function)) or function
