"""Sizes that elements decide: the launcher reads them from a kernel, and goes on."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from fusejit.api import FuseWarning
from fusejit_testing.compare import Bound, assert_same
from fusejit_testing.oracle import check, decorate

CLOSE = Bound(absolute=1e-12)


def vector(n: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).random(n)


def counted(m: Any) -> Any:
    n = int(np.count_nonzero(m))
    out = np.zeros(n)
    out += 2.0
    return out


def numbered(x: Any, limit: float) -> Any:
    n = int((x > limit).sum())
    out = np.empty((n, 2))
    for i in range(n):
        out[i, 0] = i
        out[i, 1] = x[i] * i
    return out


def leading(x: Any) -> Any:
    k = int(np.argmax(x))
    return x[:k] * 2


def gathered(x: Any, limit: float) -> Any:
    places = np.zeros(len(x), dtype=np.int64)
    count = 0
    for i in range(len(x)):
        if x[i] > limit:
            places[count] = i
            count += 1
    return places[:count]


def from_an_element(sizes: Any) -> Any:
    return np.ones(sizes[1]) * 3


def local_only(x: Any) -> Any:
    n = int(x.sum())
    scratch = np.zeros(n)
    scratch += 1.0
    return scratch.sum() + x


def in_a_loop(sizes: Any) -> Any:
    total = 0.0
    for i in range(len(sizes)):
        total += np.sort(np.ones(sizes[i]) * i).sum()
    return total


def with_a_host_call(x: Any, limit: float) -> Any:
    n = int((x > limit).sum())
    return np.sort(x[:n])[::-1] + np.median(x)


CASES: dict[str, tuple[Any, list[tuple[Any, ...]]]] = {
    "counted": (counted, [(vector(9) > 0.5,), (vector(30) > 0.3,), (vector(5) > 2,)]),
    "numbered": (numbered, [(vector(9), 0.5), (vector(30), 0.2), (vector(5), 2.0)]),
    "leading": (leading, [(vector(9),), (vector(30, 3),)]),
    "gathered": (gathered, [(vector(9), 0.5), (vector(30), 0.2), (vector(5), 2.0)]),
    "from_an_element": (from_an_element, [(np.array([3, 4]),), (np.array([0, 9, 1]),)]),
    "local_only": (local_only, [(vector(9),), (vector(30),)]),
    "in_a_loop": (in_a_loop, [(np.array([3, 4, 0, 2]),), (np.arange(9),)]),
    "with_a_host_call": (with_a_host_call, [(vector(9), 0.5), (vector(30), 0.2)]),
}


@pytest.mark.parametrize("name", CASES)
def test_equals_numpy_with_one_variant(name: str) -> None:
    function, calls = CASES[name]
    check(function, *calls, bound=CLOSE, inner_bound=CLOSE)


@pytest.mark.parametrize("name", ["numbered", "gathered", "in_a_loop"])
def test_jitted(name: str) -> None:
    function, calls = CASES[name]
    check(function, *calls, bound=CLOSE, inner_bound=CLOSE, jit=True)


def test_the_launcher_reads_the_size() -> None:
    fused = decorate(counted, jit=False)
    fused(vector(9) > 0.5)
    steps = [type(s).__name__ for s in fused.variants[0].before.program.steps]
    assert steps == ["KernelCall", "ReadInteger", "KernelCall"]
    assert "Python reads an integer that a kernel computed" in fused.explain(
        vector(9) > 0.5, detail=True
    )


@pytest.mark.filterwarnings("ignore::fusejit.api.FuseWarning")
def test_a_negative_size_is_numpys_error() -> None:
    fused = decorate(from_an_element, jit=False)
    fused(np.array([3, 4]))
    with pytest.raises(ValueError, match="negative dimensions are not allowed"):
        fused(np.array([3, -4]))


def test_a_negative_size_behind_a_store() -> None:
    def stores_first(x: Any, sizes: Any) -> Any:
        x[0] = 5.0
        return np.ones(sizes[0]) + x[0]

    fused = decorate(stores_first, jit=False)
    assert_same(stores_first(vector(3), np.array([2])), fused(vector(3), np.array([2])))
    x = vector(3)
    with pytest.raises(ValueError, match="negative dimensions are not allowed"):
        fused(x, np.array([-2]))
    assert x[0] == 5.0


def test_sizes_by_data_of_arrays_of_constant_size() -> None:
    def chosen(image: Any) -> Any:
        hist = np.bincount(image.ravel(), minlength=16)
        return hist[hist > 0] * 2

    with warnings.catch_warnings():
        warnings.simplefilter("error", FuseWarning)
        check(chosen, (np.arange(12) % 5,), (np.arange(30) % 9,), variants=None)
