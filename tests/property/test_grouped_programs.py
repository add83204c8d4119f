"""Random programs made for grouping: NumPy, no fusion, and groups agree."""

from __future__ import annotations

import linecache
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit.testing.compare import Bound, assert_same
from fusejit.testing.grouped_programs import random_program

BATCH = 20
SIZES = ((5, 4), (4, 7), (40, 30))
NEAR = Bound(ulps=1 << 20, absolute=1e-9)  # sums of other orders, divided and subtracted


def function_of(seed: int) -> Callable[..., Any]:
    """The program as a function whose source can be read."""
    text, name = random_program(seed), f"<grouped program {seed}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    namespace: dict[str, Any] = {"np": np}
    exec(compile(text, name, "exec"), namespace)
    program: Callable[..., Any] = namespace["program"]
    return program


def arguments(seed: int, shape: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    x, y = np.random.default_rng(seed).standard_normal((2, *shape))
    orders = (np.ascontiguousarray, np.asfortranarray)
    return orders[seed % 3 == 1](x), orders[seed % 3 == 2](y)


def outcome(function: Any, seed: int, shape: tuple[int, int]) -> tuple[Any, ...]:
    x, y = (a.copy(order="K") for a in arguments(seed, shape))
    return (*function(x, y), x, y)


def check(seed: int, monkeypatch: pytest.MonkeyPatch, *, jit: bool) -> None:
    """Bits do not depend on fusion; values are NumPy's."""
    program = function_of(seed)
    monkeypatch.setenv("FUSEJIT_UNJITTED", "1")
    apart = fuse_jit(fusion="none", fullgraph=True)(program)
    monkeypatch.setenv("FUSEJIT_UNJITTED", "0" if jit else "1")
    grouped = fuse_jit(fusion="auto", fullgraph=True)(program)
    for shape in SIZES:
        with np.errstate(all="ignore"):
            expected = outcome(program, seed, shape)
            plain = outcome(apart, seed, shape)
            fused = outcome(grouped, seed, shape)
        assert_same(expected, plain, NEAR, f"seed {seed}, not fused")
        bound = NEAR if jit else Bound()  # vector functions have bits of their own
        assert_same(plain, fused, bound, f"seed {seed}, fused")


@pytest.mark.parametrize("start", range(0, 160, BATCH))
def test_unjitted(start: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(start, start + BATCH):
        check(seed, monkeypatch, jit=False)


@pytest.mark.parametrize("seed", range(1000, 1010))
def test_jitted(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    check(seed, monkeypatch, jit=True)


@pytest.mark.deep
@pytest.mark.parametrize("start", range(10_000, 15_000, BATCH))
def test_deep(start: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(start, start + BATCH):
        check(seed, monkeypatch, jit=False)
