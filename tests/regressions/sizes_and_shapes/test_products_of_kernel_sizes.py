"""An array whose size only the kernel knows seemed empty: the product was computed in tracing."""

from __future__ import annotations

from typing import Any

import numpy as np

from fusejit_testing.oracle import check


def fullest(x: Any, columns: Any) -> Any:
    rows = int(np.ceil(np.hypot(len(x), 3.0)))
    table = np.zeros((2 * rows + 1, columns))
    table[len(x) // 2] = 1.0
    return np.argmax(table), table.ravel()[-1], table.reshape(-1).sum()


def test_an_array_of_such_a_size_is_raveled() -> None:
    """The product was computed while tracing, from no size at all: the array seemed empty."""
    check(fullest, (np.ones(9), 3), (np.ones(4), 5), (np.ones(1), 2), jit=True)


def best_cells(x: Any) -> Any:
    out = np.zeros(len(x), int)
    for i in range(len(x)):
        n = int(x[i])
        grid = np.zeros((n + 1, n + 2))
        grid[n // 2, n] = 1.0
        out[i] = np.argmax(grid) + grid.size
    return out


def test_sizes_that_differ_between_iterations() -> None:
    check(best_cells, (np.array([3.0, 1.0, 6.0]),), (np.arange(5.0),), jit=True)
