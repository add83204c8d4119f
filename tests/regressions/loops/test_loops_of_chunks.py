"""Rows were skipped or written twice: a chunk's bounds moved into the loop nest's own chunk.

The chunk's ``for i in range(lo, hi)`` moved into the nest's own chunk, where ``lo`` and ``hi`` are
other numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fusejit_testing.oracle import check


def cleared(x: Any) -> Any:
    for i, row in enumerate(x):
        x[i] = row * 0
    return x


def numbered(x: Any, out: Any) -> Any:
    for i in range(x.shape[0]):
        out[i] = x[i] * i + 1


@pytest.mark.parametrize("jit", [False, True])
def test_every_row_is_written(jit: bool) -> None:
    for shape in ((6, 6), (3, 7), (40, 5)):
        flags = np.arange(np.prod(shape)).reshape(shape) % 3 == 0
        check(cleared, (flags,), (flags[:2],), jit=jit, variants=None)
        x = np.arange(np.prod(shape) + 0.0).reshape(shape)
        check(numbered, (x, np.zeros(shape)), jit=jit, variants=None)
