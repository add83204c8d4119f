"""An internal error for gathers from one element: code generation required it in memory.

A kernel keeps an array of one element in a register.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fusejit_testing.oracle import check


def added_at(x: Any, places: Any) -> Any:
    total = x.sum(axis=0, keepdims=True)
    np.add.at(total, places, total[places])
    return total


def stored(x: Any, places: Any) -> Any:
    total = x.sum(axis=0, keepdims=True)
    total[places] += 1
    total[places - total.shape[0]] = total[places] * 3
    return total


def test_places_in_a_total() -> None:
    places = np.array([0, -1, 0])
    for program in (added_at, stored):
        check(program, (np.arange(5), places), (np.arange(9), np.array([0, 0])), variants=None)
        check(program, (np.arange(5), np.array([0, 4])), variants=None)  # NumPy raises
