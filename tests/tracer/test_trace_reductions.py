"""Reductions, matrix products and arrays made from nothing."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from fusejit.ir.ops import GenericOp
from fusejit.tracer.capture.entry import trace_function
from fusejit.tracer.program.fallback import Fallback

DTYPES = [np.bool_, np.int32, np.int64, np.uint8, np.float32, np.float64]
AXES = [None, 0, 1, -1, (0, 1), (0, 2), (2, 0), ()]


def cube(dtype: Any, order: str = "C") -> np.ndarray:
    values = (np.arange(24) * 7 % 11).reshape(2, 3, 4).astype(dtype)
    return np.array(values, order=order)  # type: ignore[call-overload]


@pytest.mark.parametrize("name", ["sum", "mean", "max", "min", "any", "all"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_reductions(check: Any, name: str, dtype: Any) -> None:
    function = getattr(np, name)
    tolerance = 1e-6 if dtype is np.float32 else 1e-14
    for axis, keepdims in itertools.product(AXES, [False, True]):
        for x in (cube(dtype), cube(dtype, "F"), cube(dtype).transpose(1, 2, 0)):
            check(
                lambda a, k=axis, d=keepdims: function(a, axis=k, keepdims=d),
                x,
                tolerance=tolerance,
            )
    check(lambda a: (getattr(a, name)(), getattr(a, name)(0)), cube(dtype), tolerance=tolerance)
    check(lambda a: function(a), np.array(3, dtype))


def test_reductions_with_dtype_and_out(check: Any) -> None:
    def f(a: np.ndarray, o: np.ndarray) -> Any:
        np.sum(a, axis=0, out=o)
        return a.sum(axis=0, dtype=np.float32), a.mean(dtype=np.float32), np.add.reduce(a, axis=1)

    check(f, np.arange(6).reshape(2, 3), np.zeros(3), tolerance=1e-6)


def test_reductions_of_empty_arrays(check: Any) -> None:
    empty = np.zeros((0, 3))
    check(lambda a: (a.sum(), a.sum(0), a.sum(1), a.max(1), a.any(), a.all(0)), empty)
    for name in ("max", "min", "mean"):
        for axis in (None, 0):
            with pytest.raises(Fallback):
                trace_function(lambda a, n=name, k=axis: getattr(a, n)(axis=k), (empty,), {})
    fn = lambda a: a.max(axis=0)  # noqa: E731
    traced = check(fn, np.ones((2, 3)), also=[(np.ones((5, 1)),)])
    assert check.refuses(traced, fn, empty)


def test_wrong_axes_decline() -> None:
    for axis in (2, -3, (0, 0), 1.5):
        with pytest.raises(Fallback):
            trace_function(lambda a, k=axis: a.sum(axis=k), (np.ones((2, 3)),), {})


def test_softmax_and_normalisation_serve_other_sizes(check: Any) -> None:
    def softmax(x: np.ndarray) -> np.ndarray:
        e = np.exp(x - np.max(x, axis=-1, keepdims=True))
        return e / np.sum(e, axis=-1, keepdims=True)

    def normalise(x: np.ndarray) -> np.ndarray:
        m = x.mean(axis=0)
        return (x - m) / np.sqrt(((x - m) ** 2).mean(axis=0) + 1e-5)

    x = np.arange(12.0).reshape(3, 4) % 5
    for fn in (softmax, normalise):
        check(fn, x, also=[(x[:2],), (np.ones((7, 9)),)], tolerance=1e-14)
        check(fn, np.asfortranarray(x), tolerance=1e-14)


@pytest.mark.parametrize("dtype", DTYPES)
def test_matrix_products(check: Any, dtype: Any) -> None:
    a, b = cube(dtype)[0], cube(dtype)[1].T
    v = cube(dtype)[0, 0]
    tolerance = 1e-6
    check(
        lambda a, b, v: (a @ b, a @ v, v @ b, v @ v, np.dot(a, b), a.T @ a),
        a,
        b,
        v,
        tolerance=tolerance,
    )
    s = cube(dtype, "F")
    check(lambda s, b: (s @ b, b.T @ np.swapaxes(s, 1, 2)), s, b, tolerance=tolerance)


def test_matrix_product_of_mixed_operands(check: Any) -> None:
    a, i = np.ones((2, 3)), np.arange(6).reshape(3, 2)
    """Operands are converted first where NumPy gives the product to BLAS."""
    traced = check(
        lambda a, i: (a @ i, np.dot(a, 2.0), a.astype("f4") @ i.astype("f4"), a[0] @ i[:, 0]), a, i
    )
    products = [
        o for o in traced.graph.block.ops if isinstance(o, GenericOp) and o.name == "matmul"
    ]
    assert [p.library_call for p in products] == ["matmul", "matmul", None]
    for bad in (np.ones((2, 2)), np.ones(()), np.ones((2, 2, 2))):
        with pytest.raises(Fallback):
            trace_function(lambda a, b: a @ b, (a, bad), {})


# ------------------------------------------------------------------------------------- creation
def test_filled_arrays(check: Any) -> None:
    def f(x: np.ndarray, n: int, c: float) -> Any:
        return (
            np.zeros(3),
            np.zeros((n, 2), np.int32),
            np.ones(n, dtype=bool),
            np.full((2, n), c),
            np.full(2, 7),
            np.full_like(x, 3, dtype=np.uint8),
            np.ones_like(x),
            np.zeros(x.shape[::-1], order="F"),
            np.zeros(()),
            np.array([1.0, 2.0, 3.0]),
            np.array([[1, 2], [3, 4]]) + x[0, 0],
            np.array(x, dtype=np.float32),
            np.asarray(x),
            np.linspace(0.0, 1.0, 5),
        )

    check(f, np.asfortranarray(np.ones((2, 3))), 4, 2.5)


@pytest.mark.parametrize(
    "args",
    [
        (5,),
        (0,),
        (-3,),
        (2, 9),
        (2, 9, 3),
        (9, 2, -2),
        (1.0,),
        (0.1, 1.0, 0.1),
        (0.3, 1.7, 0.2),
        (1, 2, 0.25),
        (5.0, 1.0, -0.7),
        (1e-3, 20, 1),
        (1, 1e6, 1e5),
    ],
    ids=str,
)
def test_arange(check: Any, args: tuple[Any, ...]) -> None:
    check(lambda: np.arange(*args))
    check(lambda: np.arange(*args, dtype=np.float32))
    names = {1: lambda a: np.arange(a), 2: lambda a, b: np.arange(a, b)}
    three = lambda a, b: np.arange(a, b, args[2])  # noqa: E731
    check(names.get(len(args), three), *args[:2])


def test_arange_serves_other_sizes(check: Any) -> None:
    fn = lambda x: np.arange(len(x)) * x + np.arange(0, x.shape[0]) / 2  # noqa: E731
    check(fn, np.ones(5), also=[(np.ones(9),)])
    check(lambda h, n: np.arange(0.0, n * h, h), 0.1, 7)


def test_constants_are_fresh_in_every_call(check: Any) -> None:
    def f(x: np.ndarray) -> Any:
        w = np.array([1.0, 2.0, 3.0])
        w[0] = x[0]
        w *= 2
        return w, w[1:]

    check(f, np.arange(3.0) + 5)
    constant = np.array([4.0, 5.0])
    check(lambda x: (x + constant, constant), np.ones(2))


def test_static_arrays_without_source(check: Any) -> None:
    names: dict[str, Any] = {"np": np}
    text = """def f(x):
        c = np.array([1.0, 2.0, 3.0])
        a = x * c
        c[0] = 7
        return a + np.sum(c * x), c, c[1:] + x[1:]"""
    exec(text, names)
    traced = check(names["f"], np.arange(3.0))
    assert any("no source" in note for note in traced.notes)
