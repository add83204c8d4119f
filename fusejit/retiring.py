"""Functions and segments that are left to Python, as compiling them does not pay.

Whether it does is `fusejit.profit`'s estimate, from the graph and the sizes of one call. Calls with
larger arguments are looked at anew; where sizes do not matter, the function itself serves calls.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fusejit.codegen.launch_runtime import MISS
from fusejit.profit import Profit
from fusejit.settling import FEW, FIRST_LOOK, ROOM, exceeds, size_of

LAST_LOOK = 256  # calls, before a function of numbers is Python's for good
SURE = 1.25  # times as expensive as NumPy, before a whole function is left to it


def may_be_retired(estimate: Profit, *, is_part: bool) -> bool:
    """Whether Python is to run a part, or a whole function, with such costs.

    A function of the user's that is compiled whole stays so in doubt: it costs a call at most.
    """
    if estimate.pays:
        return False
    if is_part:
        return True
    is_slow = estimate.compiled_ns > SURE * estimate.numpy_ns
    return estimate.is_scalar or (estimate.has_host_loops and is_slow)


class RetiredFunction:
    """A function that Python runs for arguments up to some size.

    Parameters
    ----------
    estimate : Profit
    function : callable
        Takes the parameters by position.
    args : sequence
        Those of the call that was looked at.
    next_look : int
        After how many calls another one is looked at, as sizes may hide in objects.

    Attributes
    ----------
    run : callable
        Serves a call, or returns a `Miss` for one that is to be looked at.
    """

    def __init__(
        self,
        estimate: Profit,
        function: Callable[..., Any],
        args: Sequence[Any],
        next_look: int = FIRST_LOOK,
    ) -> None:
        self.estimate = estimate
        self.function = function
        is_looked_at = next_look <= LAST_LOOK and estimate.is_conditional
        has_arrays = any(isinstance(arg, np.ndarray) for arg in args)
        self.depends_on_sizes = not estimate.is_scalar or has_arrays or is_looked_at
        self.next_look = next_look
        self._limits = [max(FEW, FIRST_LOOK, ROOM * size_of(arg)) for arg in args]
        self._calls = 0
        self._is_due = False
        self.run = self._guarded if self.depends_on_sizes else function

    def look_again(self) -> None:
        """Have the next call looked at."""
        self._is_due = True

    def _guarded(self, *args: Any) -> Any:
        self._calls += 1
        self._is_due |= self._calls == self.next_look
        if self._is_due or exceeds(args, self._limits):
            return MISS
        return self.function(*args)
