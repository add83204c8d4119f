"""`TimedTrial`: the clock decides whether a variant or Python serves, if both give equal bits.

`fusejit.tiering.cost_estimate` estimates from sizes alone, so that a choice is the same in every
run; how often a ``while`` goes round it can only guess. Where all that a variant computes has the
very bits of Python and NumPy, a few calls are timed: computed by both, if a call leaves nothing
behind but its results, and by either in turn otherwise. Which one is chosen can then be seen on the
clock alone. Python might take a hundred times as long: so calls that take long when they are
compiled are left out, unless the estimate takes both forms for about as fast, and two decide where
Python takes long.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from fusejit.dataclass import replace
from fusejit.ir.analysis.exactness import is_exact
from fusejit.ir.graph import Graph
from fusejit.outcome import Outcome
from fusejit.stages import Compiled
from fusejit.support.interrupts import is_from_handler
from fusejit.tiering.cost_estimate import CostEstimate
from fusejit.tiering.timings import CALLS, LONG_NS, MAX_LONG, MAX_SPOILED, count_timings, usual_ns

WARM_UP = 2  # calls, before any is timed
ENOUGH_NS = 1_000_000  # of Python's, after which two calls decide
MAX_SPEEDUP_OF_LONG_CALLS = (
    8.0  # times as fast as NumPy by the estimate, up to which long calls are timed
)
DECISIVE_RATIO = (
    4.0  # times as long, after which a few calls of each form decide though their work differs
)
MIN_CALLS = 2  # of each form, before anything is decided
MIN_DECISIVE_CALLS = 4  # such calls, where the estimate has another form for the faster one
MAX_SPEEDUP_TO_TRY = 2.0  # times as fast as NumPy; what the estimate takes for faster is not tried


def may_take_long(estimate: CostEstimate) -> bool:
    """Whether Python's form of a long call is not much longer, so that it may be computed by it."""
    return MAX_SPEEDUP_OF_LONG_CALLS * estimate.compiled_ns > estimate.numpy_ns


def may_be_tried(estimate: CostEstimate, graph: Graph) -> bool:
    """Whether the clock is to be asked about a graph, and may be."""
    is_doubtful = estimate.is_guess or MAX_SPEEDUP_TO_TRY * estimate.compiled_ns > estimate.numpy_ns
    return is_doubtful and is_exact(graph)


class TimedTrial:
    """A few calls that are timed.

    Parameters
    ----------
    variant : Compiled
    plain : callable
        Computes the same by Python; takes the parameters by position.
    estimate : CostEstimate
    decided : callable
        Is called with whether Python is the faster one, and with the arguments of the call that
        has decided it: none are kept in between.
    is_repeatable : bool
        Whether both forms may compute the same call.
    spared_ns : int
        Nanoseconds that Python spares besides, if it serves all calls.
    tries_long : bool
        Whether long calls are timed too: by either form in turn.

    Attributes
    ----------
    compiled_times, python_times : list of int
        Nanoseconds of the timed calls so far.
    """

    def __init__(
        self,
        variant: Compiled,
        plain: Callable[..., Any],
        estimate: CostEstimate,
        decided: Callable[[TimedTrial, bool, tuple[Any, ...]], None],
        clock: Callable[[], int] = time.perf_counter_ns,
        *,
        is_repeatable: bool = True,
        spared_ns: int = 0,
        tries_long: bool = False,
    ) -> None:
        self.variant = variant
        self.compiled_times: list[int] = []
        self.python_times: list[int] = []
        self.calls = 0
        self._long_calls = 0
        self._spoiled_calls = 0
        self._python = plain
        self._estimate = estimate
        self._decided = decided
        self._clock = clock
        self._is_repeatable = is_repeatable
        self._spared_ns = spared_ns
        self._tries_long = tries_long
        self._is_open = True
        self._is_busy = False

    def cost(self) -> CostEstimate:
        """What a call costs both ways by the clock; the estimate, if one form was not timed."""
        if not self.compiled_times or not self.python_times:
            return self._estimate
        return replace(
            self._estimate,
            numpy_ns=usual_ns(self.python_times),
            compiled_ns=usual_ns(self.compiled_times),
            is_measured=True,
        )

    def launch(self, *args: Any) -> Any:
        """What the variant's launcher returns, or what Python does in its turn."""
        if self._is_busy or not self._is_open:  # Python's form calls the function itself
            return self.variant.launch(*args)
        self._is_busy = True
        try:
            return self._timed(args)
        finally:
            self._is_busy = False

    def _timed(self, args: tuple[Any, ...]) -> Any:
        if self.calls >= WARM_UP and not self._is_repeatable and self._is_pythons_turn():
            return self._by_python(args)
        count_timings()
        begin = self._clock()
        result = self._runs_compiled(args)
        compiled_ns = self._clock() - begin
        if result.__class__ is Outcome:
            return result
        self.calls += 1
        if self.calls <= WARM_UP:
            return result
        if compiled_ns > LONG_NS and self._tries_long:
            self._is_repeatable = False
        elif compiled_ns > LONG_NS:
            self._long_calls += 1
            if self._long_calls >= MAX_LONG:
                self._end(False, args)
            return result
        if self._is_repeatable:
            timed = len(self.python_times)
            try:
                self._by_python(args)
            except Exception as error:
                if is_from_handler(error):
                    raise
            if len(self.python_times) == timed:
                return result
        self.compiled_times.append(compiled_ns)
        self._look(args)
        return result

    def _is_pythons_turn(self) -> bool:
        """Whose turn it is: the sequence of Thue and Morse, which no period of a program follows.

        So a function that is called with long and short work in turn is timed fairly.
        """
        timed = len(self.compiled_times) + len(self.python_times)
        return bool(timed.bit_count() % 2)

    def _by_python(self, args: tuple[Any, ...]) -> Any:
        """Compute a call by Python; an exception ends the trial."""
        timings = count_timings()
        begin = self._clock()
        try:
            result = self._run_python(args)
        except Exception as error:
            if not is_from_handler(error):
                self._end(False, args)
            raise
        python_ns = self._clock() - begin
        if count_timings() != timings + 1 and self._spoiled_calls < MAX_SPOILED:
            self._spoiled_calls += 1  # a function that it called was timed in its turn
            return result
        self.python_times.append(python_ns)
        if not self._is_repeatable:
            self._look(args)
        return result

    def _runs_compiled(self, args: tuple[Any, ...]) -> Any:
        return self.variant.launch(*args)

    def _run_python(self, args: tuple[Any, ...]) -> Any:
        return self._python(*args)

    def _look(self, args: tuple[Any, ...]) -> None:
        """Decide if enough calls were timed."""
        timed = min(len(self.compiled_times), len(self.python_times))
        if timed < MIN_CALLS or not self._is_open:
            return
        compiled_ns, python_ns = map(usual_ns, (self.compiled_times, self.python_times))
        is_enough = sum(self.python_times) > ENOUGH_NS
        if not self._is_repeatable:
            is_clear = max(compiled_ns, python_ns) > DECISIVE_RATIO * min(compiled_ns, python_ns)
            is_expected = (compiled_ns < python_ns) == self._estimate.pays
            is_enough &= is_clear and (is_expected or timed >= MIN_DECISIVE_CALLS)
        if timed >= CALLS or is_enough:
            self._end(python_ns < compiled_ns + self._spared_ns, args)

    def _end(self, python_is_faster: bool, args: tuple[Any, ...]) -> None:
        self._is_open = False
        self._decided(self, python_is_faster, args)
