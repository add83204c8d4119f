"""`TieringPolicy`: which calls of a function Python runs, because compiling them does not pay.

That is what the estimate says (`fusejit.tiering.cost_estimate`) when a call is traced, or the clock
afterwards (`fusejit.tiering.timed_trial`), or how many calls raise
(`fusejit.tiering.raise_trial`). All are checked again for larger arguments and after many calls.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fusejit.dispatch.entry_installer import EntryInstaller
from fusejit.dispatch.function_state import FunctionState
from fusejit.entry_stubs.entry_stub import no_variant
from fusejit.ir.analysis.exactness import is_repeatable
from fusejit.outcome import MISS, Outcome
from fusejit.path_resolver import resolver
from fusejit.stages import Compiled, Traced
from fusejit.tiering.cost_estimate import PART, CostEstimate, estimate_cost
from fusejit.tiering.interpreted_function import InterpretedFunction
from fusejit.tiering.raise_trial import NOTHING_SAVED, RaiseTrial, raises_too_often
from fusejit.tiering.segment_profiler import FIRST_REPROFILE, REPROFILE_BACKOFF
from fusejit.tiering.timed_trial import TimedTrial, may_be_tried, may_take_long


class TieringPolicy:
    """What is known of the costs of one function's calls.

    Parameters
    ----------
    state : FunctionState
        That of the function.
    installer : EntryInstaller
    launched : callable
        Asks a variant to serve a call: its result, or an `Outcome`.

    Attributes
    ----------
    interpreted : InterpretedFunction or None
        Which calls Python runs.
    trial : TimedTrial or RaiseTrial or None
        What is being timed, or counted.
    costs : CostEstimate or None
        Of the newest variant.
    watchers : list of callable
        Told when it changes whether the function pays.
    """

    def __init__(
        self,
        state: FunctionState,
        installer: EntryInstaller,
        launched: Callable[[Compiled, tuple[Any, ...]], Any],
    ) -> None:
        self._variants = state.variants
        self._options = state.options
        self._function = state.function
        self._entry_stub = state.entry_stub
        self._state = state
        self._installer = installer
        self._launched = launched
        self.interpreted: InterpretedFunction | None = None
        self.trial: TimedTrial | RaiseTrial | None = None
        self.costs: CostEstimate | None = None
        self._raises_often = False
        self.watchers: list[Callable[[], None]] = []

    def estimate(self, traced: Traced, args: tuple[Any, ...]) -> CostEstimate | None:
        """What calls like this one cost; None where nothing is left to Python for that."""
        if self._options.fullgraph or not self._options.tiering:
            return None
        find = resolver(self._function, self._state.arguments.named(args), traced.traced)
        return estimate_cost(traced.traced, find, is_segment=self._options.is_segment)

    def demote(
        self, estimate: CostEstimate, args: tuple[Any, ...], variants: tuple[Compiled, ...] = ()
    ) -> InterpretedFunction:
        """Leave calls like this one to Python, as compiling does not pay for them.

        The ``variants`` are those that have served calls until now.
        """
        looks = FIRST_REPROFILE
        if self.interpreted is not None:
            looks = REPROFILE_BACKOFF * self.interpreted.next_reprofile
        self.interpreted = InterpretedFunction(estimate, self._function, args, looks, variants)
        self._variants.interpreted = str(estimate)
        self._state.inline_cache.forget(no_variant)
        self._installer.install_python(self.interpreted.guard)
        self.notify_watchers()
        return self.interpreted

    def notify_watchers(self) -> None:
        """Notify watchers that the profitability of the function may have changed."""
        for changed in self.watchers:
            changed()

    def launcher_of(self, variant: Compiled) -> Callable[..., Any]:
        """What a call asks of a variant: its launcher, or the trial that times it."""
        trial = self.trial
        return variant.launch if trial is None else trial.launcher_of(variant)

    def launchers(self) -> list[Callable[..., Any]]:
        """What calls ask of all variants."""
        return [*map(self.launcher_of, self._variants.compiled)]

    def entered(self, variant: Compiled, estimate: CostEstimate | None) -> None:
        """A variant is there: have the clock decide about it, if that is to decide and may."""
        self.costs = estimate
        if estimate is not None and may_be_tried(estimate, variant.traced.graph):
            self.try_out(variant, estimate)

    def try_out(self, variant: Compiled, estimate: CostEstimate) -> None:
        """Have the clock decide between Python and the only variant that there is."""

        def decided(trial: TimedTrial, python_is_faster: bool, args: tuple[Any, ...]) -> None:
            with self._state.lock:
                if self.trial is not trial:
                    return
                self.costs = timed = trial.cost(estimate)
                if python_is_faster and self._variants.compiled == (variant,):
                    self.trial, self._variants.compiled = None, ()
                    self.demote(timed, args, (variant,))
                    return
                self._variants.measured = timed if timed.is_measured else None
                self._replace_trial(None)

        if self._variants.compiled == (variant,):
            self.trial = TimedTrial(
                variant,
                self._state.run_python,
                decided,
                is_repeatable=is_repeatable(variant.traced.graph),
                spared_ns=PART if self._options.is_segment else 0,
                tries_long=may_take_long(estimate),
            )

    def count_raised(
        self, args: tuple[Any, ...], *, is_often: bool, is_guarded: bool = False
    ) -> None:
        """A call has raised; count from now on how many do, if that comes often.

        A guard has told so if it ``is_guarded``.
        """
        trial = self.trial
        if self._options.fullgraph or not self._options.tiering:
            return
        if isinstance(trial, RaiseTrial):
            trial.count_raised(args, is_guarded=is_guarded)
        elif not self._variants.compiled and not self._variants.all_segmented:
            self._leave_raising(args, is_often=is_often)
        elif trial is None and is_often and self._variants.compiled and self.costs is not None:
            with self._state.lock:
                self._replace_trial(RaiseTrial(self._decide_by_raises))

    def _leave_raising(self, args: tuple[Any, ...], *, is_often: bool) -> None:
        """Leave calls to Python of which none has been compiled, or none shall be."""
        interpreted = self.interpreted
        if interpreted is None and is_often:
            self.demote(NOTHING_SAVED, args)
        elif interpreted is not None and interpreted.guard.calls >= interpreted.guard.due:
            self.demote(
                interpreted.estimate, args, interpreted.variants
            )  # another call is looked at

    def _decide_by_raises(
        self, trial: RaiseTrial, raised_ns: float, returned: int, args: tuple[Any, ...]
    ) -> None:
        """Leave the function to Python if calls that raise cost more than the others save."""
        with self._state.lock:
            if self.trial is not trial:
                return
            compiled, costs = self._variants.compiled, self.costs
            self._raises_often = costs is not None and raises_too_often(costs, raised_ns, returned)
            if compiled and costs is not None and self._raises_often:
                self.trial, self._variants.compiled = None, ()
                self.demote(costs, args, compiled)
            else:
                self._replace_trial(None)

    def _replace_trial(self, trial: RaiseTrial | None) -> None:
        """Have calls ask for variants in another way, or in none of their own."""
        first_launcher = self._entry_stub.first
        changed = {self.launcher_of(variant): variant for variant in self._variants.compiled}
        self.trial = trial
        variant = changed.get(first_launcher)
        self._state.inline_cache.forget(no_variant)
        if variant is not None:
            self._entry_stub.install_launcher(self.launcher_of(variant))

    def tried_again(self, args: tuple[Any, ...]) -> Any:
        """Try the variants again that were slower: what one returns, or why none serves the call.

        An `Outcome` if there is none, or if it does not serve the call.
        """
        interpreted, missed = self.interpreted, MISS
        if interpreted is None or self._variants.compiled:
            return missed
        for variant in interpreted.variants:
            variant.renew()
            result = self._launched(variant, args)
            if not isinstance(result, Outcome):
                break
            missed = missed if result is MISS else result
        else:
            return missed
        with self._state.lock:
            if self.interpreted is interpreted and not self._variants.compiled:
                self._variants.compiled, self._variants.interpreted = interpreted.variants, ""
                self._try_again(variant, interpreted.estimate)
                self._entry_stub.install_launcher(self.launcher_of(variant))
        return result

    def _try_again(self, variant: Compiled, estimate: CostEstimate) -> None:
        """Ask again what has decided against the variants."""
        if self._raises_often:
            self.costs, self.trial = estimate, RaiseTrial(self._decide_by_raises)
        else:
            self.entered(variant, estimate)

    @property
    def runs_interpreted(self) -> bool:
        """Whether the function itself runs for all calls so far, as compiling it does not pay."""
        if self._variants.compiled:
            return False
        segmented = self._variants.all_segmented
        return (
            self.interpreted is not None
            if not segmented
            else all(s.runs_interpreted for s in segmented)
        )

    def compiles_nothing(self, asked: set[int]) -> bool:
        """Whether nothing is compiled in the function and what it calls, besides what is ``asked``.

        So functions that call each other are taken together. Adds itself to ``asked``.
        """
        if id(self) in asked:
            return True
        asked.add(id(self))
        segmented = self._variants.all_segmented
        if self._variants.compiled or not segmented:
            return self.runs_interpreted
        return all(each.compiles_nothing(asked) for each in segmented)

    @property
    def depends_on_sizes(self) -> bool:
        """Whether larger arguments may change that."""
        if self._variants.all_segmented:
            return any(segmented.depends_on_sizes for segmented in self._variants.all_segmented)
        return self.interpreted is not None and self.interpreted.depends_on_sizes

    @property
    def may_take_long(self) -> bool:
        """Whether Python's form of a long call is not much longer, by the estimate."""
        return self.costs is None or may_take_long(self.costs)

    def request_reprofile(self) -> None:
        """Check again whether compiling pays, at the next call."""
        if self.interpreted is not None:
            self.interpreted.request_reprofile()
            self._state.inline_cache.forget(no_variant)
            if not self._variants.compiled:
                self._entry_stub.install_launcher(no_variant)
