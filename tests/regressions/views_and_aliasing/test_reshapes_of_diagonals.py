"""`np.diag(c).reshape(2, -1)` had wrong elements: the view replaced one of the diagonal's axes.

``np.diag(c).reshape(2, -1)`` substituted one of the two; ``np.ascontiguousarray`` of the diagonal
of an array in Fortran order was no copy. Found by the campaign (library, seed 95004072).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fusejit_testing.oracle import check

pytestmark = pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")


def reshaped(c: Any) -> Any:
    d = np.diagonal(c)
    return d.reshape(2, -1) * 2, d.reshape(-1, 2) + 1, d.ravel() * 3, d[None].reshape(-1, 1) - 1


def handed_out(c: Any) -> Any:
    return np.diag(c).reshape(2, -1), np.diag(c).reshape(2, 2)


def in_order(c: Any) -> Any:
    d = np.diag(c)
    return (
        np.ascontiguousarray(d),
        np.ascontiguousarray(d[None, :]),
        np.asfortranarray(d),
        np.ravel(d, "F"),
        np.require(d, requirements="C"),
    )


def stored(c: Any) -> Any:
    copy = c.copy()
    d = np.ascontiguousarray(copy.diagonal()[None])
    copy[0, 0] = 99
    return d, copy


def merged(x: Any) -> Any:
    return np.diagonal(x, axis1=1, axis2=2).reshape(-1) * 1, np.diagonal(x).reshape(-1) + 1


SQUARE = np.arange(16.0).reshape(4, 4)
SQUARES = (
    SQUARE,
    np.asfortranarray(SQUARE),
    SQUARE[::-1],
    SQUARE.T,
    np.arange(32.0).reshape(4, 8)[:, ::2],
)


@pytest.mark.parametrize("function", [reshaped, handed_out, in_order, stored])
@pytest.mark.parametrize("at", range(len(SQUARES)))
def test_reshapes_of_diagonals(function: Any, at: int) -> None:
    check(function, (SQUARES[at],), variants=None)


@pytest.mark.parametrize("shape", [(2, 3, 3), (2, 4, 3), (3, 3, 2), (1, 2, 2), (2, 2, 1)])
def test_diagonals_that_are_merged_with_other_axes(shape: tuple[int, ...]) -> None:
    x = np.arange(np.prod(shape, dtype=float)).reshape(shape)
    check(merged, (x,), (np.asfortranarray(x),), variants=None)
