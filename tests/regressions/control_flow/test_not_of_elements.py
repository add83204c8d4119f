"""`not x[1]` was `np.True_`: NumPy's operator computed it instead of Python's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fusejit import fuse_jit


def of_all(x: np.ndarray) -> Any:
    return not x.any(), not x.all(), not (x > 0).all(), x.all()


def with_numpys(x: np.ndarray) -> Any:
    return not x[1], np.logical_not(x[1]), np.logical_not(x[0]), not x[0], bool(x[1])


def in_a_list(x: np.ndarray) -> Any:
    return [not value for value in x], sum(not value for value in x)


def behind_a_loop(x: np.ndarray) -> Any:
    found = True
    for i in range(len(x)):
        found = not x[i]
    return found


def in_arithmetic(x: np.ndarray) -> Any:
    return (not x[0]) + x, (not x[0]) * 2.5, (not x[0]) & True, (not x[0]) | np.True_


def of_conditions(x: np.ndarray) -> Any:
    return (
        not (x[0] and x[1]),
        x[0] and not x[1],
        not (x[0] == 1 or x[1]),
        isinstance(not x[0], bool),
    )


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
@pytest.mark.parametrize(
    "program", [of_all, with_numpys, in_a_list, behind_a_loop, in_arithmetic, of_conditions]
)
@pytest.mark.parametrize(
    "x", [np.array([0, 1, 2, 0]), np.array([1.5, 0.0, 2.0, 1.0]), np.array([True, False, True])]
)
def test_it_is_pythons(program: Any, x: np.ndarray) -> None:
    assert repr(fuse_jit(program)(x)) == repr(program(x))


def test_it_is_compiled() -> None:
    fused = fuse_jit(of_all, fullgraph=True)
    assert repr(fused(np.arange(3))) == repr(of_all(np.arange(3)))
