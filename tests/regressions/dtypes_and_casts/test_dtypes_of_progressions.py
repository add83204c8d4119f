"""`np.arange` of three small integers was too narrow: NumPy's result is at least int64.

The default start and step are Python's ints, which count as int64: with fewer arguments the dtype
was right, with three it was theirs (`np.mgrid` of float32 numbers in a slice).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit import fuse_jit

NUMBERS: list[Callable[[Any], Any]] = [np.uint8, np.float32, int]


@pytest.mark.parametrize("bounds", [(0, 3, 1), (0.1, 2.4, 0.5), (5, 1, -1)])
def test_dtype_and_elements(bounds: tuple[float, ...]) -> None:
    def progression(start: Any, stop: Any, step: Any) -> Any:
        return np.arange(start, stop, step)

    for kinds in itertools.product(NUMBERS, repeat=3):
        if any(kind is np.uint8 and n < 0 for kind, n in zip(kinds, bounds, strict=True)):
            continue
        args = tuple(kind(n) for kind, n in zip(kinds, bounds, strict=True))
        if not args[2]:
            continue
        with np.errstate(over="ignore", invalid="ignore"):
            try:
                expected = progression(*args)
            except ValueError as error:
                with pytest.raises(ValueError, match=str(error)):
                    fuse_jit(progression)(*args)
                continue
            actual = fuse_jit(progression)(*args)
        assert (actual.dtype, actual.tolist()) == (expected.dtype, expected.tolist()), args
