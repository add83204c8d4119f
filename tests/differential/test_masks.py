"""Stores of arrays through masks: ``x[m] = y[m]``, ``x[m] += c``, np.copyto, np.putmask."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit import ConcretizationError, FuseWarning, UnsupportedError, fuse_jit
from fusejit_testing.compare import assert_same
from fusejit_testing.oracle import check, decorate


def arrays(shape: tuple[int, ...], dtype: Any = "f8") -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(len(shape))
    x, y = rng.normal(size=(2, *shape)) * 9
    return x.astype(dtype), y.astype(dtype), rng.random(shape) < 0.4


def same_mask(x: Any, y: Any, m: Any) -> Any:
    x[m] = y[m]
    return x


def augmented(x: Any, y: Any, m: Any) -> Any:
    x[m] += 2
    x[m] *= y[m]
    x[~m] -= 1
    return x


def mask_made_twice(x: Any, y: Any, m: Any) -> Any:
    x[x < 0] = -x[x < 0]
    y[y > x] = x[y > x] + 1
    return x, y


def chains(x: Any, y: Any, m: Any) -> Any:
    chosen = np.abs(x[m]) + 1
    y[m] = np.maximum(chosen * chosen - 3 / chosen, y[m]) ** 2
    return y


def of_what_was_there(x: Any, y: Any, m: Any) -> Any:
    """The elements are those at the time of the index, not of the store."""
    before = x[m]
    x[:] = 0
    x[m] = before * 2
    return x


def mask_changed_by_the_store(x: Any, y: Any, m: Any) -> Any:
    k = x > 0
    x[k] = y[k]
    x[k] += x[k]
    return x, k


def fresh(x: Any, y: Any, m: Any) -> Any:
    out = np.zeros_like(x)
    out[m] = x[m]
    out[~m] = y[~m] - x[~m]
    return out


def other_dtype(x: Any, y: Any, m: Any) -> Any:
    out = np.zeros(x.shape, np.int32)
    out[m] = np.abs(x)[m]
    flags = np.ones(x.shape, bool)
    flags[m] = x[m] > y[m]
    return out, flags


def scalars(x: Any, y: Any, m: Any) -> Any:
    c = y.max()
    x[m] = x[m] + c
    x[m] /= 2.5
    return x


def views(x: Any, y: Any, m: Any) -> Any:
    part = x[1:]
    part[m[1:]] = y[1:][m[1:]] + part[m[1:]]
    x[::-1][m] = y[m]
    return x


PROGRAMS: list[Callable[..., Any]] = [
    same_mask, augmented, mask_made_twice, chains, of_what_was_there, mask_changed_by_the_store,
    fresh, other_dtype, scalars, views,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_stores_of_selected_elements(program: Callable[..., Any]) -> None:
    check(program, arrays((40,)), arrays((7,)), jit=True)
    check(program, arrays((5, 6)))
    check(program, tuple(np.asfortranarray(a) for a in arrays((5, 6))))
    check(program, tuple(a[::-1, ::2] for a in arrays((5, 6))))
    check(program, arrays((4, 3), "f4"))
    if program is not scalars:  # the maximum of nothing
        check(program, arrays((0,)))


def test_all_or_nothing_selected() -> None:
    x, y, m = arrays((9,))
    check(augmented, (x, y, m | True), (x, y, m & False))


def test_integers() -> None:
    def f(x: Any, y: Any, m: Any) -> Any:
        x[m] //= y[m]
        x[~m] %= 5
        x[m] <<= 2
        return x

    check(f, arrays((40,), "i4"), jit=True)
    check(f, arrays((40,), "i8"))


def test_in_place_keeps_the_dtype() -> None:
    """``x[m] += 1.5`` of integers is an error in NumPy."""

    def f(x: Any, y: Any, m: Any) -> Any:
        x[m] += 1.5

    check(f, arrays((5,), "i4"), variants=0)
    check(f, arrays((5,), "f4"))


def test_runtime_number_beside_selected_elements() -> None:
    def f(x: Any, y: Any, m: Any, p: Any) -> Any:
        x[m] = np.minimum(x[m], p) - p * y[m]
        x[m] = p - x[m]
        return x

    check(f, (*arrays((9,)), 2.5), (*arrays((4,)), -1.0))
    check(f, (*arrays((9,)), np.float32(0.1)))


def test_masks_that_numpy_refuses() -> None:
    x, y, _ = arrays((5,))
    check(same_mask, (x, y, np.ones(4, bool)), variants=0)


SELECTED: dict[str, Callable[..., Any]] = {
    "returned": lambda x, y, m: x[m],
    "summed": lambda x, y, m: np.sum(x[m] > 0),
    "method": lambda x, y, m: x[m].max(),
    "shape": lambda x, y, m: (x[m].shape[0] * 2.0, x[m].size, x[m].astype("f4") * (x[m].size / 2)),
    "indexed": lambda x, y, m: (x[m][0], x[m][-1], x[m][::-1]),
    "beside an array": lambda x, y, m: x[m] + y[m].copy() * 2,
    "differences": lambda x, y, m: x[m][1:] - x[m][:-1],
    "outer": lambda x, y, m: x[m][:, None] * x[m],
    "sorted": lambda x, y, m: np.sort(x[m])[::-1] + 1,
    "selected twice": lambda x, y, m: x[m][x[m] > 0],
    "in a list": lambda x, y, m: (x, [y[m]]),
    "stored elsewhere": lambda x, y, m: y[: x.shape[0]].__setitem__(m, np.sort(x[m])),
    "another mask": lambda x, y, m: x.__setitem__(m, y[m[::-1]]),
}


@pytest.mark.parametrize("name", SELECTED)
def test_what_needs_the_elements_themselves(name: str) -> None:
    """NumPy makes an array of them between kernels; one variant serves every number of them."""
    check(SELECTED[name], arrays((40,)), arrays((300,)), jit=name == "differences")


def test_names_of_selected_elements_share_them() -> None:
    def f(x: Any, y: Any, m: Any) -> Any:
        u = x[m]
        v = u
        w = u.copy()
        u += 1
        u[0] = 7
        v *= y[m]
        return u, v, w, u is v

    check(f, arrays((40,)), arrays((300,)))


def test_nothing_is_selected() -> None:
    def f(x: Any, y: Any, m: Any) -> Any:
        return x[m], x[m] * 2, np.sum(x[m] > 0)

    x, y, m = arrays((9,))
    check(f, (x, y, m), (x, y, m & False), (x[:0], y[:0], m[:0]))


def test_sizes_that_do_not_fit_are_left_to_numpy() -> None:
    """A check after the host call fails before anything is modified: NumPy says what happens."""

    def f(x: Any, y: Any, m: Any) -> Any:
        return x[m] + y[y > 0]

    x, y, m = arrays((9,))
    one = y.copy()
    one[:] = -1
    one[3] = 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FuseWarning)
        fused = decorate(f, jit=False)
        np.testing.assert_array_equal(fused(x, x, x > 0), f(x, x, x > 0))
        np.testing.assert_array_equal(fused(x, one, m), f(x, one, m))  # broadcast
        with pytest.raises(ValueError, match="broadcast together"):
            fused(x, y, np.arange(9) < 1 + (y > 0).sum())
        np.testing.assert_array_equal(fused(x, y, y > 0), f(x, y, y > 0))
    assert len(fused.variants) == 1


def test_another_mask() -> None:
    def changed(x: Any, y: Any, m: Any) -> None:
        chosen = y[x > 0]
        x[0] = -1
        x[x > 0] = chosen

    x, y, m = arrays((9,))
    x[0] = -1
    check(changed, (x, y, m))
    x[0] = 1
    expected = x.copy()
    expected[0] = -1
    with pytest.raises(ValueError, match="NumPy boolean array indexing assignment"):
        decorate(changed, jit=False)(x, y, m)
    np.testing.assert_array_equal(x, expected)


REFUSED: dict[str, Callable[..., Any]] = {
    "length": lambda x, y, m: len(x[m]) * [1],
    "looped over": lambda x, y, m: list(x[m]),
    "number": lambda x, y, m: float(x[m]),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_known_only_when_the_program_runs_is_refused(name: str) -> None:
    with pytest.raises((UnsupportedError, ConcretizationError), match=r"test_masks\.py:\d+"):
        fuse_jit(REFUSED[name], fullgraph=True)(*arrays((4,)))


# ------------------------------------------------------------------------------ copyto, putmask
def copies(x: Any, y: Any, m: Any) -> Any:
    np.copyto(x, y, where=m)
    np.copyto(y, 3)
    np.copyto(y[1:], x[1:], where=m[1:])
    return x, y


def broadcast_copies(x: Any, y: Any, m: Any) -> Any:
    np.copyto(x, y[0], where=m[:1])
    np.copyto(x[:1], 7.5, where=m[0])
    np.copyto(y, x[0])
    return x, y


def putmasks(x: Any, y: Any, m: Any) -> Any:
    np.putmask(x, m, y)
    np.putmask(y, x > y, 3)
    np.putmask(y, x, y * 2)
    return x, y


@pytest.mark.parametrize("program", [copies, broadcast_copies, putmasks])
@pytest.mark.parametrize("dtype", ["f8", "f4", "i4"])
def test_masked_copies(program: Callable[..., Any], dtype: str) -> None:
    calls = [arrays((5, 6), dtype), arrays((3, 6), dtype)]
    if program is broadcast_copies and dtype[0] == "i":
        calls = [arrays((5, 6), "f4")]
    check(program, *calls, jit=dtype == "f8")


CASTS: list[Callable[..., Any]] = [
    lambda x, y: np.copyto(x, 1.5),
    lambda x, y: np.copyto(x, y),
    lambda x, y: np.copyto(x, y, casting="unsafe"),
    lambda x, y: np.copyto(y, x),
    lambda x, y: np.copyto(x, 300),
    lambda x, y: np.copyto(x, np.int64(7)),
    lambda x, y: np.copyto(x, True),
    lambda x, y: np.copyto(y, 2),
    lambda x, y: np.copyto(y, x, where=[1, 0, 1]),
    lambda x, y: np.copyto(x, [1, 2]),
    lambda x, y: np.putmask(x, x > 1, y),
    lambda x, y: np.putmask(x, [1, 0, 1], 7),
    lambda x, y: np.putmask(x, [1, 0, 1], 300),
    lambda x, y: np.putmask(y, x > 1, x),
    lambda x, y: np.putmask(y, x > 1, 2.5),
]


@pytest.mark.parametrize("at", range(len(CASTS)))
def test_casting(at: int) -> None:
    """What may not be cast raises NumPy's error."""
    x, y = np.array([1, 2, 3], "u1"), np.array([1.5, 2.5, -3.5])

    def f(x: Any, y: Any) -> Any:
        CASTS[at](x, y)
        return x, y

    check(f, (x, y), variants=None)


@pytest.mark.parametrize(
    "convert",
    [
        lambda y: np.array(y),
        lambda y: np.asarray(y),
        lambda y: np.array(y, dtype="f4"),
        lambda y: np.array([y, y * 2]),
        lambda y: np.array(y, ndmin=2),
        lambda y: np.copy(y),
    ],
)
def test_selected_elements_are_converted(convert: Any) -> None:
    """``np.array(x[x > 0])`` was run by Python: "does not trace ndarray.__array_struct__"."""

    def function(x: Any) -> Any:
        y = x[x > 0]
        return convert(y), y * 2

    fused = decorate(function, jit=False)
    for x in (np.linspace(-3, 3, 50), np.linspace(-3, -1, 7), np.zeros(0)):
        assert_same(function(x), fused(x))
    assert fused.variants.segmented is None
    assert not fused.variants.fallbacks
