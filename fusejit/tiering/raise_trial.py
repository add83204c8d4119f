"""Decides whether a compiled function saves more time than its calls cost that end in Python.

Where a kernel finds that NumPy or the program raises, Python computes the call once more and raises
its own exception, which fusejit's frames are cut from. That takes longer than a short call as a
whole: a function that looks at its data and raises for every third call is better left to Python.
So is one whose integers mostly exceed 64 bits, where a kernel undoes its stores.

What a call saves is `fusejit.tiering.cost_estimate`'s estimate, or was measured. No clock is asked
here: the calls are counted. So the choice is the same in every run.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fusejit.outcome import Outcome
from fusejit.stages import Compiled
from fusejit.tiering.cost_estimate import CostEstimate

COUNTED = 64  # calls, of which it is counted how many raise
RAISED_NS = 8_000  # what a call that raises costs besides what it costs in Python
LOOKED_UP_NS = 15_000  # and more, if no guard has told it

NOTHING_SAVED = CostEstimate(0.0, RAISED_NS, is_scalar=False, is_conditional=True)
"""Of a function of which all calls raise."""


def raises_too_often(estimate: CostEstimate, raised_ns: float, returned: int) -> bool:
    """Whether calls that raise cost more than the others save."""
    return raised_ns > returned * (estimate.numpy_ns - estimate.compiled_ns)


class RaiseTrial:
    """Some calls of a function that are counted: what returns is counted here.

    Parameters
    ----------
    decided : callable
        Is called with what the calls that raised have cost, in nanoseconds, with how many others
        there were, and with the arguments of the last one.
    kernel_ns : float
        The time of a kernel that gives a call back.
    """

    def __init__(
        self,
        decided: Callable[[RaiseTrial, float, int, tuple[Any, ...]], None],
        kernel_ns: float = 0.0,
    ) -> None:
        self.raised = self.returned = 0
        self.raised_ns = 0.0
        self._decided, self._kernel_ns = decided, kernel_ns
        self._launchers: dict[int, Callable[..., Any]] = {}

    def launcher_of(self, variant: Compiled) -> Callable[..., Any]:
        """What a call asks of a variant."""
        launch = variant.launch

        def counted(*args: Any) -> Any:
            result = launch(*args)
            if result.__class__ is not Outcome:
                self.returned += 1
                self._look(args)
            return result

        return self._launchers.setdefault(id(variant), counted)

    def count_raised(self, args: tuple[Any, ...], *, is_guarded: bool) -> None:
        """A call that no variant served has ended in Python; whether a guard has told so."""
        self.raised += 1
        self.raised_ns += RAISED_NS + (not is_guarded) * (LOOKED_UP_NS + self._kernel_ns)
        self._look(args)

    def _look(self, args: tuple[Any, ...]) -> None:
        if self.raised + self.returned == COUNTED:
            self._decided(self, self.raised_ns, self.returned, args)
