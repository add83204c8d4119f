"""Steps that only sizes give: source, vectors in machine code, and answers."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit.codegen.machine.probe import probe
from fusejit_testing.compare import Bound
from fusejit_testing.oracle import check

LAYOUTS = {
    "step 3": lambda a: np.repeat(a, 3)[::3],
    "reversed": lambda a: a[::-1].copy()[::-1],
    "reversed in steps": lambda a: np.repeat(a[::-1], 2)[::-2],
    "one number": lambda a: np.broadcast_to(a[:1], a.shape),
    "contiguous": lambda a: a.copy(),
}


def channels(image: Any, gamma: Any) -> Any:
    out = np.empty_like(image)
    for c in range(3):
        out[:, :, c] = np.power(image[:, :, c], gamma) / (1 + image[:, :, c])
    return out


def functions(x: Any, y: Any) -> Any:
    return np.exp(x) * np.sqrt(np.abs(y)), x / y


def total(x: Any) -> Any:
    return np.exp(x).sum(), np.sqrt(x * x).max()


def plain(x: Any, y: Any) -> Any:
    return x * 2 + y


def column(x: Any) -> Any:
    return np.exp(x[:, 0])


def source_of(function: Any, *arguments: Any) -> str:
    return fuse_jit(function).trace(*arguments).fuse().lower().source


def test_a_row_length_as_step() -> None:
    """Loops of functions take it from `any_step`; it is never 1 where rows matter."""
    source = source_of(column, np.ones((5, 4)))
    assert "    by0 = any_step(s1)\n    for d0 in range(lo, hi):\n" in source
    assert "get(p_a0, by0 * d0)" in source
    assert " == 1:" not in source


def test_strides_of_arguments_may_be_one() -> None:
    """The loop stands there twice: with literal steps, and with steps that LLVM cannot guess."""
    x = np.ones(8)[::2]
    source = source_of(functions, x, x[::-1])
    assert "    if a0_st0 == 1 and a1_st0 == 1:\n        for d0 in range(lo, hi):\n" in source
    first, second = source.split("    else:\n")
    assert "get(p_a0, d0)" in first
    assert "any_step" not in first
    assert "by0 = any_step(a0_st0)" in second
    assert "by1 = any_step(a1_st0)" in second


def test_sums_and_products_stay_scalar() -> None:
    x = np.ones(8)[::2]
    assert "any_step" not in source_of(plain, x, x)
    assert "any_step" not in source_of(functions, np.ones(4), np.ones(4))  # steps are literals


@pytest.mark.skipif(not probe().form("exp", "f64"), reason="no vector form of exp here")
def test_steps_call_vector_functions() -> None:
    """No loop for a step of 1, whose loads would be of whole vectors, and lanes in the one loop."""
    f = fuse_jit(column)
    f(np.ones((5, 4)))
    text = f.variants[0].kernels[0].llvm()
    assert "load <" not in text
    assert re.search(r"masked\.gather|insertelement <\d+ x double> %", text)


@pytest.mark.parametrize("n", [0, 1, 5])
@pytest.mark.parametrize("left", LAYOUTS)
def test_layouts(left: str, n: int) -> None:
    numbers = np.linspace(-2, 3, n + 1)[1:]
    for right in LAYOUTS:
        if n or "one number" not in (left, right):
            check(functions, (LAYOUTS[left](numbers), LAYOUTS[right](numbers + 0.25)))
    if n:
        check(total, (LAYOUTS[left](numbers),))
    image = np.linspace(0, 1, n * 12).reshape(n, 4, 3)
    check(channels, (image, 0.45), variants=None)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_bits_do_not_depend_on_the_step(dtype: str) -> None:
    """One variant serves every step, 1 included; each element goes through the same function."""
    x = np.linspace(-3, 5, 301).astype(dtype)
    f, whole = fuse_jit(functions), fuse_jit(functions)
    expected = whole(x, x + 9)
    for step in (2, 3, 7):
        spread = np.repeat(x, step)[::step]
        for got, wanted in zip(f(spread, spread + 9), expected, strict=True):
            assert np.array_equal(got, wanted)
    for got, wanted in zip(f(x, x + 9), expected, strict=True):
        assert np.array_equal(got, wanted)


def test_layouts_jitted() -> None:
    numbers, bound = np.linspace(-2, 3, 70), Bound(ulps=8)
    operands = LAYOUTS["step 3"](numbers), LAYOUTS["reversed"](numbers + 0.01)
    check(functions, operands, jit=True, bound=bound, inner_bound=bound)
    check(total, operands[:1], jit=True, bound=bound, inner_bound=bound)
    image = np.linspace(0, 1, 9 * 7 * 3).reshape(9, 7, 3)
    check(channels, (image, 0.45), variants=None, jit=True, bound=bound, inner_bound=bound)
