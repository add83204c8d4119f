"""Arrays of `longlong` were always refused: a kernel required the type number of int64.

``longlong`` is the same integer as int64 but another dtype, and NumPy keeps the two apart in
results.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit_testing.oracle import decorate

L, I, U = np.arange(3, dtype="q"), np.arange(3), np.arange(3, dtype="Q")  # noqa: E741
PROGRAMS: list[Callable[[Any, Any], Any]] = [
    lambda a, b: (a + 1, a + b, b + a, a * 2.0, a & b, ~a, a**2),
    lambda a, b: (a.sum(), a.max(), a.prod(), a.mean(), a.cumsum(), a.argmax(), (a > 1).sum()),
    lambda a, b: (a.astype(int), a.copy(), np.array(a, np.int64), np.zeros_like(a), b.astype("q")),
    lambda a, b: (np.concatenate([a, b]), np.concatenate([b, a]), np.stack([a, a])),
    lambda a, b: (np.where(a > 1, a, b), np.where(a > 1, b, a), np.maximum(a, b), np.clip(a, 0, 1)),
    lambda a, b: (a[0], a[0] + a[1], a[b], b[a], a[::2] * 3, np.sort(a), np.full(3, 7, "q")),
    lambda a, b: (np.asarray(a) is a, np.asarray(a, "l") is a, np.asarray(a, "l") + 1),
]


def described(made: Any) -> Any:
    if isinstance(made, tuple):
        return [described(part) for part in made]
    return type(made), getattr(getattr(made, "dtype", None), "char", ""), np.asarray(made).tolist()


@pytest.mark.parametrize("at", range(len(PROGRAMS)))
@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.filterwarnings("ignore:.*seen as int64")
def test_results_have_the_dtypes_of_numpy(at: int, jit: bool) -> None:
    if jit and at not in (0, 5):
        return
    fused = decorate(PROGRAMS[at], jit=jit)
    for a, b in ((L, I), (I, L), (L, L)):
        assert described(fused(a, b)) == described(PROGRAMS[at](a, b))
    if at < len(PROGRAMS) - 1:
        assert fused.variants


def test_without_a_sign() -> None:
    def some(a: Any) -> Any:
        return a + 1, a.sum(), a[::-1]

    fused = decorate(some, jit=True)
    assert described(fused(U)) == described(some(U))
    assert fused.variants
