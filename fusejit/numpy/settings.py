"""Which results become an `Array`: the threshold, and the switches that turn deferral off."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

DEFAULT_THRESHOLD = 2**20
"""Recording an operation and running it later costs some microseconds, which NumPy's results of
this size hide: they take memory that was written lately."""

NEVER = sys.maxsize
"""The threshold under which every array is a plain ndarray."""

IS_ON = os.environ.get("FUSEJIT_LAZY", "1") not in ("", "0")
"""Whether the functions that make arrays are those of `fusejit.numpy.creation`, or NumPy's own."""

_DEFAULT = int(os.environ.get("FUSEJIT_LAZY_THRESHOLD", DEFAULT_THRESHOLD))
THRESHOLD: ContextVar[int] = ContextVar("fusejit.numpy threshold", default=_DEFAULT)
"""New arrays of at least this many bytes become an `Array`."""


@contextmanager
def threshold(num_bytes: int) -> Iterator[None]:
    """Make new arrays of at least ``num_bytes`` bytes an `Array` while the block runs."""
    token = THRESHOLD.set(num_bytes)
    try:
        yield
    finally:
        THRESHOLD.reset(token)
