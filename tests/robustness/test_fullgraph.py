"""``fullgraph=True``: what would run in Python between kernels is an error with line and remedy."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit.errors import UnsupportedError


def sorts(x: Any) -> Any:
    y = x * 2
    return np.sort(y) + 1


def sorts_in_a_loop(x: Any) -> Any:
    for i in range(len(x)):
        x[i] = np.nanmedian(x)
    return x


def draws(x: Any, rng: Any) -> Any:
    return x + rng.permutation(len(x))


def prints(x: Any) -> Any:
    print(x.sum())
    return x


def selects(x: Any) -> Any:
    return x[x > 0.5]


RNG = np.random.default_rng(1)
CASES: list[tuple[Any, str, str, tuple[Any, ...]]] = [
    (sorts, "np.sort", "numpy.sort is not a loop over elements", ()),
    (sorts_in_a_loop, "np.nanmedian", "numpy.nanmedian is not a loop over elements", ()),
    (draws, "rng.permutation", "numpy.random.Generator.permutation is an effect", (RNG,)),
    (prints, "print(", "print is an effect", ()),
    (selects, "def selects", "operator.getitem is not a loop over elements", ()),
]


@pytest.mark.parametrize(("function", "text", "message", "more"), CASES)
def test_a_boundary_is_an_error(function: Any, text: str, message: str, more: Any) -> None:
    lines, first = inspect.getsourcelines(function)
    line = first + next(at for at, code in enumerate(lines) if text in code)
    x = np.arange(9.0)
    for call in (fuse_jit(fullgraph=True)(function), fuse_jit(fullgraph=True)(function).explain):
        with pytest.raises(UnsupportedError) as caught:
            call(x, *more)
        assert f"{__file__}:{line}, in {function.__name__}: {message}" in str(caught.value)
        assert "move it outside" in str(caught.value)
    assert np.array_equal(x, np.arange(9.0))


def test_what_is_compiled_whole_passes() -> None:
    def whole(x: Any) -> Any:
        for i in range(len(x)):
            x[i] = x[i] * 2 if x[i] > 1 else 0.0
        return x.sum()

    assert fuse_jit(fullgraph=True)(whole)(np.arange(9.0)) == 70.0
