"""Ranges of integers: each rule holds for the numbers in its ranges, loops come to an end."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fusejit import fuse_jit
from fusejit.ir.analysis.value_ranges import SLOW, STEPS, Ranges
from fusejit.ir.graph import Graph
from fusejit.ir.ops import Loop, walk
from fusejit.ir.scalar_ops.op_ranges import FULL
from fusejit.ir.scalar_ops.scalar_op_table import SCALAR_OPS

PYTHON: dict[str, Callable[..., int]] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "left_shift": operator.lshift,
    "right_shift": operator.rshift,
    "floor_divide": operator.floordiv,
    "remainder": operator.mod,
    "negative": operator.neg,
    "absolute": abs,
    "invert": operator.invert,
    "bitwise_and": operator.and_,
    "bitwise_or": operator.or_,
    "bitwise_xor": operator.xor,
    "maximum": max,
    "minimum": min,
}
UNARY = ("negative", "absolute", "invert")
RULES = {row.name: row.range_of for row in SCALAR_OPS.values() if row.range_of is not None}
NUMBERS = st.one_of(st.integers(-40, 40), st.integers(*FULL))
RANGES = st.tuples(NUMBERS, NUMBERS).map(lambda pair: (min(pair), max(pair)))


def test_every_rule_is_tried() -> None:
    assert PYTHON.keys() | {"select"} == RULES.keys()


@pytest.mark.parametrize("name", PYTHON)
@given(data=st.data())
def test_rules_hold(name: str, data: Any) -> None:
    ranges = [data.draw(RANGES) for _ in range(1 if name in UNARY else 2)]
    if name.endswith("shift"):
        ranges[1] = tuple(sorted(abs(b) % 70 for b in ranges[1]))
    numbers = [data.draw(st.integers(*r)) for r in ranges]
    if name in ("floor_divide", "remainder") and not numbers[1]:
        return
    low, high = RULES[name](*ranges)
    result = PYTHON[name](*numbers)
    if name == "left_shift" and ranges[1][1] > 63:
        assert (low, high) == (-(2**64), 2**64)  # any shift so far may leave 64 bits
    else:
        assert low <= result <= high


def ranges_of_results(f: Any, *args: Any) -> list[tuple[int, int]]:
    """The ranges of what the outermost loop carries."""
    graph: Graph = fuse_jit(f).trace(*args).traced.graph
    loop = next(op for op in walk(graph.block) if isinstance(op, Loop))
    ranges = Ranges(graph)
    return [ranges.of(v) for v in loop.results if v.type.dtype == np.int64]


X = np.arange(6)


def test_a_counter_stays_inside() -> None:
    def f(x: Any) -> Any:
        n = 0
        for i in range(len(x)):
            if x[i] > 2:
                n += 1
        return n

    assert ranges_of_results(f, X) == [(0, STEPS)]


def test_a_counter_of_large_steps() -> None:
    def f(x: Any) -> Any:
        n = 0
        for i in range(len(x)):
            for j in range(i):
                if x[j] > 2:
                    n += 100
            n += 1
        return n

    assert ranges_of_results(f, X) == [(0, SLOW)]


def test_a_sign_changes_between_two_numbers() -> None:
    def f(x: Any) -> Any:
        sign = 1
        for i in range(len(x)):
            if x[i] > 2:
                sign = -sign
        return sign

    ((low, high),) = ranges_of_results(f, X)
    assert (low, high) == (-256, 256)


def test_remainders_bound_what_is_carried() -> None:
    def f(x: Any) -> Any:
        a, b = 1, 0
        for i in range(len(x)):
            a = (a + int(x[i])) % 65521
            b = (b + a) % 65521
        return a, b

    assert ranges_of_results(f, X.astype(np.uint8)) == [(0, 65520), (0, 65520)]


def test_what_grows_fast_has_no_bound() -> None:
    def f(x: Any) -> Any:
        h = 1
        for i in range(len(x)):
            h = h * 3 + i
        return h

    assert ranges_of_results(f, X) == [FULL]


def test_behind_the_check_of_an_index_it_is_a_size_at_most() -> None:
    def moved(grid: Any, x: int, d: int, n: int) -> Any:
        for _ in range(n):
            d = -d
            if grid[x] > 0:
                grid[x] = 0
            x = (x + d % 3) % n
        return x

    def unchecked(grid: Any, x: int, d: int, n: int) -> Any:
        for _ in range(n):
            if d > 0:
                grid[x] = 0
            x = x + d
        return x

    def checks(function: Any) -> int:
        graph = fuse_jit(function).trace(np.ones(9), 1, 1, 9).graph
        return sum("64 bits" in str(getattr(op, "error", "")) for op in walk(graph.block))

    assert checks(moved) == 1  # -d
    assert checks(unchecked) == 1  # the index is checked in one branch only
