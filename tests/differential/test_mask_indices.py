"""Masks beside other indices: ``x[m, 0]``, ``x[:, m]``, ``x[m] = rows``, ``np.ix_``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit_testing.compare import Bound
from fusejit_testing.oracle import check, check_not_compiled, decorate


def table(n: int, *rest: int) -> Any:
    return np.random.default_rng(n).normal(size=(n, *rest))


def mask(n: int) -> Any:
    return np.arange(n) % 3 != 1


def columns(x: Any, m: Any) -> Any:
    return x[m, 0], x[m, 1:3], x[m, ::-1], x[m, -1], x[m, 0] * x[m, 1]


def deep(x: Any, m: Any) -> Any:
    return x[m, :, 0], x[m, 1], x[m, ..., 1:], x[m, None], x[1, :, 0][: x.shape[1]]


def across(x: Any, m: Any) -> Any:
    return x[:, m], x[0, m], x[..., m], x[1:, m], x[-1, m] + 1


def beside_integers(x: Any, m: Any, n: Any, ids: Any) -> Any:
    return x[m, ids], x[m][:, n], x[ids, 1]


def rows(x: Any, m: Any) -> Any:
    return x[m], x[m][:, 1], x[m] * 2, x[m].copy()


def crossed(x: Any, m: Any, ids: Any) -> Any:
    return x[np.ix_(ids, m)], x[np.ix_(m, [0, 1])], x[np.ix_(ids > 0, ids)]


@pytest.mark.parametrize("jit", [False, True])
def test_reads(jit: bool) -> None:
    check(columns, *((table(n, 4), mask(n)) for n in (5, 9)), jit=jit)
    check(deep, *((table(n, 3, 4), mask(n)) for n in (5, 9)), jit=jit)
    check(across, *((table(4, n), mask(n)) for n in (5, 9)), jit=jit)


def test_layouts() -> None:
    check(columns, *((table(4, n).T, mask(n)) for n in (5, 9)))
    check(deep, *((table(4, 3, n).T, mask(n)) for n in (5, 9)))
    check(across, *((table(n, 4).T, mask(n)) for n in (5, 9)))
    check(rows, *((np.asfortranarray(table(n, 3, 4)), mask(n)) for n in (5, 9)))
    check(rows, *((table(8, 3, 2 * n).T[::2], mask(n)) for n in (5, 9)))
    check(rows, *((table(n, 8, 3).transpose(0, 2, 1)[:, ::-1], mask(n)) for n in (5, 9)))


def test_integers_beside_masks() -> None:
    def call(n: int) -> tuple[Any, ...]:
        return table(n, 6), mask(n), np.arange(6) < 4, np.arange(mask(n).sum()) % 3

    check(beside_integers, call(7), call(10))
    check(crossed, *((table(n, n), mask(n), np.array([2, 0])) for n in (5, 9)))


def test_nothing_and_everything() -> None:
    for value in (False, True):
        check(columns, (table(5, 4), np.full(5, value)))
        check(across, (table(4, 5), np.full(5, value)))
        check(rows, (table(5, 3, 4), np.full(5, value)))


def store_columns(x: Any, m: Any, v: Any) -> Any:
    x[m, 0], x[m, 1] = v[m], -v[m]
    x[m, 2] = v[m] * 2 + 1
    x[m, 3] *= v[m]
    x[m, 1:3] += 7
    x[:, 0][m] += 1
    return x


def store_across(x: Any, m: Any, v: Any) -> Any:
    x[:, m] = 0
    x[0, m] = v[m]
    x[1, m] += v[m]
    x[2:, m] -= 1
    return x


def store_rows(x: Any, m: Any, values: Any) -> Any:
    x[m] = values
    x[m] *= 2
    return x


def roots(a: Any, b: Any, c: Any) -> Any:
    d = b * b - 4 * a * c
    real = d >= 0
    out = np.full((*a.shape, 2), np.nan)
    s = np.sqrt(d[real])
    out[real, 0] = (-b[real] - s) / (2 * a[real])
    out[real, 1] = (-b[real] + s) / (2 * a[real])
    return out


def in_a_loop(x: Any, m: Any, steps: int) -> Any:
    total = 0.0
    for i in range(steps):
        x[m, i] = i
        total += x[m, i].sum() + x[i, 1]
    return total, x


@pytest.mark.parametrize("jit", [False, True])
def test_stores(jit: bool) -> None:
    check(store_columns, *((table(n, 4), mask(n), table(n)) for n in (5, 9)), jit=jit)
    check(store_across, *((table(4, n), mask(n), table(n)) for n in (5, 9)), jit=jit)
    check(roots, *(tuple(table(n + k)[:n] for k in range(3)) for n in (10, 200)), jit=jit)
    check(in_a_loop, (table(9, 8), mask(9), 5), (table(12, 8), mask(12), 6), jit=jit)


def test_rows_stored_through_a_mask_of_fewer_axes() -> None:
    check(store_rows, *((table(n, 3), mask(n), table(int(mask(n).sum()), 3)) for n in (5, 9)))
    x, m = table(5, 3), mask(5)
    check(store_rows, (x, m, table(9, 3)), variants=None)  # too many: NumPy raises


REFUSED_BY_NUMPY: dict[str, tuple[Callable[..., Any], Any]] = {
    "length": (lambda x, m: x[m, 0], mask(6)),
    "length across": (lambda x, m: x[:, m], mask(6)),
    "axes": (lambda x, m: x[:, m, 0], np.ones((4, 1), bool)),
    "integer": (lambda x, m: x[m, 7], mask(5)),
    "ix_": (lambda x, m: x[np.ix_(m, m[:, None])], mask(5)),
}


@pytest.mark.parametrize("name", REFUSED_BY_NUMPY)
def test_what_numpy_refuses(name: str) -> None:
    program, m = REFUSED_BY_NUMPY[name]
    check(program, (table(5, 4), m), variants=None)


def test_a_bool_that_is_no_array() -> None:
    for index in (True, False):
        check_not_compiled(
            lambda x, index=index: x[:, index],
            (table(5, 4),),
            r"test_mask_indices\.py:\d+.*bool",
        )


def test_sums_of_selected_rows_stay_in_the_kernel() -> None:
    def program(x: Any, m: Any) -> Any:
        return x[m, 0].sum(), x[m, 1:3].max(axis=0)

    text = str(decorate(program, jit=False).trace(table(5, 4), mask(5)))
    assert "host_call" not in text
    assert "nonzero" not in text
    check(program, *((table(n, 4), mask(n)) for n in (5, 9)), bound=Bound(8), jit=True)
