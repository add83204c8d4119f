"""Steps of schedules keep what they say: random legal sequences, compiled, against NumPy."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit import linalg
from fusejit.transform import ScheduleError, schedule
from fusejit_testing.random_schedules import random_step

Function = Callable[..., Any]


def bias_relu(a: Any, b: Any) -> Any:
    return np.maximum(a @ b + 1.5, 0.0)


def softmax(a: Any, b: Any) -> Any:
    e = np.exp(a - a.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def stencil(a: Any, b: Any) -> Any:
    return np.sqrt(np.abs(a[1:-1] * 2 - a[:-2] - a[2:])) + a[1:-1, :1]


def transposed(a: Any, b: Any) -> Any:
    return (a.T * 2 + b[:, :1]) * a.T.sum(axis=0)


def integers(a: Any, b: Any) -> Any:
    n = (a * 10).astype(np.int64)
    return n.sum(axis=0) + n.max(axis=0) * 2


def positions(a: Any, b: Any) -> Any:
    return np.where(np.arange(a.shape[1]) > np.arange(a.shape[0])[:, None], a, -a) + 1


def two_products(a: Any, b: Any) -> Any:
    return np.tanh(a @ b) @ (b.T @ b)


def windows(a: Any, b: Any) -> Any:
    weights = np.arange(1, 4)[:, None] * np.arange(2, 4)
    return (a[:, :, None, None] * weights).sum(axis=(2, 3)) + a.max(axis=1, keepdims=True)


def convolution(a: Any, b: Any) -> Any:
    kernel = b[None] * np.arange(1.0, 4.0)[:, None, None]
    return np.maximum(linalg.conv_1d_nwc_wcf(a[None], kernel), 0.0)


FUNCTIONS = (
    bias_relu,
    softmax,
    stencil,
    transposed,
    integers,
    positions,
    two_products,
    windows,
    convolution,
)


def arguments(seed: int, m: int = 23, n: int = 17, k: int = 14) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    return rng.standard_normal((m, k)), rng.standard_normal((k, n))


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("seed", range(4))
def test_random_sequences(function: Function, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FUSEJIT_UNJITTED", "1")
    rng = random.Random(seed)
    s = schedule(function, *arguments(seed))
    refused: list[str] = []
    while len(s.steps) < 1 + seed and len(refused) < 60:
        try:
            s = random_step(s, rng).schedule
        except ScheduleError as error:
            refused.append(str(error))
    assert s.steps
    assert not any("internal error" in text for text in refused)
    compiled, plain = s.compile(), schedule(function, *arguments(seed)).compile()
    is_exact = all(step.tag == "bits" for step in s.steps)
    for m, n, k in [(23, 17, 14), (1, 5, 3), (3, 1, 2), (31, 30, 29), (8, 16, 5)]:
        args = arguments(seed, m, n, k)
        try:
            expected = plain(*args)
        except ScheduleError:  # another variant serves such sizes
            continue
        found = compiled(*args)
        assert found.dtype == expected.dtype
        assert found.shape == expected.shape
        if is_exact:
            np.testing.assert_array_equal(found, expected, err_msg=s.log)
        else:
            np.testing.assert_allclose(found, expected, 1e-10, 1e-12, err_msg=s.log)


def test_jitted() -> None:
    s = schedule(bias_relu, *arguments(0))
    s = s["maximum"].tile(i=8, j=6).fuse("add", "matmul").threads("i.0").schedule
    for m, n, k in [(23, 17, 14), (64, 9, 30)]:
        args = arguments(1, m, n, k)
        np.testing.assert_allclose(s.compile()(*args), bias_relu(*args), 1e-12)
    s = schedule(bias_relu, *arguments(0))["matmul"].generalize().tile(k=5, reassociate=True)
    np.testing.assert_allclose(s.schedule.compile()(*args), bias_relu(*args), 1e-12)


def test_tiles_with_memory_of_their_own_on_threads() -> None:
    a, b = arguments(0, 200, 150, 90)
    s = schedule(bias_relu, a, b)["maximum"].tile(i=24).fuse("add", "matmul").schedule
    s = s["matmul"].tile(k=20, reassociate=True).schedule["maximum"].threads("i.0").schedule
    run = s.compile()
    for _ in range(10):
        np.testing.assert_allclose(run(a, b), bias_relu(a, b), 1e-10, 1e-12)
