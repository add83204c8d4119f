"""`Dispatcher`: from a call to the variant that serves it.

A call goes to the newest variant's launcher (`fusejit.carrier`). If that does not serve it, the
other variants are asked, and then the call is traced, fused and compiled into a new one. What
cannot be compiled runs as plain NumPy on the caller's own arguments, before anything was modified
(see Declining in docs/design.md).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, cast

from fusejit.carrier import Carrier
from fusejit.codegen.launch_runtime import ERRSTATE, LEFT_TO_NUMPY, MISS, OVERLAP, Miss
from fusejit.declined_calls import DeclinedCalls
from fusejit.errors import (
    FusejitError,
    InternalError,
    NeedsPython,
    UnsupportedError,
    VerificationError,
)
from fusejit.explain import sizes_of_call
from fusejit.locks import ForkSafeLock
from fusejit.notices import warn
from fusejit.options import Options
from fusejit.pipeline import Compiled, Lowered, Traced, trace
from fusejit.segments import (
    FusedFunctions,
    Openable,
    SegmentedFunction,
    can_be_opened,
    contents_that_differ,
    of_python,
    opened,
    opened_for_contents,
    opened_singly,
)
from fusejit.tracer.declined import NUMPY_RAISES, Declined
from fusejit.tracer.locations import strip_frames
from fusejit.tracer.raises import may_raise_late
from fusejit.variants import Variants

MOST_OF_A_PART = 4  # variants, before lists and texts it is given are left to Python


class Dispatcher:
    """What a decorated function knows: its options, variants, and the slow way of a call."""

    def __init__(
        self,
        function: Callable[..., Any],
        options: Options,
        fused: FusedFunctions | None = None,
    ) -> None:
        # of a part: its newest variant, and the sizes of the call that it was made for
        self.newest: tuple[Lowered, dict[str, int]] | None = None
        self.function = function
        self.options = options
        self.variants = Variants()
        self.declined = DeclinedCalls()
        self.lock = ForkSafeLock()
        self.signature = inspect.signature(function, follow_wrapped=False)
        self.fused = FusedFunctions() if fused is None else fused
        self.carrier = Carrier(function, self.signature, self.slow)
        if not options.enabled:
            self.carrier.serve_first(self.plain)
        cast(Any, self.carrier.function).__fusejit_state__ = self

    def slow(self, args: tuple[Any, ...], missed: Miss) -> Any:
        """A call that the newest variant does not serve; ``args`` are in parameter order."""
        while True:
            seen = self.variants.compiled
            for variant in seen:
                result = variant.launch(*args)
                if not isinstance(result, Miss):
                    self.carrier.serve_first(variant.launch)
                    return result
                missed = missed if result is MISS else result
            if self.variants.segmented is not None:
                return self.variants.segmented.run(*args)
            positional, keywords = self.split(args)
            if missed in (ERRSTATE, OVERLAP, *LEFT_TO_NUMPY):
                return self.decline(missed.reason, positional, keywords)
            known = self.declined.cause(args)
            if known is not None:
                return self.decline(known, positional, keywords)
            with self.lock:
                if self.variants.compiled is seen and self.variants.segmented is None:
                    # no other thread made one meanwhile
                    made = self.compiled(positional, keywords)
                    break
        if isinstance(made, str):
            self.declined.add(args, made)
            return self.decline(made, positional, keywords)
        if isinstance(made, SegmentedFunction):
            return made.run(*args)
        result = made.launch(*args)
        if isinstance(result, Miss) and result in LEFT_TO_NUMPY:
            return self.decline(result.reason, positional, keywords)
        if isinstance(result, Miss):
            with self.lock:
                kept = tuple(v for v in self.variants.compiled if v is not made)
                self.variants.compiled = kept
            return self.decline(result.reason, positional, keywords)
        self.carrier.serve_first(made.launch)
        return result

    def compiled(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Compiled | SegmentedFunction | str:
        """A new variant for a call, entered into the table, or why there is none.

        A function in which Python has to run a statement is opened instead, once and for all calls
        that no earlier variant serves.
        """
        if self.options.is_part and len(self.variants) >= MOST_OF_A_PART:
            self.variants.segmented = self.without_contents(args, kwargs)
            if self.variants.segmented is not None:
                self.carrier.serve_first(self.variants.segmented.run)
                return self.variants.segmented
        if len(self.variants) >= self.options.max_variants:
            return f"more than {self.options.max_variants} variants"
        try:
            traced = trace(self.function, args, kwargs, self.options_now())
            if self.options.on_error and may_raise_late(traced.graph):
                self.variants.segmented = self.apart(traced, args, kwargs)
                return self.variants.segmented
            lowered = traced.fuse().lower()
            variant = lowered.compile()
            self.variants.compiled = (variant, *self.variants.compiled)
            if self.options.is_part:  # nobody but us has its arguments
                self.newest = lowered, sizes_of_call(lowered, self.bound(args, kwargs))
            return variant
        except Declined as declined:
            return declined.cause
        except FusejitError as error:
            if self.may_open(error):
                self.variants.segmented = self.opened(error, args, kwargs)
                if self.variants.segmented is None:  # there is no source, say
                    self.variants.segmented = self.of_python(error)
                    if not self.options.is_part:
                        self.note(str(error))
                elif isinstance(error, NeedsPython) and error.is_loop:
                    text = f"Python runs a loop of {self.function.__name__}: {error}"
                    warn(text)
            if self.variants.segmented is not None:
                if not self.variants.compiled:  # what is whole for other types stays so
                    self.carrier.serve_first(self.variants.segmented.run)
                return self.variants.segmented
            if self.options.is_part and not isinstance(error, InternalError | VerificationError):
                return str(error)  # what stands in front of it has run already
            raise strip_frames(error) from error.__cause__

    def options_now(self) -> Options:
        """The options; where another number is shown in text, Python makes the text from now on."""
        shows = any(v.traced.shows_numbers for v in self.variants.compiled)
        if not shows or self.options.fullgraph:
            return self.options
        return replace(self.options, python_texts=True)

    def may_open(self, error: FusejitError) -> bool:
        """Whether Python may run the statement at which the trace ended."""
        return not self.options.fullgraph and can_be_opened(error)

    def opened(
        self, error: FusejitError, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> SegmentedFunction | None:
        """The function as segments with Python between them."""
        return opened(self.openable(), self.bound(args, kwargs), error)

    def openable(self) -> Openable:
        """The function, and how its segments are compiled."""
        on_error = self.options.on_error
        return Openable(cast(Any, self.function), self.decorate_part, self.fused, on_error)

    def apart(
        self, traced: Traced, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> SegmentedFunction:
        """Each statement by itself of a segment that may raise behind a store: names are read."""
        made = opened_singly(self.openable(), self.bound(args, kwargs))
        at = traced.traced.location
        text = (
            f"{at.file}:{at.line}, in {at.function}: may raise behind a store, in a `try` or `with`"
        )
        return self.of_python(UnsupportedError(text)) if made is None else made

    def of_python(self, error: FusejitError) -> SegmentedFunction:
        """A part as Python runs it."""
        return of_python(cast(Any, self.function), self.plain, error)

    def without_contents(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> SegmentedFunction | None:
        """A part for which the contents of lists or texts make variants: Python reads those."""
        differing = contents_that_differ(v.traced.checks for v in self.variants.compiled)
        return opened_for_contents(self.openable(), self.bound(args, kwargs), differing)

    def bound(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """All arguments of a call by parameter, in order."""
        bound = self.signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return bound.arguments

    def decorate_part(self, function: Callable[..., Any], on_error: str) -> Callable[..., Any]:
        """A segment, or a function that Python calls between segments, in its fused form."""
        options = replace(self.options, is_part=True, on_error=on_error)
        return Dispatcher(function, options, self.fused).carrier.function

    def split(self, args: tuple[Any, ...]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Values in parameter order as positional and keyword arguments of the function."""
        bound = inspect.BoundArguments(
            self.signature,
            cast(Any, dict(zip(self.signature.parameters, args, strict=True))),
        )
        return bound.args, bound.kwargs

    def plain(self, *args: Any) -> Any:
        """Run the undecorated function; ``args`` are in parameter order."""
        positional, keywords = self.split(args)
        return self.function(*positional, **keywords)

    def decline(
        self,
        cause: str,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Any:
        """Run the undecorated function; warn once per cause unless NumPy raises."""
        if cause.startswith(NUMPY_RAISES):
            result = self.function(*args, **kwargs)
            self.note(f"it was expected to fail ({cause})")
            return result
        if self.options.fullgraph:
            self.variants.declined[cause] += 1
            raise UnsupportedError(
                f"{self.function.__name__}: this call cannot be compiled: {cause}. Without "
                "fullgraph=True it runs as plain NumPy."
            )
        self.note(cause)
        return self.function(*args, **kwargs)

    def note(self, cause: str) -> None:
        """Count a declined call; the first one of a cause warns at the user's line."""
        self.variants.declined[cause] += 1
        if self.variants.declined[cause] == 1:
            name = self.function.__name__
            text = f"{name} runs as plain NumPy for this call: {cause}"
            warn(text)
