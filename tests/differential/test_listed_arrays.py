"""``np.array([.. for .. in ..])`` fills an array in a loop of the kernel.

Python ran the whole function for all but short lists of a known length:
``np.array([x[i:i + k].std() for i in range(n)])`` at 0.9 times Python's speed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

from fusejit_testing.compare import Bound
from fusejit_testing.oracle import compare_outcomes, decorate, run

COEFFICIENTS = [1, 2.5, 3] * 7


class Pair(NamedTuple):
    first: Any
    second: Any


# ------------------------------------------------------------------------------- filled in a loop
def windows(x: Any) -> Any:
    return np.array([x[i : i + 5].std() for i in range(len(x) - 4)])


def clamped_medians(x: Any) -> Any:
    return np.asarray([np.median(x[max(0, i - 2) : i + 3]) for i in range(len(x))])


def branches(x: Any) -> Any:
    return np.array([v * 2 if v > 0 else -v for v in x])


def rows_of_numbers(x: Any) -> Any:
    return np.array([[x[i] * x[j] for j in range(len(x))] for i in range(len(x))])


def rows_of_arrays(x: Any) -> Any:
    return np.array([x * i for i in range(len(x))]).sum(axis=0)


def tuples(x: Any) -> Any:
    return np.array([(v, v * v, 1) for v in x])


def named_tuples(x: Any) -> Any:
    return np.array([Pair(v, i) for i, v in enumerate(x)])


def integers(x: Any) -> Any:
    return np.array([i * i for i in range(len(x))])


def booleans(x: Any) -> Any:
    return np.array([v > 0 for v in x]) & np.asarray([True for _ in x])


def complex_numbers(x: Any) -> Any:
    return np.array([(v + 1j) * 2 for v in x]), np.array([complex(v) for v in x])


def of_a_dtype(x: Any) -> Any:
    y = np.array([2 * i for i in range(len(x))], dtype=float)
    return y, np.array([-v for v in x], dtype="f4")


def narrow(x: Any) -> Any:
    return np.array([v.astype(np.int8) for v in x])


def in_a_loop(x: Any) -> Any:
    total = 0.0
    for r in range(len(x)):
        total += np.array([v * r for v in x]).max() + sum([v + r for v in x])
    return total


def names_of_its_own(x: Any) -> Any:
    i = 7
    y = np.array([x[i] for i in range(len(x))])
    y[0] = 9
    return y, x, i


def zipped(x: Any) -> Any:
    return np.array([np.array([a, b]) for a, b in zip(x, x[::-1], strict=True)], dtype=None)


def weights(x: Any) -> Any:
    y = np.array([np.exp(-((v - x) ** 2).sum()) for v in x])
    return y / y.sum()


def squared(x: Any) -> Any:
    return np.array([v * v for v in x])


def called_twice(x: Any) -> Any:
    return squared(x), squared(x > 0)


def of_some(x: Any) -> Any:
    return np.array([v * 2 for v in x if v > 0 if v < 2]), np.array([1.0 for v in x if v > 9])


FILLED = (
    *(windows, clamped_medians, branches, rows_of_numbers, rows_of_arrays, tuples, named_tuples),
    *(integers, booleans, complex_numbers, of_a_dtype, narrow, in_a_loop, names_of_its_own),
    *(zipped, weights, called_twice, of_some),
)


# ------------------------------------------------------------------------------- made by Python
def of_several_types(x: Any) -> Any:
    return np.array([i if i % 2 else 0.5 for i in range(len(x))])


def of_several_lengths(x: Any) -> Any:
    return [*np.array([x[:i] for i in range(len(x))], dtype=object)]


def of_none(x: Any) -> Any:
    return np.array([None for _ in x])


def of_texts(x: Any) -> Any:
    return np.array([str(i) for i in range(20)]), x


def truncated(x: Any) -> Any:
    return np.array([v + 0 for v in x], dtype=int)


def of_a_list(x: Any) -> Any:
    return np.array([COEFFICIENTS[i] * x for i in range(20)]), np.array([-c for c in COEFFICIENTS])


def too_large(x: Any) -> Any:
    return np.array([i * 2**61 for i in range(len(x))])


def out_of_bounds(x: Any) -> Any:
    return np.array([x[i + 1] for i in range(len(x))])


class Own:
    @staticmethod
    def array(items: Any) -> Any:
        return items[:1]


def another_function(x: Any) -> Any:
    return Own.array([3 * i for i in range(17)]), x * 2


def nested_twice(x: Any) -> Any:
    return np.array([[[i * j * k for k in range(2)] for j in range(len(x))] for i in range(4)])


def with_effects(x: Any) -> Any:
    seen: list[Any] = []
    return np.array([seen.append(i) or v for i, v in enumerate(x)]), len(seen)


PLAIN = (
    *(of_several_types, of_several_lengths, of_none, of_texts, truncated, of_a_list),
    *(too_large, out_of_bounds, another_function, nested_twice, with_effects),
)
CALLS = (np.linspace(-2.0, 3.0, 40), np.linspace(3.0, -1.0, 23), np.array([1.5]), np.zeros(0))


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning", "ignore:invalid value")
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("function", [*FILLED, *PLAIN])
def test_as_python(function: Callable[..., Any], dtype: Any) -> None:
    fused = decorate(function, jit=False)
    bound = Bound(absolute=1e-12 if dtype == np.float64 else 5e-3)
    for x in (*CALLS, *CALLS[:2]):
        given = (x.astype(dtype),)
        compare_outcomes(run(function, given), run(fused, given), bound, f"{len(x)} items")


@pytest.mark.parametrize("function", FILLED)
def test_one_variant_serves_all_lengths(function: Callable[..., Any]) -> None:
    fused = decorate(function, jit=False)
    for x in CALLS[:2]:
        fused(x)
    assert len(fused.variants) == 1
    assert not fused.variants.fallbacks
    assert fused.variants.segmented is None
