"""What trials by the clock share: how many calls are timed, and what a usual one takes."""

from __future__ import annotations

import itertools

CALLS = 16  # of each form that are timed
KEPT_FRACTION = 0.5  # of the timed calls: the longer ones may have been interrupted
LONG_NS = 1_000_000  # a call that is so long when compiled is not computed by Python
MAX_LONG = 3  # such calls, before the variant is taken for the faster one
MAX_SPOILED = 256  # calls that count for nothing, as what they called was being timed as well

_timings = itertools.count()  # one more for each call that is timed, by whichever trial


def discard_timings() -> None:
    """Have the calls that are being timed count for nothing: something is traced meanwhile."""
    next(_timings)


def count_timings() -> int:
    """The number of this call that is timed: two in a row, unless another was timed between."""
    return next(_timings)


def usual_ns(times: list[int]) -> float:
    """The mean of times without the longest, which something else may have interrupted."""
    sound = sorted(times)[: max(1, round(KEPT_FRACTION * len(times)))]
    return sum(sound) / len(sound)
