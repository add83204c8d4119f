"""`np.unique(x).item()` was refused: a size known late was assumed unequal to the required one.

The same happened to a reshape to the shape of another array and to a join beside a matrix. Such a
size is now assumed equal, and NumPy runs a call in which it is not.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit_testing.oracle import compare_outcomes, decorate, run

ONE, TWO, THREE = np.ones(3), np.array([1.0, 2.0, 1.0]), np.array([3.0, 1.0, 2.0])


def unsorted(x: np.ndarray) -> Any:
    values, places = np.unique(np.asarray(x), return_inverse=True)
    return values[places].reshape(np.asarray(x).shape)


def reshaped(x: np.ndarray) -> Any:
    return np.unique(x).reshape((x.shape[0] - 2, 1))


def squeezed(x: np.ndarray) -> Any:
    return np.squeeze(np.unique(x)[None, :, None], 1)


def stacked(x: np.ndarray) -> Any:
    return np.stack([np.unique(x), np.array([1.0, 2.0, 3.0])])


def joined(x: np.ndarray) -> Any:
    return np.concatenate([np.unique(x)[:, None], np.ones((1, 2))], 1)


def listed(x: np.ndarray) -> Any:
    return np.array([np.unique(x), [1.0, 2.0]])


def blocks(x: np.ndarray) -> Any:
    return np.block([np.unique(x)[:, None], np.ones((2, 2))])


def multiplied(x: np.ndarray) -> Any:
    return np.unique(x) @ np.array([1.0, 2.0])


@pytest.mark.parametrize(
    ("function", "fits"),
    [
        (unsorted, TWO),
        (lambda x: np.unique(x).item(), ONE),
        (reshaped, ONE),
        (squeezed, ONE),
        (stacked, THREE),
        (joined, ONE),
        (listed, TWO),
        (blocks, TWO),
        (multiplied, TWO),
    ],
)
def test_sizes_are_taken_to_be_those_that_numpy_requires(
    function: Callable[..., Any], fits: np.ndarray
) -> None:
    fused = decorate(function, jit=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compare_outcomes(run(function, (fits,)), run(fused, (fits,)))
    assert len(fused.variants) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for x in (ONE, TWO, THREE, fits):
            compare_outcomes(run(function, (x,)), run(fused, (x,)))
