"""Host results of broadcast arrays had another order: sample inputs were not broadcast.

A dense sample input in the same order of axes gave results another order than NumPy's.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fusejit_testing.oracle import check

V = np.arange(1.0, 6.0)
ARRAYS = {
    "rows": np.broadcast_to(V, (4, 5)),
    "columns": np.broadcast_to(V[:, None], (5, 4)),
    "rows of columns": np.broadcast_to(V[:, None], (3, 5, 4)),
    "Fortran's": np.broadcast_to(np.asfortranarray(np.outer(V, V)), (3, 5, 5)),
    "one": np.broadcast_to(V[:1], (4, 5)),
    "square": np.broadcast_to(V, (5, 5)),
}


def subtracted(x: Any) -> Any:
    return np.subtract(x, x, casting="unsafe", dtype=np.int64)


def negated(x: Any) -> Any:
    return np.negative(x, casting="unsafe", dtype=np.int32)


def in_place_order(x: Any) -> Any:
    return np.add(x, 1, order="A"), np.add(x, 1, order="F")


def sorted_copies(x: Any) -> Any:
    return np.sort(x, axis=0), np.sort(x, axis=-1), np.partition(x, 1, axis=0)


def accumulated(x: Any) -> Any:
    return np.logaddexp.accumulate(x, axis=0), np.unwrap(x), np.sinc(x + 0.5)


def transposed(x: Any) -> Any:
    return np.subtract(x.T, x.T, casting="unsafe", dtype=np.int64)


@pytest.mark.parametrize("name", ARRAYS)
@pytest.mark.parametrize(
    "function", [subtracted, negated, in_place_order, sorted_copies, accumulated, transposed]
)
def test_orders_are_numpys(function: Any, name: str) -> None:
    check(function, (ARRAYS[name],), variants=None)
