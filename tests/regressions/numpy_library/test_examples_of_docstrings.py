"""Examples of NumPy's docstrings gave other effects, bases and types: each test names a cause."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
import pytest
from numpy.polynomial import Polynomial, chebyshev, set_default_printstyle

from fusejit import fuse_jit
from fusejit_testing.oracle import check

pytestmark = pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")


@pytest.fixture(autouse=True)
def unjitted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FUSEJIT_UNJITTED", "1")


def test_the_class_of_a_number_is_printed_as_a_class(capsys: pytest.CaptureFixture[str]) -> None:
    def show(x: Any) -> None:
        first = x[0]
        print(first, type(first), [type(first)], f"{type(first)}", int, np.ndarray)

    show(np.ones(3))
    expected = capsys.readouterr().out
    fused = fuse_jit(show)
    for _ in range(2):
        fused(np.ones(3))
        assert capsys.readouterr().out == expected
    assert len(fused.variants) == 1


def test_settings_of_numpy_are_made_in_each_call(capsys: pytest.CaptureFixture[str]) -> None:
    """They were made while the call was traced, and never again."""

    def show(c: Polynomial) -> None:
        set_default_printstyle("ascii")
        print(c)
        set_default_printstyle("unicode")
        print(c)

    fused = fuse_jit(show)
    show(Polynomial([1, 2, 3]))
    expected = capsys.readouterr().out
    for _ in range(3):
        fused(Polynomial([1, 2, 3]))
        assert capsys.readouterr().out == expected


def test_a_base_is_an_array() -> None:
    """It was an object of ``as_strided``, which views of the view took for the owner."""

    def reshaped() -> Any:
        x = np.arange(12.0).reshape(4, 3)
        return x, x[1:], x.T

    fused = fuse_jit(reshaped)
    for _ in range(2):
        x, part, turned = fused()
        assert type(x.base) is np.ndarray
        assert part.base is x.base
        assert turned.base is x.base


def roots() -> Any:
    return chebyshev.chebroots((-1, 1, -1, 1))


def test_strides_of_what_is_made_of_constants() -> None:
    fused = fuse_jit(roots)
    for _ in range(2):
        assert fused().strides == roots().strides
    check(roots, (), variants=None)


def test_sums_over_many_indices_are_tried_on_small_arrays() -> None:
    """einsum multiplies all its sizes: with 11 to 103 of each it came to no end."""

    def contracted(a: Any) -> Any:
        return np.einsum("ijk,ilm,njm,nlk,abc->", a, a, a, a, a) + np.einsum("ijk->k", a)

    a = np.ones(64).reshape(2, 4, 8)
    start = time.process_time()
    check(contracted, (a,), (np.ones((3, 2, 5)),))
    assert time.process_time() - start < 60


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
def test_matrices_are_drawn_in_each_call() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import numpy.matlib as matlib

    def drawn() -> Any:
        return matlib.rand(2, 3)

    fused = fuse_jit(drawn)
    np.random.seed(5)
    expected = [drawn() for _ in range(3)]
    np.random.seed(5)
    for matrix in expected:
        np.testing.assert_array_equal(fused(), matrix)


def medians(a: Any) -> Any:
    b = a.copy()
    middle = np.nanmedian(b, axis=1, overwrite_input=True)
    b = a.copy()
    other = np.percentile(b, 40, 1, None, True)
    return a, a.copy(), middle, other


def test_what_is_overwritten_is_not_read_as_it_was() -> None:
    """Two copies of one array were one, although NumPy had sorted the first."""
    check(medians, (np.array([[10.0, 7, 4], [3, 2, 1]]),), variants=None)


def cast(x: Any, y: Any, casting: str) -> Any:
    np.copyto(y, x, casting=casting)
    return x.astype(np.int32, casting=casting), np.concatenate((x, y), dtype="i4", casting=casting)


def test_rules_of_casting_that_ask_for_elements_are_numpys() -> None:
    x, y = np.arange(3.0), np.zeros(3, np.int64)
    check(cast, (x, y, "unsafe"), (x, y, "same_value"), (x, y, "nonsense"), variants=None)


def grids(x: Any) -> Any:
    low, high = x.min(), x.max()
    across, down = np.mgrid[low:high:5j, low:high:4j]
    return across, down, np.vstack([across.ravel(), down.ravel()]), np.ogrid[low:high:3j, 0:2]


def test_grids_of_constant_sizes_between_elements() -> None:
    """As in SciPy's gaussian_kde: "'NotImplementedType' object is not subscriptable"."""
    check(grids, (np.array([0.5, 2.0, 3.25]),), (np.array([1.0, -2.0]),))


class Bunch(tuple):
    """A tuple with fields that no `collections.namedtuple` has made, as SciPy's results are."""

    _fields = ("low", "high")

    def __new__(cls, low: Any, high: Any, *, extra: Any = None) -> Bunch:
        made = tuple.__new__(cls, (low, high))
        made.__dict__["extra"] = extra
        return made


def bunch(x: Any) -> Any:
    found = Bunch(x.min(), x.max(), extra=x + 1)
    return found, found[1], found.__dict__["extra"]


def test_tuples_with_fields_may_hold_more() -> None:
    x = np.arange(3.0)
    fused = fuse_jit(bunch)
    for _ in range(2):
        (made, high, extra), (expected, _, other) = fused(x), bunch(x)
        assert type(made) is Bunch
        assert made == expected
        assert high == 2.0
        np.testing.assert_array_equal(extra, other)
        np.testing.assert_array_equal(made.__dict__["extra"], other)


def divided(x: Any, k: int) -> Any:
    i = k
    if x[0] > 1:
        i = i - x.astype(np.int64).sum()
    return divmod(i, 3), divmod(7, i), divmod(x[1], i), divmod(k, i)


def test_divmod_of_a_number_of_several_types() -> None:
    """As in scikit-learn's ParameterGrid, which calls it of an int or what is left of one."""
    check(divided, (np.array([2.0, 3.0]), 10), (np.array([0.0, 3.0]), 10))
