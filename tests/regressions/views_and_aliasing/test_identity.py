"""A view of a whole array was the array itself: such views were not new objects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit_testing.oracle import check


def same_view_twice(x: Any) -> Any:
    v = x.T
    return v, v


def views_of_a_local_array(y: Any) -> Any:
    z = np.zeros_like(y)
    v = z[::-1]
    return [v, v, z, z, z[...]]


def whole_views(x: Any) -> Any:
    return x[...], x[:], x.T, x, x[...]


def scalar_and_array_of_it(y: Any) -> Any:
    v = np.negative(y)
    return v, v[...], v


@pytest.mark.parametrize(
    "function", [same_view_twice, views_of_a_local_array, whole_views, scalar_and_array_of_it]
)
@pytest.mark.parametrize("jit", [False, True])
def test_identity_of_results(function: Callable[[Any], Any], jit: bool) -> None:
    for x in (np.ones((3, 3)), np.ones(3), np.ones(1), np.array(1.5)):
        check(function, (x,), jit=jit, variants=1 if x.ndim else None)


def test_squeezing_nothing_gives_the_array_itself() -> None:
    check(lambda x: np.squeeze(x), (np.ones((2, 3)),))
    check(lambda x: x.squeeze(axis=()), (np.ones((2, 3)),))
