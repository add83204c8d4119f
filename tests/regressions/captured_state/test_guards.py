"""A later integer overflowed in a guard: decisions from one call must be checked in others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit_testing.oracle import check, decorate

X = np.arange(10.0)
LARGE = (2**40, 2**61 + 1, -(2**61) + 1, 2**62 + 1, 2**63 - 1, 2**64 + 1)


def branch(x: Any, n: int) -> Any:
    return x if 4 * n > 100 else x + 1


PROGRAMS: list[Callable[[Any, int], Any]] = [
    lambda x, n: x[: 4 * n] + 1,
    lambda x, n: x[: n * n * n] + 1,
    lambda x, n: x[8 * n - 8],
    lambda x, n: x[::-1][2 * n :],
    lambda x, n: np.arange(n, n + 4) + x[:4],
    lambda x, n: x[(4 * n) % 3] + x[: (100000 * n) // 100000],
    lambda x, n: x * (4 * n),
    branch,
]


@pytest.mark.parametrize("at", range(len(PROGRAMS)))
@pytest.mark.filterwarnings("ignore:.*(beyond|another variant).*")
def test_integers_that_overflow_in_a_kernel(at: int) -> None:
    check(PROGRAMS[at], (X, 1), (X, 2), *((X, n) for n in LARGE), variants=None)


def test_arrays_whose_strides_are_zero_have_a_variant_of_their_own() -> None:
    strided = np.asfortranarray(np.arange(48.0).reshape(6, 8))[::2, ::2]
    broadcast = np.broadcast_to(np.arange(4.0), (3, 4))
    function = decorate(lambda x: x + 1, jit=False)
    for x in (strided, broadcast, strided, broadcast):
        assert function(x).strides == (x + 1).strides
    assert len(function.variants) == 2
