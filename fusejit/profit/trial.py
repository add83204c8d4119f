"""`Trial`: the clock decides whether a variant or Python serves calls, where it changes no bit.

`fusejit.profit.estimate` estimates from sizes alone, so that a choice is the same in every run; how
often a ``while`` goes round it can only guess. Where all that a variant computes has the very bits
of Python and NumPy, and a call leaves nothing behind but its results, a few calls are computed by
both and timed. Which one is chosen can then be seen on the clock alone. Python might take a hundred
times as long: so calls that take long when they are compiled are left out, and two decide where
Python takes long.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from fusejit.interrupts import is_from_handler
from fusejit.ir.analysis.exactness import is_exact, is_repeatable
from fusejit.ir.graph import Graph
from fusejit.outcome import Outcome
from fusejit.profit.estimate import Profit
from fusejit.stages import Compiled

WARM_UP = 2  # calls, before any is timed
CALLS = 16  # that are computed by both, and timed
ENOUGH_NS = 1_000_000  # of Python's, after which two calls decide
LONG_NS = 1_000_000  # a call that is so long when compiled is not computed by Python
MOST_LONG = 3  # such calls, before the variant is taken for the faster one
NEAR = 2.0  # times as fast as NumPy; what the estimate takes for faster is not tried


def may_be_tried(estimate: Profit, graph: Graph) -> bool:
    """Whether the clock is to be asked about a graph, and may be."""
    is_doubtful = estimate.is_guess or NEAR * estimate.compiled_ns > estimate.numpy_ns
    return is_doubtful and is_repeatable(graph) and is_exact(graph)


class Trial:
    """A few calls that both compute.

    Parameters
    ----------
    variant : Compiled
    plain : callable
        Computes the same by Python; takes the parameters by position.
    decided : callable
        Is told whether Python is the faster one.

    Attributes
    ----------
    ours_ns, pythons_ns : int
        What the timed calls so far took.
    """

    def __init__(
        self,
        variant: Compiled,
        plain: Callable[..., Any],
        decided: Callable[[Trial, bool], None],
        clock: Callable[[], int] = time.perf_counter_ns,
    ) -> None:
        self.variant = variant
        self.ours_ns = self.pythons_ns = 0
        self.calls = self.timed = 0
        self._long_calls = 0
        self._plain = plain
        self._decided = decided
        self._clock = clock
        self._is_open = True
        self._is_busy = False

    def launch(self, *args: Any) -> Any:
        """What the variant's launcher returns."""
        if self._is_busy or not self._is_open:  # Python's form calls the function itself
            return self.variant.launch(*args)
        self._is_busy = True
        try:
            return self._timed(args)
        finally:
            self._is_busy = False

    def _timed(self, args: tuple[Any, ...]) -> Any:
        begin = self._clock()
        result = self._runs_compiled(args)
        ours_ns = self._clock() - begin
        if result.__class__ is Outcome:
            return result
        self.calls += 1
        if self.calls <= WARM_UP:
            return result
        if ours_ns > LONG_NS:
            self._long_calls += 1
            if self._long_calls >= MOST_LONG:
                self._end(False)
            return result
        begin = self._clock()
        if not self._runs_plainly(args):
            return result
        self.pythons_ns += self._clock() - begin
        self.ours_ns += ours_ns
        self.timed += 1
        is_enough = self.pythons_ns > ENOUGH_NS and self.timed >= 2
        if (self.timed >= CALLS or is_enough) and self._is_open:
            self._end(self.pythons_ns < self.ours_ns)
        return result

    def _runs_compiled(self, args: tuple[Any, ...]) -> Any:
        return self.variant.launch(*args)

    def _runs_plainly(self, args: tuple[Any, ...]) -> bool:
        """Compute the call by Python; an exception ends the trial."""
        try:
            self._plain(*args)
        except Exception as error:
            if is_from_handler(error):
                raise
            self._end(False)
            return False
        return True

    def _end(self, is_pythons: bool) -> None:
        self._is_open = False
        self._decided(self, is_pythons)
