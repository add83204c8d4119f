"""`rng.rand(n)` raised "a host function returned shape ..": n was a constant of the trace.

What a draw returns is found on sample inputs of other sizes, but such numbers were those of the
call in each run, or one number for all of them: the size became a constant of the variant, and the
next call raised ``RuntimeError: a host function returned shape (30,), not (10,)`` (SciPy's
``rvs``).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fusejit_testing.oracle import check


def by_number(rng: Any, n: Any) -> Any:
    return rng.standard_normal(n) * 2, rng.rand(n, 3)


def by_tuple(rng: Any, n: Any) -> Any:
    return rng.uniform(0.0, 1.0, size=(n, 2)).sum(1)


def by_product(rng: Any, n: Any) -> Any:
    return rng.standard_normal(n * n)


def by_population(rng: Any, n: Any) -> Any:
    return rng.permutation(n) + 1, rng.choice(n, n - 1)


def by_trials(rng: Any, n: Any) -> Any:
    return rng.multinomial(5, [0.5, 0.5], size=n)


def by_element(rng: Any, v: Any) -> Any:
    return rng.standard_normal(v[0]), rng.standard_normal((v[1], 2)) + 1


FUNCTIONS = [by_number, by_tuple, by_product, by_population, by_trials]


def _state() -> np.random.RandomState:
    return np.random.RandomState(5)


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("type_", [int, np.int64, np.int32, np.uint8])
def test_one_variant_draws_as_many_as_each_call_asks_for(function: Any, type_: Any) -> None:
    check(function, *((_state(), type_(n)) for n in (10, 3, 15)))


def test_elements_say_how_many() -> None:
    check(by_element, *((_state(), np.array(n)) for n in ((10, 2), (3, 3), (30, 1))))


def test_large_integers_are_no_sizes() -> None:
    def drawn(rng: Any, high: Any) -> Any:
        return rng.randint(0, high, 4)

    check(drawn, (_state(), np.int64(9)), (_state(), np.int64(2**40)))
    check(drawn, (_state(), np.int64(2**62)), (_state(), np.int64(7)))
