"""A lambda with one unsupported call ran as plain NumPy: only `def` functions were split.

Only functions written with ``def`` were opened: a decorated lambda that calls something that is not
followed was plain NumPy as a whole.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit import fuse_jit

X = np.linspace(1.0, 2.0, 200)
SEEN: list[float] = []


def seen(value: Any) -> Any:
    """Something that only Python can run: it notes what it is given."""
    SEEN.append(float(np.sum(value)))
    return value


TWO_OF_A_LINE = (lambda x: seen(x * x + 1.0).sum() + x.sum(), lambda x: seen(x + 2.0) * x)


def state(function: Any) -> Any:
    return function.variants.newest_segmented


@pytest.mark.parametrize(
    "plain",
    [
        *TWO_OF_A_LINE,
        lambda x: (seen(np.sqrt(x) * 2.0), x * x + 3.0)[1],
        lambda x, *more, scale=2.0, **others: seen(x * scale) + np.sqrt(x * x + len(more)),
        lambda x: seen(x * 2.0 + 1.0) if x.size > 3 else x * x,
        lambda x: (y := seen(x * x + 1.0)) + y * y * 2.0,
        lambda x: seen(x).size > 3 and x * x,
        lambda x: [seen(part * 2.0).sum() for part in (x, x[1:], x[2:])],
    ],
)
def test_a_lambda_runs_in_segments(plain: Callable[..., Any]) -> None:
    fused = fuse_jit(plain)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(3):
            SEEN.clear()
            got = fused(X)
            noted = list(SEEN)
            SEEN.clear()
            np.testing.assert_allclose(got, plain(X), rtol=1e-14)
            assert noted == pytest.approx(SEEN)
    assert state(fused) is not None
    assert not fused.variants.fallbacks


def test_both_sides_of_the_call_are_compiled() -> None:
    fused = fuse_jit(TWO_OF_A_LINE[0])
    fused(X)
    assert len(state(fused).segments) == 2


def test_an_inner_lambda_reads_its_cells() -> None:
    def made(n: int) -> Callable[..., Any]:
        return lambda x, p=n: seen(x * p) + np.sqrt(x * x + n)

    for n in (2, 3):
        plain = made(n)
        fused = fuse_jit(plain)
        np.testing.assert_array_equal(fused(X), plain(X))
        np.testing.assert_array_equal(fused(X, 7), plain(X, 7))
        assert state(fused) is not None


def test_a_lambda_that_python_calls_is_fused() -> None:
    def keyed(x: np.ndarray, key: Any = lambda v: seen(v * v + 1.0) + np.sqrt(v) * 3.0) -> Any:
        seen(x)
        return key(x * 2.0).sum()

    fused = fuse_jit(keyed)
    for _ in range(2):
        assert fused(X) == pytest.approx(keyed(X))
    assert "<lambda>, which Python calls" in fused.explain(X, detail=True)
