"""Checks one program made for grouping: NumPy, no fusion, and groups agree."""

from __future__ import annotations

import linecache
from collections.abc import Callable
from typing import Any

import numpy as np

from fusejit_testing.compare import Bound, assert_same
from fusejit_testing.oracle import decorate
from fusejit_testing.programs.grouped_programs import random_program

SIZES = ((5, 4), (4, 7), (40, 30))
NEAR = Bound(ulps=1 << 20, absolute=1e-9)  # sums of other orders, divided and subtracted


def function_of(seed: int) -> Callable[..., Any]:
    """The program as a function whose source can be read."""
    return function_of_text(random_program(seed), f"<grouped program {seed}>")


def function_of_text(text: str, name: str) -> Callable[..., Any]:
    """The function ``program`` of a text, in a file of this name that `linecache` knows."""
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    namespace: dict[str, Any] = {"np": np}
    exec(compile(text, name, "exec"), namespace)
    program: Callable[..., Any] = namespace["program"]
    return program


def check_grouped(seed: int, *, jit: bool) -> None:
    """Bits do not depend on fusion; values are NumPy's."""
    program = function_of(seed)
    run_uninterruptible = decorate(program, jit=False, fusion="none", fullgraph=True)
    grouped = decorate(program, jit=jit, fusion="auto", fullgraph=True)
    try:
        for shape in SIZES:
            with np.errstate(all="ignore"):
                expected = _outcome(program, seed, shape)
                plain = _outcome(run_uninterruptible, seed, shape)
                fused = _outcome(grouped, seed, shape)
            assert_same(expected, plain, NEAR, f"seed {seed}, not fused")
            bound = NEAR if jit else Bound()  # vector functions have bits of their own
            assert_same(plain, fused, bound, f"seed {seed}, fused")
    finally:
        del linecache.cache[f"<grouped program {seed}>"]


def _arguments(seed: int, shape: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    x, y = np.random.default_rng(seed).standard_normal((2, *shape))
    orders = (np.ascontiguousarray, np.asfortranarray)
    return orders[seed % 3 == 1](x), orders[seed % 3 == 2](y)


def _outcome(function: Any, seed: int, shape: tuple[int, int]) -> tuple[Any, ...]:
    x, y = (a.copy(order="K") for a in _arguments(seed, shape))
    return (*function(x, y), x, y)
