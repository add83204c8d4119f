"""Functions and segments that are left to Python, as compiling them does not pay.

Whether it does is `fusejit.tiering.cost_estimate`'s estimate, from the graph and the sizes of one
call. Calls with larger arguments are looked at again; where sizes do not matter, the function
itself serves calls.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import FunctionType
from typing import Any

import numpy as np

from fusejit.codegen.launcher.call_guard import NEVER, CallGuard, Expected, unwatched_calls
from fusejit.ir.raw_reads import is_a
from fusejit.stages import Compiled
from fusejit.tiering.cost_estimate import CostEstimate
from fusejit.tiering.segment_profiler import FIRST_REPROFILE, limit_of
from fusejit.tiering.size_arguments import without_others

LAST_REPROFILE = 256  # calls, before a function of numbers runs in Python for good
SURE = 1.25  # times as expensive as NumPy, before a whole function is left to it


def may_be_interpreted(estimate: CostEstimate, *, is_segment: bool) -> bool:
    """Whether Python is to run a part, or a whole function, with such costs.

    A function of the user's that is compiled whole stays so in doubt.
    """
    if estimate.pays:
        return False
    is_slow = estimate.compiled_ns > SURE * estimate.numpy_ns
    return is_segment or estimate.is_scalar or is_slow


class InterpretedFunction:
    """A function that Python runs for arguments up to some size.

    Parameters
    ----------
    estimate : CostEstimate
    function : FunctionType
    args : sequence
        Those of the call that was looked at.
    next_reprofile : int
        After how many calls another one is looked at, as sizes may hide in objects.
    variants : tuple of Compiled, optional
        What was compiled and was slower; it is tried again where a call is looked at.

    Attributes
    ----------
    guard : CallGuard
        Which calls are to be looked at.
    """

    def __init__(
        self,
        estimate: CostEstimate,
        function: FunctionType,
        args: Sequence[Any],
        next_reprofile: int = FIRST_REPROFILE,
        variants: tuple[Compiled, ...] = (),
    ) -> None:
        self.estimate = estimate
        self.variants = variants
        is_looked_at = next_reprofile <= LAST_REPROFILE and estimate.is_conditional
        has_arrays = any(is_a(arg, np.ndarray) for arg in args)
        self.depends_on_sizes = not estimate.is_scalar or has_arrays or is_looked_at
        self.next_reprofile = next_reprofile
        expected, due = [Expected(no_array=not has_arrays) for _ in args], NEVER
        sizes: Sequence[Any] = args
        if self.depends_on_sizes:
            sizes, due = without_others(function, args), next_reprofile
            expected = [Expected(limit=limit_of(s), no_array=not has_arrays) for s in sizes]
        is_open = not self.depends_on_sizes
        unwatched = unwatched_calls(args, due, is_open=is_open, sizes=sizes)
        self.guard = CallGuard(expected, due, function, unwatched)
        self._is_due = False

    def request_reprofile(self) -> None:
        """Have the next call looked at, if larger arguments may change something."""
        self._is_due = self.depends_on_sizes

    def serves(self, args: Sequence[Any]) -> bool:
        """Whether Python runs a call; counts it."""
        return not self._is_due and not self.guard.rejects(*args)
