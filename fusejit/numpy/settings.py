"""Which results become an `Array`: the threshold, and the switches that turn deferral off."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

DEFAULT_THRESHOLD = 1_000_000
"""Recording an operation takes some microseconds, a few hundredths of what NumPy takes for one of
this size. So a program that is never compiled is hardly slower."""

NEVER = sys.maxsize
"""The threshold under which every array is a plain ndarray."""


IS_ON = os.environ.get("FUSEJIT_LAZY", "0") not in ("", "0")
"""Whether the functions that make arrays are those of `fusejit.numpy.creation`, or NumPy's own."""

_DEFAULT = int(os.environ.get("FUSEJIT_LAZY_THRESHOLD", DEFAULT_THRESHOLD))
THRESHOLD: ContextVar[int] = ContextVar("fusejit.numpy threshold", default=_DEFAULT)
"""New arrays of at least this many bytes become an `Array`."""


@contextmanager
def threshold(num_bytes: int) -> Iterator[None]:
    """Make new arrays of at least ``num_bytes`` bytes an `Array` while the block runs.

    Examples
    --------
    >>> import fusejit.numpy as np
    >>> with np.threshold(0):
    ...     print(type(np.zeros(3)).__name__)
    Array
    """
    token = THRESHOLD.set(num_bytes)
    try:
        yield
    finally:
        THRESHOLD.reset(token)
