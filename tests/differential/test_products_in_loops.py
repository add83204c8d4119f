"""Matrix products inside compiled loops have NumPy's bits: layouts, dtypes, and sizes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit.codegen.intrinsics.matrix_products import product_loops
from fusejit.ir.ops import GenericOp, Loop, walk
from fusejit_testing.compare import Bound
from fusejit_testing.oracle import check, decorate

NEAR = Bound(absolute=1e-4)  # the interpreter sums in an order of its own

LAYOUTS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "C": np.ascontiguousarray,
    "F": np.asfortranarray,
    "transposed": lambda a: np.ascontiguousarray(a.T).T,
    "rows apart": lambda a: np.repeat(a, 2, 0)[::2],
    "columns apart": lambda a: np.repeat(a, 2, 1)[:, ::2],
    "both apart": lambda a: np.repeat(np.repeat(a, 2, 0), 3, 1)[::2, ::3],
    "flipped": lambda a: np.ascontiguousarray(a[::-1, ::-1])[::-1, ::-1],
}


def numbers(*shape: int, dtype: str = "f8", seed: int = 0) -> np.ndarray:
    values = np.random.default_rng(seed).standard_normal(shape)
    return (values / max(shape[0], 1)).astype(dtype) if dtype[0] == "f" else _whole(values, dtype)


def _whole(values: np.ndarray, dtype: str) -> np.ndarray:
    return np.rint(values * 3).astype(dtype)


def products(a: Any, b: Any, v: Any, steps: int) -> Any:
    total = a @ b
    w = v
    for _ in range(steps):
        total = total + a @ b
        w = w + a.T @ (a @ (b.T @ v))
        u = v @ b
        w[0] += u @ u
        b[0] += u
    return total, w


@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "i8"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(layout: str, dtype: str) -> None:
    """One variant for all sizes, in which no axis has length 1."""
    lay = LAYOUTS[layout]
    fused = decorate(products, jit=False, fullgraph=True)
    for m, k in ((3, 4), (7, 2), (9, 11)):
        v = numbers(k, dtype=dtype, seed=3)
        made = [lay(numbers(m, k, dtype=dtype)), lay(numbers(k, k, dtype=dtype, seed=1)), v]
        again = [lay(numbers(m, k, dtype=dtype)), lay(numbers(k, k, dtype=dtype, seed=1)), v.copy()]
        with np.errstate(over="ignore"):
            np.testing.assert_equal(fused(*made, 6), products(*again, 6))
        np.testing.assert_equal(made, again)
    assert len(fused.variants) == 1


@pytest.mark.parametrize("dtype", ["f4", "f8", "i8"])
def test_compiled(dtype: str) -> None:
    def arguments(layout: str, m: int, k: int) -> tuple[Any, ...]:
        lay = LAYOUTS[layout]
        a, b = lay(numbers(m, k, dtype=dtype)), lay(numbers(k, k, dtype=dtype, seed=1))
        return a, b, numbers(k, dtype=dtype, seed=3), 6

    for layout in ("C", "both apart"):
        calls = [arguments(layout, m, k) for m, k in ((3, 4), (9, 7))]
        check(products, *calls, jit=True, bound=NEAR, inner_bound=NEAR)
        fused = decorate(products, jit=True, fullgraph=True)
        for m, k in ((3, 4), (200, 120)):
            np.testing.assert_equal(
                fused(*arguments(layout, m, k)), products(*arguments(layout, m, k))
            )


@pytest.mark.parametrize(("m", "k", "n"), [(0, 3, 2), (3, 0, 2), (3, 2, 0), (1, 4, 3), (3, 1, 4),
                                           (3, 4, 1), (1, 4, 1), (1, 1, 1)])  # fmt: skip
@pytest.mark.parametrize("jit", [False, True])
def test_empty_and_single(m: int, k: int, n: int, jit: bool) -> None:
    def f(a: Any, b: Any, steps: int) -> Any:
        total = np.zeros((a.shape[0], b.shape[1]))
        for _ in range(steps):
            total += a @ b
            total *= 0.5
        return total

    a, b = numbers(m, k), numbers(k, n, seed=1)
    np.testing.assert_equal(decorate(f, jit=jit, fullgraph=True)(a, b, 6), f(a, b, 6))


@pytest.mark.parametrize("jit", [False, True])
def test_slices_with_bounds_of_the_loop(jit: bool) -> None:
    def f(a: Any, x: Any) -> Any:
        n = len(x)
        y = np.zeros(n)
        for i in range(n):
            y[i] = x[i] + a[i, :i] @ y[:i]
            x[i] += a[::-2, i] @ x[::2][: len(a[::-2])]
            x[i:] -= a[i:, : i + 1] @ y[: i + 1]
            y[:i] += y[i] * (a[:i, i:] @ a[i:, i])
        return y

    for n in (0, 1, 2, 30):
        a, x = numbers(n, n), numbers(n, seed=1)
        ours, theirs = x.copy(), x.copy()
        fused = decorate(f, jit=jit, fullgraph=True)
        np.testing.assert_equal(fused(a, ours), f(a, theirs))
        np.testing.assert_equal(ours, theirs)


@pytest.mark.parametrize("jit", [False, True])
def test_stacks_and_a_matrix_times_its_transpose(jit: bool) -> None:
    def f(s: Any, a: Any, steps: int) -> Any:
        for i in range(steps):
            s = (s @ a) * 0.5 + np.swapaxes(s, 1, 2) @ s
            a = a @ a.T + i
        return s, a, a[None] @ s

    s, a = numbers(3, 20, 20), numbers(20, 20, seed=1)
    np.testing.assert_equal(decorate(f, jit=jit, fullgraph=True)(s, a, 6), f(s, a, 6))


@pytest.mark.parametrize("jit", [False, True])
def test_operands_that_are_no_arrays_in_memory(jit: bool) -> None:
    """Numbers that are broadcast, converted operands, products in a branch and in a condition."""

    def f(a: Any, i: Any, steps: int) -> Any:
        v = np.ones(a.shape[1])
        for _ in range(steps):
            if v.sum() > 0:
                v = v + (a @ np.full(a.shape[1], 2.0)) * 0.01
            else:
                v = v - i @ v
        while v @ v > 1:
            v = v * 0.5
        return v, a @ i

    a, i = numbers(5, 5), np.arange(25).reshape(5, 5)
    np.testing.assert_equal(decorate(f, jit=jit, fullgraph=True)(a, i, 8), f(a, i, 8))


def iterate(a: Any, v: Any, steps: int) -> Any:
    for _ in range(steps):
        v = a @ v
        v = v / np.sqrt(v @ v)
    return v


def test_large_products_stay_in_the_loop() -> None:
    fused = decorate(iterate, jit=True, fullgraph=True)
    a, v = numbers(500, 500), numbers(500, seed=1)
    np.testing.assert_array_equal(fused(a, v, 20), iterate(a, v, 20))
    graph = fused.variants[0].schedule.graph
    (loop,) = (op for op in graph.block.ops if isinstance(op, Loop))
    called = [op for op in walk(loop.body) if isinstance(op, GenericOp) and op.library_call]
    assert len(called) == 2
    assert "calls BLAS from inside: matmul test_products_in_loops.py" in str(
        fused.explain(a, v, 20, detail=True)
    )


def test_without_numpys_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the struct of the ufunc is another one, products are loops."""
    import fusejit.codegen.lower.product_emitter as writer

    monkeypatch.setattr(writer, "product_loops", dict)
    a, b, v = numbers(6, 5), numbers(5, 5, seed=1), numbers(5, seed=2)
    check(products, (a, b, v, 6), bound=NEAR, inner_bound=NEAR)


def test_the_loops_are_found() -> None:
    names = ("matmul_f32", "matmul_f64", "vecdot_f32", "vecdot_f64")
    assert sorted(product_loops()) == [f"fusejit_{name}" for name in names]
