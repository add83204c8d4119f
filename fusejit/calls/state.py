"""`FunctionState`: what all that serves, compiles or times one function's calls knows of it."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any, cast

from fusejit.budget import Allowance
from fusejit.calls.alternation import Alternation
from fusejit.calls.arguments import CallArguments
from fusejit.calls.declined import DeclinedCalls
from fusejit.calls.telling import Telling
from fusejit.decorated import Decorated
from fusejit.identity import Identity, own_signature
from fusejit.locks import ForkSafeLock
from fusejit.segments.fused_functions import FusedFunctions


class FunctionState:
    """A decorated function and what was found out of it.

    Attributes
    ----------
    function : FunctionType
        The user's.
    options, variants, carrier
        See `fusejit.decorated.Decorated`.
    fused : FusedFunctions
        What Python calls between segments, in its fused form.
    parts_time : Allowance
        The processor time that all of its parts have.
    lock : ForkSafeLock
        Whoever changes the variants has it.
    telling : Telling
    identity : Identity
        Its code and default values; ``arguments`` and ``declined`` are for these.
    arguments : CallArguments
    declined : DeclinedCalls
    alternation : Alternation
    """

    alternation: Alternation

    def __init__(self, decorated: Decorated) -> None:
        self.function = cast(FunctionType, decorated.function)
        self.options = decorated.options
        self.variants = decorated.variants
        self.carrier = decorated.carrier
        self.fused = FusedFunctions() if decorated.fused is None else decorated.fused
        self.parts_time = decorated.parts_time or Allowance(self.options.compile_seconds)
        self.lock = ForkSafeLock()
        self.telling = Telling(self.function, self.options, self.variants, self.fused.told)
        self.identity = decorated.identity
        self.arguments = CallArguments(self.function, decorated.signature)
        self.declined = DeclinedCalls(guesses=not self.options.fullgraph)

    @property
    def run_plain(self) -> Callable[..., Any]:
        """Runs the undecorated function; takes all parameters by position."""
        return self.arguments.run

    def renew(self) -> None:
        """Take on code and default values as they are now; nothing is known of these."""
        self.identity = Identity(self.function)
        self.arguments = CallArguments(self.function, own_signature(self.function))
        self.declined = DeclinedCalls(guesses=not self.options.fullgraph)
        self.variants.compiled = ()
        self.variants.segmented = None
        self.variants.of_kinds = ()
        self.variants.retired = ""
