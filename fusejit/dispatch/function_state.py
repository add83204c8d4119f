"""`FunctionState`: what all that serves, compiles or times one function's calls knows of it."""

from __future__ import annotations

from collections.abc import Callable
from inspect import Signature
from types import FunctionType
from typing import Any, Protocol, cast

from fusejit.dispatch.call_arguments import CallArguments
from fusejit.dispatch.diagnostics import Diagnostics
from fusejit.dispatch.fallback_cache import FallbackCache
from fusejit.dispatch.inline_cache import InlineCache
from fusejit.entry_stubs.entry_stub import EntryStub
from fusejit.options import Options
from fusejit.segments.fused_functions import FusedFunctions
from fusejit.support.budget import Allowance
from fusejit.support.identity import FunctionIdentity, own_signature
from fusejit.support.locks import WorkLock
from fusejit.variants import Variants


class DecoratedFunction(Protocol):
    """A decorated function before its first call: see `fusejit.decorated.Decorated`."""

    function: Callable[..., Any]
    options: Options
    fused: FusedFunctions | None
    allowance: Allowance
    variants: Variants
    shown_warnings: set[str]
    signature: Signature
    entry_stub: EntryStub
    identity: FunctionIdentity

    def interpret_for_debugger(self) -> Any:
        """Have Python run this call and those to come, while a debugger follows the program."""

    def looks_again(self) -> bool:
        """Whether the function starts again at a call that gets no variant."""

    def part(
        self, function: Callable[..., Any], options: Options, fused: FusedFunctions
    ) -> Callable[..., Any]:
        """A part of the function, or one that Python calls between its parts, decorated too."""


class FunctionState:
    """A decorated function and what was found out of it.

    Attributes
    ----------
    decorated : DecoratedFunction
    function : FunctionType
        The user's.
    options, variants, entry_stub
        Its own.
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

    def __init__(self, decorated: DecoratedFunction) -> None:
        self.decorated = decorated
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
