"""Arrays of 64 axes compiled for over 200 s: compile time grew with ndim without bound.

Arrays of more than 16 axes now run in NumPy.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit.api import FuseWarning
from fusejit.errors import UnsupportedError


@pytest.mark.parametrize("rank", [17, 40, 64])
def test_arguments_of_many_axes_are_left_to_numpy(rank: int) -> None:
    x = np.full((1,) * (rank - 1) + (3,), 2.0)
    f = fuse_jit(lambda x: (x * 2).sum())
    with pytest.warns(FuseWarning, match=f"x has {rank} axes: more than 16.*reshape"):
        assert f(x) == 12
    assert len(f.variants) == 0


def test_sixteen_axes_are_compiled() -> None:
    x = np.full((1,) * 15 + (3,), 2.0)
    f = fuse_jit(lambda x: x * 2, fullgraph=True)
    np.testing.assert_array_equal(f(x), x * 2)


@pytest.mark.parametrize(
    "body",
    [
        lambda x: x.reshape((1,) * 20 + x.shape) + 1,
        lambda x: x[(None,) * 18] + 1,
        lambda x: np.multiply.outer(x.reshape((1,) * 9 + (-1,)), x.reshape((1,) * 9 + (-1,))),
        lambda x: np.broadcast_to(x, (1,) * 30 + x.shape) * 2,
    ],
)
def test_arrays_that_get_many_axes_on_the_way(body: Callable[[Any], Any]) -> None:
    """A warning says so, or `explain`, where a statement of several is Python's."""
    x = np.arange(3.0)
    f = fuse_jit(body)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        np.testing.assert_array_equal(f(x), body(x))
    said = [str(w.message) for w in told if w.category is FuseWarning]
    assert "axes: more than 16" in " ".join(said or [str(f.explain(x))])


def test_fullgraph_names_the_remedy() -> None:
    f = fuse_jit(lambda x: x + 1, fullgraph=True)
    with pytest.raises(UnsupportedError, match=r"20 axes.*reshape it to fewer axes"):
        f(np.ones((1,) * 20))
