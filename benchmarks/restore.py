"""Arguments that a program changes are put back before every timed call, outside the clock.

A sort would find its array sorted the second time, a factorisation would be given its factors.
"""

import gc
import itertools
import time
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import numpy as np


class Restorer:
    """Remembers arguments, and puts those back that a call changes.

    Parameters
    ----------
    arguments
        As they are before the first call: arrays, numbers, generators.
    """

    def __init__(self, arguments: tuple[Any, ...]) -> None:
        self.arguments = arguments
        self.originals = deepcopy(arguments)
        self.changed = list(range(len(arguments)))

    def keep_changed(self) -> None:
        """After the first call: forget what it did not change, and put the rest back."""
        self.changed = [
            at
            for at, (now, before) in enumerate(zip(self.arguments, self.originals, strict=True))
            if differs(now, before)
        ]
        self.restore()

    def restore(self) -> None:
        """Give the arguments their first contents again."""
        for at in self.changed:
            now, before = self.arguments[at], self.originals[at]
            if isinstance(now, np.random.Generator):
                now.bit_generator.state = before.bit_generator.state
            else:
                np.copyto(now, before)

    def time_calls(
        self, function: Callable[..., Any], arguments: tuple[Any, ...], calls: int
    ) -> int:
        """Nanoseconds for `calls` calls, each on the first contents; the clock stops between."""
        clock = time.perf_counter_ns
        elapsed_ns = 0
        was_enabled = gc.isenabled()
        gc.disable()
        try:
            for _ in itertools.repeat(None, calls):
                self.restore()
                start_ns = clock()
                function(*arguments)
                elapsed_ns += clock() - start_ns
        finally:
            if was_enabled:
                gc.enable()
        return elapsed_ns


def differs(now: Any, before: Any) -> bool:
    """Whether an argument has been changed; a number cannot be."""
    if isinstance(now, np.random.Generator):
        return bool(now.bit_generator.state != before.bit_generator.state)
    if isinstance(now, np.ndarray):
        return not np.array_equal(now, before, equal_nan=now.dtype.kind in "fc")
    return False
