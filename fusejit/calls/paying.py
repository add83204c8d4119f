"""`Paying`: which calls of a function Python runs, because compiling them does not pay.

That is what the estimate says (`fusejit.profit.estimate`) when a call is traced, or the clock
afterwards (`fusejit.profit.trial`). Both are asked anew for larger arguments and after many calls.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fusejit.calls.serving import Serving
from fusejit.calls.state import FunctionState
from fusejit.carrier import no_variant
from fusejit.dataclass import replace
from fusejit.ir.analysis.exactness import is_repeatable
from fusejit.outcome import MISS, Outcome
from fusejit.outside import resolver
from fusejit.profit.estimate import PART, Profit, profit
from fusejit.profit.retiring import RetiredFunction
from fusejit.profit.settling import FIRST_LOOK, LATER_LOOKS
from fusejit.profit.trial import Trial, may_take_long, usual_ns
from fusejit.stages import Compiled, Traced


class Paying:
    """What is known of the costs of one function's calls.

    Parameters
    ----------
    state : FunctionState
        That of the function.
    serving : Serving
    launched : callable
        Asks a variant to serve a call: its result, or an `Outcome`.

    Attributes
    ----------
    retired : RetiredFunction or None
        Which calls Python runs.
    trial : Trial or None
        What is being timed.
    watchers : list of callable
        Told when it changes whether the function pays.
    """

    def __init__(
        self,
        state: FunctionState,
        serving: Serving,
        launched: Callable[[Compiled, tuple[Any, ...]], Any],
    ) -> None:
        self._variants = state.variants
        self._options = state.options
        self._function = state.function
        self._carrier = state.carrier
        self._state = state
        self._serving = serving
        self._launched = launched
        self.retired: RetiredFunction | None = None
        self.trial: Trial | None = None
        self.watchers: list[Callable[[], None]] = []

    def estimate(self, traced: Traced, args: tuple[Any, ...]) -> Profit | None:
        """What calls like this one cost; None where nothing is left to Python for that."""
        if self._options.fullgraph or not self._options.retires:
            return None
        find = resolver(self._function, self._state.arguments.named(args), traced.traced.constants)
        return profit(traced.traced, find, is_part=self._options.is_part)

    def retire(
        self, estimate: Profit, args: tuple[Any, ...], variant: Compiled | None = None
    ) -> RetiredFunction:
        """Leave calls like this one to Python, as compiling does not pay for them."""
        looks = FIRST_LOOK
        if self.retired is not None:
            looks = LATER_LOOKS * self.retired.next_look
        self.retired = RetiredFunction(estimate, self._function, args, looks, variant)
        self._variants.retired = str(estimate)
        self._state.alternation.forget(no_variant)
        self._serving.serve_python(self.retired.guard)
        self.tell()
        return self.retired

    def tell(self) -> None:
        """Tell who asks whether it pays that this may have changed."""
        for changed in self.watchers:
            changed()

    def asked(self, variant: Compiled) -> Callable[..., Any]:
        """What a call asks of a variant: its launcher, or the trial that times it."""
        trial = self.trial
        return trial.launch if trial is not None and trial.variant is variant else variant.launch

    def launchers(self) -> list[Callable[..., Any]]:
        """What calls ask of all variants."""
        return [*map(self.asked, self._variants.compiled)]

    def try_out(self, variant: Compiled, estimate: Profit, args: tuple[Any, ...]) -> None:
        """Have the clock decide between Python and the only variant that there is."""

        def decided(trial: Trial, is_pythons: bool) -> None:
            with self._state.lock:
                if self.trial is not trial:
                    return
                asked, self.trial = self._carrier.first, None
                if is_pythons and self._variants.compiled == (variant,):
                    self._variants.compiled = ()
                    ours, pythons = usual_ns(trial.ours), usual_ns(trial.pythons)
                    timed = replace(estimate, numpy_ns=pythons, compiled_ns=ours)
                    self.retire(timed, args, variant)
                    return
                self._state.alternation.forget(trial.launch)
                if asked == trial.launch:
                    self._carrier.serve_first(variant.launch)

        if self._variants.compiled == (variant,):
            self.trial = Trial(
                variant,
                self._state.run_plain,
                decided,
                is_repeatable=is_repeatable(variant.traced.graph),
                spared_ns=PART if self._options.is_part else 0,
                tries_long=may_take_long(estimate),
            )

    def tried_again(self, args: tuple[Any, ...]) -> Any:
        """Time the variant that was slower by the clock again: what it returns, or why not.

        An `Outcome` if there is none, or if it does not serve the call.
        """
        retired = self.retired
        if retired is None or retired.variant is None or self._variants.compiled:
            return MISS
        variant = retired.variant
        variant.renew()
        result = self._launched(variant, args)
        if isinstance(result, Outcome):
            return result
        with self._state.lock:
            if self.retired is retired and not self._variants.compiled:
                self._variants.compiled, self._variants.retired = (variant,), ""
                self.try_out(variant, retired.estimate, args)
                self._carrier.serve_first(self.asked(variant))
        return result

    @property
    def is_plain(self) -> bool:
        """Whether the function itself runs for all calls so far, as compiling it does not pay."""
        if self._variants.compiled:
            return False
        opened = self._variants.opened
        return self.retired is not None if not opened else all(s.is_plain for s in opened)

    @property
    def depends_on_sizes(self) -> bool:
        """Whether larger arguments may change that."""
        if self._variants.opened:
            return any(segmented.depends_on_sizes for segmented in self._variants.opened)
        return self.retired is not None and self.retired.depends_on_sizes

    def look_again(self) -> None:
        """Ask anew whether compiling pays, at the next call."""
        if self.retired is not None:
            self.retired.look_again()
            self._state.alternation.forget(no_variant)
            if not self._variants.compiled:
                self._carrier.serve_first(no_variant)
