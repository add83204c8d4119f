"""Forms such as `np.array(ndmin=2)` raised errors: handlers did not know these arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit import UnsupportedError, fuse_jit
from fusejit_testing.compare import Bound
from fusejit_testing.oracle import check

X = np.arange(6.0).reshape(2, 3)
V = np.arange(1.0, 6.0)
I = np.arange(6)  # noqa: E741
K = np.array([3, 2])
Z = V + 1j * V[::-1]

COMPILED: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "ndmin": (lambda x: np.array(x, ndmin=1) + 1, (V,)),
    "ndmin of 2": (lambda x: np.array(x, ndmin=2, copy=None) + 1, (V,)),
    "ndmin of a list": (lambda x: np.array([x[0], 2.0], ndmin=3), (V,)),
    "order of a list": (lambda x: np.array([[x[0], 2.0], [1.0, x[1]]], order="F"), (V,)),
    "asarray that copies": (lambda x: np.asarray(x, copy=True) * 2, (V,)),
    "asarray in Fortran's order": (lambda x: np.asarray(x, order="F"), (X,)),
    "order A": (lambda x: (np.array(x.T, order="A"), x.T.copy("A"), np.copy(x.T, "A")), (X + 0,)),
    "asanyarray": (lambda x: np.asanyarray(x, order="F") * 2, (X,)),
    "astype": (lambda x: x.astype(np.float64, order="F", copy=False), (X,)),
    "require": (lambda x: np.require(x, np.float32, "F") + 1, (X,)),
    "require of its own": (lambda x: np.require(x + 1, requirements=["C", "O", "W"]), (X,)),
    "ravel in memory order": (lambda x: np.ravel(x + 0, "K") * 2, (X,)),
    "like in order A": (lambda x: np.zeros_like(x, order="A"), (X,)),
    "powers of integers": (lambda a, b: a**b, (I, I)),
    "negative powers": (lambda a, b: a**b, (I, I - 1)),
    "powers of elements": (lambda a, b: a[2] ** b[1], (I, I)),
    "imaginary parts of real numbers": (lambda x: (x.imag, np.imag(x.T), x.imag + 1), (X,)),
    "real parts of real numbers": (lambda x: (x.real + 1, np.real(2.5)), (X,)),
    "conj of real numbers": (lambda x: np.conj(x) + 1, (X,)),
    "the method conj": (lambda x, z: (x.conj() is x, z.conj() + 1), (X, Z)),
    "angle of real numbers": (lambda x: np.angle(x - 2), (X,)),
    "angle in degrees": (lambda z: np.angle(z, deg=True), (Z,)),
    "shape that is an array": (lambda k: np.zeros(k), (K,)),
    "grid of so many points": (lambda n: np.mgrid[-1 : 1 : n * 1j], (5,)),
    "open grid of so many points": (lambda n: np.ogrid[0 : 1 : n * 1j, 0:2:3j][0] + 1, (5,)),
    "row of so many points": (lambda n: np.r_[-1 : 1 : n * 1j, 7], (5,)),
    "split of rows": (lambda x: np.array_split(x, [1]), (X,)),
    "scalars as arrays": (lambda x: np.atleast_2d(x.shape[0]), (X,)),
    "cumulative sum into an array": (lambda x: np.add.accumulate(x, out=x + 0), (V,)),
    "shapes": (lambda x, y: np.zeros(np.broadcast_shapes(x.shape, y.shape)), (X, V[:3])),
}
BY_NUMPY: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "casting": (lambda a, b: np.subtract(a, b, casting="unsafe", dtype=np.uint8) + 1, (I, I)),
    "order of a ufunc": (lambda x: np.add(x, x, order="F"), (X,)),
    "subok": (lambda x: np.add(x, x, subok=False), (X,)),
    "signature": (lambda x: np.add(x, x, signature="ff->f", casting="same_kind"), (X,)),
    "reciprocal": (lambda a: np.reciprocal(a[1:]) + a[1:], (I,)),
    "repeat by counts": (lambda x, k: np.repeat(x, k, axis=0) + 1, (X, K)),
    "repeat by an element": (lambda x, k: np.repeat(x, k[0]) + 1, (X, K)),
    "tile by an element": (lambda x, k: np.tile(x, k[0]), (X, K)),
    "var": (lambda x: np.var(x, where=x > 1) + 1, (X,)),
    "std": (lambda x: np.std(x, axis=0, where=x > -1), (X,)),
    "reduceat": (lambda x: np.add.reduceat(x, [0, 2]), (V,)),
    "insert a row": (lambda x: np.insert(x, 0, 1, axis=0), (X,)),
}
BOUND = Bound(ulps=64)


@pytest.mark.parametrize("name", COMPILED)
def test_compiled(name: str) -> None:
    function, args = COMPILED[name]
    check(function, args, bound=BOUND)


@pytest.mark.parametrize("name", BY_NUMPY)
def test_by_numpy(name: str) -> None:
    """No warning, as nothing is lost; with ``fullgraph`` the refusal names the line."""
    function, args = BY_NUMPY[name]
    check(function, args, bound=BOUND)
    with pytest.raises(UnsupportedError, match=r"test_refused_forms\.py:\d+"):
        fuse_jit(fullgraph=True)(function)(*args)


def test_a_copy_that_is_needed() -> None:
    check(lambda x: np.array(x, np.float32, copy=False), (V,), variants=None)


def test_what_has_the_order_already_is_returned_itself() -> None:
    @fuse_jit
    def ordered(x: Any) -> Any:
        return np.asarray(x, order="C"), np.array(x, ndmin=1, copy=None), np.require(x, None, "C")

    assert all(made is X for made in ordered(X))
    assert ordered.variants


def test_powers_that_a_mask_leaves_out_may_be_negative() -> None:
    def masked(a: Any, b: Any) -> Any:
        made = a.copy()
        made[b >= 0] = a[b >= 0] ** b[b >= 0]
        return made, np.power(a, b, out=np.zeros_like(a), where=b >= 0)

    check(masked, (I, I - 2), variants=None)


def test_negative_powers_behind_a_store() -> None:
    def stored(a: Any, b: Any) -> Any:
        a[0] = 7
        return a**b

    check(stored, (I.copy(), I), (I.copy(), I - 2), variants=None)


def test_a_mask_leaves_elements_of_out_alone() -> None:
    def filled(a: Any, m: Any) -> Any:
        return np.reciprocal(a, out=np.full_like(a, 9), where=m)

    check(filled, (I, I > 0), variants=None)


def test_an_array_is_given_another_shape() -> None:
    def reshaped(x: Any) -> Any:
        made = x + 1
        other = made
        made.shape = (3, 2)
        other[0, 0] = 7
        return made * 2, other.shape

    check(reshaped, (X,))

    def of_the_caller(x: Any) -> Any:
        x.shape = -1
        return x + 1

    check(of_the_caller, (X,), variants=None)

    def wrong(x: Any) -> Any:
        made = x + 1
        made.shape = (5,)
        return made

    check(wrong, (X,), variants=None)
