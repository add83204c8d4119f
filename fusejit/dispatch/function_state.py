"""`FunctionState`: what all that serves, compiles or times one function's calls knows of it."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any, cast

from fusejit.decorated import Decorated
from fusejit.dispatch.call_arguments import CallArguments
from fusejit.dispatch.diagnostics import Diagnostics
from fusejit.dispatch.fallback_cache import FallbackCache
from fusejit.dispatch.inline_cache import InlineCache
from fusejit.identity import FunctionIdentity, own_signature
from fusejit.locks import WorkLock
from fusejit.segments.fused_functions import FusedFunctions


class FunctionState:
    """A decorated function and what was found out of it.

    Attributes
    ----------
    function : FunctionType
        The user's.
    options, variants, entry_stub
        See `fusejit.decorated.Decorated`.
    fused : FusedFunctions
        What Python calls between segments, in its fused form.
    allowance : Allowance
        The processor time that all of its parts have.
    lock : WorkLock
        Whoever changes the variants has it.
    diagnostics : Diagnostics
    identity : FunctionIdentity
        Its code and default values; ``arguments`` and ``fallback_cache`` are for these.
    arguments : CallArguments
    fallback_cache : FallbackCache
    inline_cache : InlineCache
    """

    inline_cache: InlineCache

    def __init__(self, decorated: Decorated) -> None:
        self.function = cast(FunctionType, decorated.function)
        self.options = decorated.options
        self.variants = decorated.variants
        self.entry_stub = decorated.entry_stub
        self.fused = decorated.fused or FusedFunctions(decorated.shown_warnings)
        self.allowance = decorated.allowance
        self.lock = WorkLock()
        self.diagnostics = Diagnostics(
            self.function, self.options, self.variants, self.fused.shown_warnings
        )
        self.identity = decorated.identity
        self.arguments = CallArguments(self.function, decorated.signature)
        self.fallback_cache = FallbackCache(guesses=not self.options.fullgraph)

    @property
    def run_python(self) -> Callable[..., Any]:
        """Runs the undecorated function; takes all parameters by position."""
        return self.arguments.run

    def renew(self) -> None:
        """Take on code and default values as they are now; nothing is known of these."""
        self.identity = FunctionIdentity(self.function)
        self.arguments = CallArguments(self.function, own_signature(self.function))
        self.fallback_cache = FallbackCache(guesses=not self.options.fullgraph)
        self.variants.compiled = ()
        self.variants.segmented = None
        self.variants.for_types = ()
        self.variants.interpreted = ""
        self.allowance.renew()
