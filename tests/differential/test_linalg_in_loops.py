"""`numpy.linalg` of single matrices in loops and branches: in the kernel, with NumPy's bits.

Regression: a Kalman filter ran at NumPy's speed, because Python ran its loop for one `inv`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.linalg import LinAlgError

from fusejit import FuseWarning
from fusejit.ir.inline_calls.inline_linalg import linalg_loops
from fusejit_testing.oracle import check, compare_outcomes, decorate, run

RNG = np.random.default_rng(3)


def regular(n: int, dtype: Any = float, count: int = 5) -> np.ndarray:
    made = RNG.normal(size=(count, n, n)) * 2 + np.eye(n) * n
    return (made * (10 if np.dtype(dtype).kind in "iu" else 1)).astype(dtype)


def definite(n: int, dtype: Any = float) -> np.ndarray:
    a = regular(n)
    return (a @ a.swapaxes(1, 2)).astype(dtype)


def inverses(a: Any) -> Any:
    out = np.zeros(a.shape)
    for k in range(len(a)):
        out[k] = np.linalg.inv(a[k]) @ a[0] + np.linalg.inv(a[k].T)
    return out


def reversed_views(a: Any) -> Any:
    s = 0.0
    for k in range(len(a)):
        s += np.linalg.inv(a[k][::-1, ::-1])[0, 0] + np.linalg.det(a[k][:2, :2].T)
    return s


def systems(a: Any) -> Any:
    x, y = np.ones(a.shape[1]), a[0] * 2
    for k in range(len(a)):
        x = np.linalg.solve(a[k], x + 1)
        y = np.linalg.solve(a[k], y[:, ::-1]) + np.linalg.solve(a[k], a[0].T)
    return x, y


def determinants(a: Any) -> Any:
    out = []
    for k in range(len(a)):
        if a[k, 0, 0] > 0:
            out.append(np.linalg.det(a[k]))
        else:
            out.append(np.linalg.det(a[k] * 2) + 1)
    return np.array(out), type(np.linalg.det(a[0]))


def factors(a: Any) -> Any:
    total = np.zeros_like(a[0])
    for k in range(len(a)):
        total = total + np.linalg.cholesky(a[k]) + np.triu(a[k])
    return total


def in_a_branch(a: Any) -> Any:
    b = a[0] * 2
    if a[0, 0, 0] > 0:
        b = np.linalg.inv(a[0])
    return b


def until(a: Any) -> Any:
    x, k = a[0], 0
    while np.abs(np.linalg.det(x)) > 1e-3 and k < 6:
        x, k = np.linalg.inv(x) * 0.5 + x * 0.01, k + 1
    return x, k


PROGRAMS = (inverses, reversed_views, systems, determinants, factors, in_a_branch, until)


@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.parametrize("program", PROGRAMS)
def test_every_size(program: Callable[..., Any], jit: bool) -> None:
    sizes = [1, 2, 3, 4, 8, 20] if program is not reversed_views else [2, 3, 8]
    check(program, *((definite(n),) for n in sizes), jit=jit, variants=None)


@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.parametrize("dtype", ["f4", "i4", "u1", "?", "f2", "c16", "O"])
@pytest.mark.parametrize("program", [inverses, systems, determinants])
def test_other_dtypes(program: Callable[..., Any], dtype: str, jit: bool) -> None:
    """NumPy computes in float64 and rounds to float32."""
    a = (definite(3) * 3 + np.triu(np.ones((5, 3, 3)))).astype(dtype)
    fused = decorate(program, jit=jit)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compare_outcomes(run(program, (a,)), run(fused, (a,)))


def filtered(a: Any, out: Any) -> Any:
    for k in range(len(a)):
        out[k] = k + 1
        out[k] = np.linalg.inv(a[k])[0, 0]
    return out


def solved(a: Any, out: Any) -> Any:
    for k in range(len(a)):
        out[k] = np.linalg.solve(a[k], a[0, 0])[0]
    return out


def factored(a: Any, out: Any) -> Any:
    for k in range(len(a)):
        out[k] = np.linalg.cholesky(a[k])[0, 0]
    return out


def caught(a: Any, out: Any) -> Any:
    for k in range(len(a)):
        try:
            out[k] = np.linalg.inv(a[k])[0, 0]
        except LinAlgError:
            out[k] = -1
    return out


@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.parametrize("program", [filtered, solved, factored, caught])
def test_errors_at_the_matrix_that_is_singular(program: Callable[..., Any], jit: bool) -> None:
    fused = decorate(program, jit=jit)
    for bad in (None, 0, 3, 4):
        a = definite(3)
        if bad is not None:
            a[bad] = -np.ones((3, 3))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FuseWarning)  # a `try` after a store runs in Python
            compare_outcomes(run(program, (a, np.zeros(5))), run(fused, (a, np.zeros(5))))


def with_invalid_numbers(a: Any, x: Any) -> Any:
    s = 0.0
    for k in range(len(a)):
        s += np.linalg.inv(a[k] * x[k])[0, 0] + (x[k] - x[k]) / x[k]
    return s


@pytest.mark.parametrize("jit", [False, True])
def test_invalid_operations_elsewhere_are_no_error(jit: bool) -> None:
    fused = decorate(with_invalid_numbers, jit=jit)
    with np.errstate(all="ignore"):
        for x in ([1, 2, 3, 4, 5], [1, np.inf, 2, 3, 4], [np.nan, 1, 2, 3, 4], [1, 0, 1, 1, 1]):
            args = definite(3), np.array(x, float)
            compare_outcomes(run(with_invalid_numbers, args), run(fused, args))


@pytest.mark.parametrize("program", [inverses, systems, determinants])
def test_other_shapes_raise_as_in_numpy(program: Callable[..., Any]) -> None:
    fused = decorate(program, jit=False)
    for shape in ((2, 3, 4), (2, 0, 0), (0, 3, 3), (2, 3), (2, 2, 3, 3)):
        args = (np.ones(shape) + np.eye(*shape[-2:]),)
        compare_outcomes(run(program, args), run(fused, args))


@pytest.mark.skipif(not linalg_loops(), reason="NumPy's loops are not known here")
def test_the_loop_is_one_kernel() -> None:
    fused = decorate(inverses, jit=False, fullgraph=True)
    a = definite(3)
    fused(a)
    assert "calls LAPACK from inside: inv" in fused.explain(a, detail=True)
