"""`TieringPolicy`: which calls of a function Python runs, because compiling them does not pay.

That is what the estimate says (`fusejit.tiering.cost_estimate`) when a call is traced, or the clock
afterwards (`fusejit.tiering.timed_trial`), or how many calls raise
(`fusejit.tiering.raise_trial`). All are checked again for larger arguments and after many calls.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from fusejit.dataclass import replace
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
    raise_trial : RaiseTrial or None
        Counts how many calls raise.
    timed_trials : list of TimedTrial
        Of variants that are being timed.
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
        self.raise_trial: RaiseTrial | None = None
        self.timed_trials: list[TimedTrial] = []
        self.costs: CostEstimate | None = None
        self._raises_often = False
        self.watchers: list[Callable[[], None]] = []

    def renew(self) -> None:
        """Forget what is known, as the function is another one."""
        self.interpreted = self.raise_trial = None
        self.timed_trials = []

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
        if self.raise_trial is not None:
            return self.raise_trial.launcher_of(variant)
        timed = (trial.launch for trial in self.timed_trials if trial.variant is variant)
        return next(timed, variant.launch)

    def launchers(self) -> list[Callable[..., Any]]:
        """What calls ask of all variants."""
        return [*map(self.launcher_of, self._variants.compiled)]

    def entered(self, variant: Compiled, estimate: CostEstimate | None) -> None:
        """A variant is there: have the clock decide about it, if that is to decide and may."""
        self.costs = estimate
        if estimate is not None and may_be_tried(estimate, variant.traced.graph):
            self.try_out(variant, estimate)

    def try_out(self, variant: Compiled, estimate: CostEstimate) -> None:
        """Have the clock decide between Python and a variant, for the calls that this serves."""

        def decided(trial: TimedTrial, python_is_faster: bool, args: tuple[Any, ...]) -> None:
            with self._state.lock:
                if trial not in self.timed_trials:
                    return
                self.costs = timed = trial.cost()
                if not python_is_faster:
                    self._variants.measured = timed if timed.is_measured else None
                with self._other_launchers():
                    self.timed_trials.remove(trial)
                if python_is_faster:
                    self._leave(variant, timed, args)

        self.timed_trials.append(
            TimedTrial(
                variant,
                self._state.run_python,
                estimate,
                decided,
                is_repeatable=is_repeatable(variant.traced.graph) and not variant.traced.writes,
                spared_ns=PART if self._options.is_segment else 0,
                tries_long=may_take_long(estimate),
            )
        )

    def _leave(self, variant: Compiled, timed: CostEstimate, args: tuple[Any, ...]) -> None:
        """Leave the calls that a variant has served to Python, unless another variant serves them.

        Those that were slower before may be asked again, too.
        """
        kept = tuple(one for one in self._variants.compiled if one is not variant)
        before = () if self.interpreted is None else self.interpreted.variants
        slower = (variant, *(one for one in before if one is not variant and one not in kept))
        self._variants.compiled = kept
        if self._entry_stub.first == variant.launch:
            self._entry_stub.install_launcher(no_variant)
        self.demote(timed, args, slower)

    def count_raised(
        self, args: tuple[Any, ...], *, is_often: bool, is_guarded: bool = False
    ) -> None:
        """A call has raised, or a kernel gave it back; count how many do, if that comes often.

        A guard has told so if it ``is_guarded``.
        """
        if self._options.fullgraph or not self._options.tiering:
            return
        if self.raise_trial is not None:
            self.raise_trial.count_raised(args, is_guarded=is_guarded)
        elif not self._variants.compiled and not self._variants.all_segmented:
            self._leave_raising(args, is_often=is_often)
        elif is_often and self._variants.compiled and self.costs and not self._is_timing:
            with self._state.lock, self._other_launchers():
                self.raise_trial = RaiseTrial(self._decide_by_raises, self.costs.compiled_ns)

    @property
    def _is_timing(self) -> bool:
        """Whether a variant that serves calls is being timed."""
        return any(trial.variant in self._variants.compiled for trial in self.timed_trials)

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
        """Leave the function to Python if calls that end there cost more than the others save."""
        with self._state.lock:
            if self.raise_trial is not trial:
                return
            compiled, costs = self._variants.compiled, self.costs
            self._raises_often = costs is not None and raises_too_often(costs, raised_ns, returned)
            if compiled and costs is not None and self._raises_often:
                self.raise_trial, self._variants.compiled = None, ()
                costs = replace(costs, ended=trial.raised, counted=trial.raised + returned)
                self.demote(costs, args, compiled)
            else:
                with self._other_launchers():
                    self.raise_trial = None

    @contextmanager
    def _other_launchers(self) -> Iterator[None]:
        """While it changes how calls ask for variants, or whether they ask a trial."""
        first_launcher = self._entry_stub.first
        changed = {self.launcher_of(variant): variant for variant in self._variants.compiled}
        yield
        variant = changed.get(first_launcher)
        self._state.inline_cache.forget(no_variant)
        if variant is not None:
            self._entry_stub.install_launcher(self.launcher_of(variant))

    def tried_again(self, args: tuple[Any, ...]) -> Any:
        """Try the variants again that were slower: what one returns, or why none serves the call.

        An `Outcome` if there is none, or if it does not serve the call.
        """
        interpreted, missed = self.interpreted, MISS
        if interpreted is None:
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
            compiled = self._variants.compiled
            if self.interpreted is interpreted and variant not in compiled:
                again = interpreted.variants if self._raises_often else (variant,)
                self._variants.compiled, self._variants.interpreted = (*again, *compiled), ""
                self._try_again(variant, interpreted.estimate)
                self._entry_stub.install_launcher(self.launcher_of(variant))
        return result

    def _try_again(self, variant: Compiled, estimate: CostEstimate) -> None:
        """Ask again what has decided against the variants."""
        if self._raises_often:
            self.costs = estimate
            self.raise_trial = RaiseTrial(self._decide_by_raises, estimate.compiled_ns)
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
