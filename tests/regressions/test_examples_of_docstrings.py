"""What the examples in NumPy's docstrings found: see `fusejit_testing.docstrings`."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest
from numpy.polynomial import Polynomial, chebyshev, set_default_printstyle

from fusejit import fuse_jit
from fusejit_testing.oracle import check

pytestmark = pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")


@pytest.fixture(autouse=True)
def unjitted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FUSEJIT_UNJITTED", "1")


def test_the_class_of_a_number_is_printed_as_a_class(capsys: pytest.CaptureFixture[str]) -> None:
    def show(x: Any) -> None:
        first = x[0]
        print(first, type(first), [type(first)], f"{type(first)}", int, np.ndarray)

    show(np.ones(3))
    expected = capsys.readouterr().out
    fused = fuse_jit(show)
    for _ in range(2):
        fused(np.ones(3))
        assert capsys.readouterr().out == expected
    assert len(fused.variants) == 1


def test_settings_of_numpy_are_made_in_each_call(capsys: pytest.CaptureFixture[str]) -> None:
    """They were made while the call was traced, and never again."""

    def show(c: Polynomial) -> None:
        set_default_printstyle("ascii")
        print(c)
        set_default_printstyle("unicode")
        print(c)

    fused = fuse_jit(show)
    show(Polynomial([1, 2, 3]))
    expected = capsys.readouterr().out
    for _ in range(3):
        fused(Polynomial([1, 2, 3]))
        assert capsys.readouterr().out == expected


def test_a_base_is_an_array() -> None:
    """It was an object of ``as_strided``, which views of the view took for the owner."""

    def reshaped() -> Any:
        x = np.arange(12.0).reshape(4, 3)
        return x, x[1:], x.T

    fused = fuse_jit(reshaped)
    for _ in range(2):
        x, part, turned = fused()
        assert type(x.base) is np.ndarray
        assert part.base is x.base
        assert turned.base is x.base


def roots() -> Any:
    return chebyshev.chebroots((-1, 1, -1, 1))


def test_strides_of_what_is_made_of_constants() -> None:
    fused = fuse_jit(roots)
    for _ in range(2):
        assert fused().strides == roots().strides
    check(roots, (), variants=None)


def test_sums_over_many_indices_are_tried_on_small_arrays() -> None:
    """einsum multiplies all its sizes: with 11 to 103 of each it came to no end."""

    def contracted(a: Any) -> Any:
        return np.einsum("ijk,ilm,njm,nlk,abc->", a, a, a, a, a) + np.einsum("ijk->k", a)

    a = np.ones(64).reshape(2, 4, 8)
    start = time.process_time()
    check(contracted, (a,), (np.ones((3, 2, 5)),))
    assert time.process_time() - start < 60
