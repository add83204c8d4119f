"""`np.diagonal(x).base is x` was False: the view was made through a helper object of its own.

The view was made with strides alone, through an object that stands for an array, and that object
was its base: ``np.diagonal(x).base is x`` was False.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit_testing.oracle import check

DIAGONALS: dict[str, Callable[[Any], Any]] = {
    "main": lambda x: np.diagonal(x),
    "above": lambda x: x.diagonal(1),
    "below": lambda x: x.diagonal(-2),
    "none": lambda x: x.diagonal(9),
    "other axes": lambda x: np.diagonal(x, 1, 2, 0),
    "last axes": lambda x: x.diagonal(0, -2, -1),
    "transposed": lambda x: np.diagonal(x.T),
    "of a part": lambda x: x[1:, ::-1].diagonal(),
    "part of it": lambda x: x.diagonal()[..., 1:],
    "of rank 2": lambda x: np.diag(x[0]),
}


@pytest.mark.parametrize("name", DIAGONALS)
def test_base(name: str) -> None:
    function = DIAGONALS[name]
    x = np.arange(60.0).reshape(3, 4, 5).copy()
    expected, actual = function(x), fuse_jit(function)(x)
    assert (expected.base is x) == (actual.base is x)
    assert isinstance(actual.base, np.ndarray)
    assert expected.strides == actual.strides
    assert expected.flags.writeable == actual.flags.writeable
    check(function, (x,))


def test_base_of_what_is_computed() -> None:
    x = np.arange(9.0).reshape(3, 3)
    assert isinstance(fuse_jit(lambda x: np.diagonal(x + 1))(x).base, np.ndarray)
