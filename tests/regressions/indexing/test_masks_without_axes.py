"""`x[mask]` of a 0-d mask reduced the wrong axis: it was looked up among the mask's axes.

``any``, ``sum`` and ``max`` of ``x[np.asarray(x > 5)]``, where ``x`` is a number, were arrays.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit_testing.oracle import check


def whole(x: Any) -> tuple[Any, ...]:
    """Reductions of what a mask without axes selects of an array without axes."""
    x = np.asarray(x, np.float64)
    e = x[np.asarray(x > 5)]
    return np.any(e), e.all(), e.sum(), np.prod(e, axis=0), np.sum(e, axis=-1, dtype=np.float32)


def present(x: Any) -> tuple[Any, ...]:
    """The same of an element that is there."""
    x = np.asarray(x, np.float64)
    e = x[np.asarray(x > 5)]
    return e.max(), e.min(axis=0), e.mean(), np.count_nonzero(e), (e * 2).sum()


def rows(x: Any) -> tuple[Any, ...]:
    """The first axis is that of the mask, the second that of the array."""
    e = x[np.asarray(x[0] > 5)]
    return e.sum(), e.sum(axis=0), e.sum(axis=1), e.any(axis=0), e.any(axis=1)


def keeping(x: Any) -> tuple[Any, ...]:
    """With axes of length 1 in place of those that are reduced."""
    x = np.asarray(x, np.float64)
    e = x[np.asarray(x > 5)]
    return e.sum(keepdims=True), np.any(e, axis=0, keepdims=True)


def branching(x: Any) -> Any:
    """As colour does, which warns of temperatures outside a domain."""
    x = np.asarray(x, np.float64)
    if np.any(x[np.asarray(np.logical_or(x < 1, x > 5))]):
        return -x
    return x * 2


def test_arrays_without_axes() -> None:
    check(whole, (3,), (7.0,), (np.array(9.0),), variants=None)
    check(present, (7.0,), (8,), variants=None)
    check(branching, (3.0,), (7.0,), (np.array(0.5),), variants=None)


def test_arrays_with_axes() -> None:
    check(rows, (np.arange(3.0),), (np.arange(3.0) + 6,), (np.arange(4.0) + 6,), variants=None)


@pytest.mark.parametrize("x", [3.0, 7.0])
@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
def test_axes_that_are_kept(x: float) -> None:
    ours, theirs = fuse_jit(keeping)(x), keeping(x)
    assert [o.tolist() for o in ours] == [t.tolist() for t in theirs]
    assert [o.shape for o in ours] == [(1,), (1,)]
