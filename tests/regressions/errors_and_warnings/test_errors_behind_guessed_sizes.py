"""A guarded `raise` gave an internal error: the trace guessed the size of `np.unique(x)`.

Nobody knows while tracing what `np.unique` returns. A trace that took the branch with the ``raise``
said that NumPy raises, and where it did not, called that an internal error.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit import FuseWarning, fuse_jit
from fusejit.errors import NeedsPython


def one_value(x: np.ndarray) -> Any:
    found = np.unique(x)
    if len(found) == 1:
        value = found[0]
    else:
        raise ValueError("more than one")
    return x + value


def one_size(a: np.ndarray, b: np.ndarray) -> Any:
    sizes = np.unique([a.shape[0], b.shape[0]])
    if sizes.size != 1:
        raise ValueError("sizes differ")
    return a + b


def at_least_two(x: np.ndarray) -> Any:
    found = np.unique(x)
    if len(found) < 2:
        return found
    raise ValueError("two")


def in_a_helper(x: np.ndarray) -> Any:
    return one_value(x) * 2


ZEROS, RANGE = np.zeros(3), np.arange(4.0)


@pytest.mark.parametrize(
    ("program", "calls"),
    [
        (one_value, [(ZEROS,), (RANGE,), (ZEROS,)]),
        (one_value, [(RANGE,), (ZEROS,), (ZEROS,)]),
        (one_size, [(ZEROS, ZEROS), (ZEROS, RANGE), (RANGE, RANGE)]),
        (at_least_two, [(RANGE,), (ZEROS,), (ZEROS,)]),
        (in_a_helper, [(ZEROS,), (RANGE,), (ZEROS,)]),
    ],
)
def test_both_ways_are_numpys(program: Callable[..., Any], calls: list[Any]) -> None:
    fused = fuse_jit(program)
    with warnings.catch_warnings():
        warnings.simplefilter("error", FuseWarning)
        for args in calls:
            try:
                expected = program(*args)
            except ValueError as error:
                with pytest.raises(ValueError, match=f"^{error}$"):
                    fused(*args)
            else:
                assert np.array_equal(fused(*args), expected)


def test_it_is_refused_under_fullgraph() -> None:
    with pytest.raises(NeedsPython, match="a size of what a function of NumPy's returns decides"):
        fuse_jit(one_value, fullgraph=True)(ZEROS)
