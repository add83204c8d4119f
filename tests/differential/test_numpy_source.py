"""Functions that are traced through NumPy's own source: whole for what they are mostly given.

Under ``fullgraph=True`` nothing runs in Python between kernels, so a call that compiles there has
come out whole.

Regression: ``np.roll(x, (), ())`` of a 0-d array returned, where NumPy raises a ValueError: nothing
checked for it.
"""

from __future__ import annotations

import functools
import importlib
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.polynomial import chebyshev, hermite, hermite_e, laguerre, legendre, polynomial

from fusejit import FuseWarning, fuse_jit
from fusejit.tracer.np.numpy_source import NAMES
from fusejit_testing.compare import assert_same

RNG = np.random.default_rng(11)
X = RNG.normal(size=37)
C = RNG.normal(size=6)
GRID = RNG.normal(size=(5, 8))
WEIGHTS = RNG.random((5, 8))
CLOSE = {"rtol": 1e-13, "atol": 1e-13}

SERIES = (
    polynomial.polyval,
    chebyshev.chebval,
    hermite.hermval,
    hermite_e.hermeval,
    laguerre.lagval,
    legendre.legval,
)


GRIDS = RNG.normal(size=(4, 3, 2))
OF_SERIES: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {
    "val": ((X, C), {}),
    "val2d": ((X, X + 1, GRIDS[..., 0]), {}),
    "val3d": ((X, X + 1, X - 1, GRIDS), {}),
    "grid2d": ((X[:5], X[:6], GRIDS[..., 0]), {}),
    "grid3d": ((X[:5], X[:6], X[:4], GRIDS), {}),
    "der": ((C,), {"m": 2}),
    "int": ((C,), {"k": [1.5]}),
    "vander": ((X,), {"deg": 4}),
}


def called(function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    def call(*args: Any) -> Any:
        return function(*args, **options)

    return call


WHOLE: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "average": (called(np.average), (X,)),
    "average of rows": (called(np.average, axis=1), (GRID,)),
    "average with weights": (lambda x, w: np.average(x, weights=w), (GRID, WEIGHTS)),
    "average and its weight": (called(np.average, axis=0, returned=True), (GRID,)),
    "i0": (called(np.i0), (X * 6,)),
    "iscomplex": (called(np.iscomplex), (GRID,)),
    "isreal": (called(np.isreal), (GRID,)),
    "polyder": (called(np.polyder), (C,)),
    "polyder twice": (called(np.polyder, m=2), (C,)),
    "polyint": (called(np.polyint), (C,)),
    "unwrap": (called(np.unwrap), (X * 4,)),
    "unwrap of columns": (called(np.unwrap, axis=0, period=2.0), (GRID,)),
    "fftshift": (called(np.fft.fftshift), (X,)),
    "fftshift of one axis": (called(np.fft.fftshift, axes=1), (GRID,)),
    "ifftshift": (called(np.fft.ifftshift), (GRID,)),
    "fftfreq": (lambda x: np.fft.fftfreq(len(x), 0.1) * x, (X,)),
    "rfftfreq": (lambda x: np.fft.rfftfreq(len(x), 0.1) + x[0], (X,)),
    "matrix_norm": (called(np.linalg.matrix_norm), (GRID,)),
    "vector_norm": (called(np.linalg.vector_norm), (GRID,)),
    "vector_norm of rows": (called(np.linalg.vector_norm, axis=1, ord=1), (GRID,)),
    "trace": (called(np.linalg.trace), (GRID,)),
    "matmul": (called(np.linalg.matmul), (GRID, WEIGHTS.T.copy())),
    **{f.__name__: (called(f), (X, C)) for f in SERIES},
    **{f"{f.__name__} of a list": (called(f, c=[1.0, -2.0, 0.5]), (X,)) for f in SERIES},
}


@pytest.fixture(autouse=True)
def _unjitted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FUSEJIT_UNJITTED", "1")


@pytest.mark.parametrize("name", WHOLE)
def test_they_come_out_whole(name: str) -> None:
    function, args = WHOLE[name]
    decorated = fuse_jit(function, fullgraph=True)
    for given in (args, tuple(a[: len(a) // 2 + 1] for a in args)):
        if name == "matmul" and given is not args:
            continue
        same(function(*given), decorated(*given))
    assert len(decorated.variants) <= 2


@pytest.mark.parametrize("name", OF_SERIES)
@pytest.mark.parametrize("of", SERIES, ids=lambda f: f.__name__.removesuffix("val"))
def test_series_come_out_whole(of: Callable[..., Any], name: str) -> None:
    module = importlib.import_module(of.__module__)
    function = getattr(module, of.__name__.removesuffix("val") + name)
    args, options = OF_SERIES[name]
    decorated = fuse_jit(called(function, **options), fullgraph=True)
    same(function(*args, **options), decorated(*args))


def same(expected: Any, actual: Any) -> None:
    if isinstance(expected, tuple):
        assert type(actual) is type(expected)
        for a, b in zip(expected, actual, strict=True):
            same(a, b)
        return
    assert type(actual) is type(expected)
    assert actual.dtype == expected.dtype
    assert actual.shape == expected.shape
    np.testing.assert_allclose(actual, expected, **CLOSE)


def outcome(function: Callable[..., Any], args: tuple[Any, ...]) -> tuple[Any, Exception | None]:
    """What a call returns, and what it raises."""
    try:
        return function(*args), None
    except Exception as error:
        return None, error


OTHERWISE: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "weights of another shape": (lambda x, w: np.average(x, axis=1, weights=w), (GRID, X[:8])),
    "weights that do not fit": (lambda x, w: np.average(x, weights=w), (GRID, X)),
    "weights of nothing": (lambda x, w: np.average(x, weights=w), (X, np.zeros(37))),
    "roots": (called(polynomial.polyvalfromroots), (X, C)),
    "average of integers": (called(np.average), (np.arange(9),)),
    "average of complex numbers": (called(np.average), (GRID + 1j * WEIGHTS,)),
    "poly": (called(np.poly), (C,)),
    "poly of a number, which NumPy's dispatcher refuses": (called(np.poly), (3.0,)),
    "a shift of no axis": (called(np.fft.ifftshift), (np.array(1.5),)),
    "poly of a matrix": (called(np.poly), (np.diag(C),)),
    "poly of nothing": (called(np.poly), (X[:0],)),
    "polyder of constants": (called(np.polyder), (X[:1],)),
    "a negative derivative": (called(np.polyder, m=-1), (C,)),
    "constants of polyint": (lambda c, k: np.polyint(c, 2, k), (C, X[:2])),
    "unwrap of integers": (called(np.unwrap, period=4), (np.array([1, 2, 6, 1, 3]),)),
    "unwrap of nothing": (called(np.unwrap), (X[:0],)),
    "no such axis": (called(np.unwrap, axis=2), (GRID,)),
    "isreal of complex numbers": (called(np.isreal), (GRID + 1j * (WEIGHTS > 0.5),)),
    "i0 of integers": (called(np.i0), (np.arange(12),)),
    "shift by elements": (lambda x, a: np.fft.fftshift(x, axes=a[0]), (GRID, np.array([1]))),
    "norm of singular values": (called(np.linalg.matrix_norm, ord="nuc"), (GRID,)),
    "a norm of NumPy's alone": (called(np.linalg.vector_norm, ord=2.5, axis=0), (GRID,)),
    "trace of a vector": (called(np.linalg.trace), (X,)),
    "matmul of vectors": (called(np.linalg.matmul), (X, X)),
    "points of a list": (lambda c: polynomial.polyval([1.0, 2.0], c), (C,)),
    "a grid of coefficients": (called(polynomial.polyval), (X, GRID)),
    "a grid, point by point": (called(polynomial.polyval, tensor=False), (X[:8], GRID)),
    "integers as coefficients": (called(chebyshev.chebval), (X, np.arange(4))),
    "complex points": (called(legendre.legval), (X + 1j, C)),
    "no coefficients": (called(polynomial.polyval), (X, C[:0])),
    "float32": (called(hermite.hermval), (X.astype("f4"), C.astype("f4"))),
    "backwards": (called(chebyshev.chebval), (X[::-2], C[::-1])),
    "a number": (called(laguerre.lagval), (0.5, C)),
    "an order of derivatives that is no integer": (called(polynomial.polyder, m=1.5), (C,)),
    "an infinite number": (called(np.asarray_chkfinite), (np.array([1.0, np.inf]),)),
    "finite ones": (called(np.asarray_chkfinite), (GRID,)),
    "nearly real": (called(np.real_if_close), (X + 1e-17j,)),
    "over axes": (lambda x: np.apply_over_axes(np.sum, x, [0, 1]), (GRID,)),
    "points of other shapes": (called(polynomial.polyval2d), (X, X[:4], GRID)),
    "a masked array": (called(np.average), (np.ma.masked_greater(GRID, 1.0),)),
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", OTHERWISE)
def test_whatever_they_are_given(name: str) -> None:
    function, args = OTHERWISE[name]
    decorated = fuse_jit(function)
    expected, error = outcome(function, args)
    for _ in range(3):
        actual, raised = outcome(decorated, args)
        assert (type(raised), str(raised)) == (type(error), str(error))
        if isinstance(expected, np.ma.MaskedArray) or not hasattr(expected, "dtype"):
            assert_same(expected, actual)
        else:
            same(expected, actual)


def test_they_fuse_with_what_stands_around(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FUSEJIT_UNJITTED")

    def spectrum(x: Any, c: Any) -> Any:
        return chebyshev.chebval(np.tanh(x) * 0.5, c) ** 2 + 1.0

    decorated = fuse_jit(spectrum, fullgraph=True)
    same(spectrum(X, C), decorated(X, C))
    assert "1 loop nest in 1 kernel" in decorated.explain(X, C, detail=True)


def test_names_are_numpys() -> None:
    for name in NAMES:
        module, _, attribute = name.rpartition(".")
        assert callable(getattr(importlib.import_module(module), attribute)), name


def test_what_numpy_reads_may_be_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    module = importlib.import_module("numpy.lib._function_base_impl")

    def f(x: Any) -> Any:
        return np.unwrap(x)

    decorated = fuse_jit(f)
    x = X * 4
    same(f(x), decorated(x))
    monkeypatch.setattr(module, "diff", lambda x, axis: np.ones_like(x[1:]))
    same(f(x), decorated(x))


def test_nothing_is_told_of_them() -> None:
    def f(x: Any) -> Any:
        return np.average(x, weights=np.abs(x)) + np.poly(x[:4])

    with warnings.catch_warnings():
        warnings.simplefilter("error", FuseWarning)
        same(f(X), fuse_jit(f)(X))


@functools.wraps(polynomial.polyval)
def _twice(x: Any, c: Any) -> Any:
    return polynomial.polyval(x, c) * 2


@functools.wraps(np.average)
def _thrice(x: Any, factors: Any = [3.0]) -> Any:  # noqa: B006 (a default that may change)
    return np.average(x) * factors[0]


@pytest.mark.parametrize("fullgraph", [False, True])
def test_what_borrows_a_name_of_numpys_is_no_function_of_numpys(fullgraph: bool) -> None:
    """``functools.wraps`` copies ``__module__`` and sets ``__wrapped__``."""

    def f(x: Any, c: Any) -> Any:
        return _twice(x, c) + _thrice(x)

    decorated = fuse_jit(f, fullgraph=fullgraph)
    same(f(X, C), decorated(X, C))
    assert _thrice.__defaults__ is not None
    _thrice.__defaults__[0][0] = 4.0
    try:
        same(f(X, C), decorated(X, C))
    finally:
        _thrice.__defaults__[0][0] = 3.0


def test_what_numpy_hands_on_is_handed_on() -> None:
    for function in (np.asarray_chkfinite, np.real_if_close):
        assert fuse_jit(called(function))(X) is X


def test_an_exception_of_numpys_comes_behind_what_was_stored() -> None:
    def stored(x: Any, y: Any) -> Any:
        y[0] = 5.0
        return np.asarray_chkfinite(x)

    y = np.zeros(2)
    with pytest.raises(ValueError, match="must not contain infs or NaNs"):
        fuse_jit(stored)(np.array([1.0, np.inf]), y)
    assert y[0] == 5.0
