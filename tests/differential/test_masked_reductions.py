"""``x[m].mean()`` and the like; masks with fewer axes than the array; lengths; empty selections."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit_testing.compare import Bound
from fusejit_testing.oracle import check, check_not_compiled, decorate


def arrays(shape: tuple[int, ...], dtype: Any = "f8") -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(len(shape))
    return (rng.normal(size=shape) * 9).astype(dtype), rng.random(shape[:2]) < 0.5


EXACT: dict[str, Callable[..., Any]] = {
    "largest": lambda x, m: (x[m].max(), np.max(x[m]), np.amax(x[m], axis=0)),
    "smallest": lambda x, m: (x[m].min(), np.min(x[m])),
    "some": lambda x, m: (np.any(x[m]), (x[m] > 30).any(), (x[m] > 3).any(axis=0)),
    "every": lambda x, m: (np.all(x[m]), (x[m] > -30).all(), (x[m] > 3).all(axis=0)),
    "numbers": lambda x, m: (len(x[m]), x[m].size, np.size(x[m]), x[m].shape[0]),
    "nonzero": lambda x, m: (np.count_nonzero(x[m] > 1), np.count_nonzero(x[m] > 1, axis=0)),
    "of bools": lambda x, m: ((x > 0)[m].sum(), (x > 0)[m].all(), m[m].sum()),
}

SUMS: dict[str, Callable[..., Any]] = {
    "sum": lambda x, m: (x[m].sum(), np.sum(x[m]), (x[m] * 2 + 1).sum(axis=0)),
    "mean": lambda x, m: (x[m].mean(), np.mean(np.abs(x[m])), x[m].mean(axis=0)),
    "kept": lambda x, m: x[m > 0].sum(axis=-1, keepdims=True) if x.ndim == 1 else x[m].sum(),
    "moments": lambda x, m: (x[m].var(), np.std(x[m]), x[m].var(ddof=1), x[m].std(axis=0)),
}


@pytest.mark.parametrize("dtype", ["f8", "f4", "i4", "u1", "?"])
@pytest.mark.parametrize("shape", [(9,), (5, 7), (4, 3, 2)])
@pytest.mark.parametrize("name", EXACT)
def test_what_is_exact(name: str, shape: tuple[int, ...], dtype: str) -> None:
    check(EXACT[name], arrays(shape, dtype), bound=Bound(zero_sign=False))


@pytest.mark.parametrize("dtype", ["f8", "f4", "i4"])
@pytest.mark.parametrize("shape", [(9,), (300,), (5, 7), (4, 3, 2)])
@pytest.mark.parametrize("name", SUMS)
def test_sums(name: str, shape: tuple[int, ...], dtype: str) -> None:
    x, m = arrays(shape, dtype)
    size = float(np.abs(x.astype("f8")).sum()) * (1 if "i" in dtype else np.finfo(dtype).eps)
    check(SUMS[name], (x, m), bound=Bound(ulps=32, absolute=0.0 if "i" in dtype else 8 * size))


def test_one_variant_for_all_sizes_and_numbers_of_elements() -> None:
    def program(x: Any, low: float) -> Any:
        inside = x > low
        return x[inside].mean(), len(x[inside]), x[inside].max()

    rng = np.random.default_rng(0)
    calls = [(rng.random(n), low) for n, low in ((9, 0.2), (4000, 0.9), (77, 0.0))]
    check(program, *calls, bound=Bound(ulps=64), jit=True)


def test_an_empty_selection_has_no_largest_element() -> None:
    def program(x: Any, m: Any) -> Any:
        return x[m].max(axis=0)

    x = np.arange(12.0).reshape(4, 3)
    check(program, (x, np.zeros(4, bool)), (x, np.ones(4, bool)), variants=None)
    check(lambda x: x[x > 99].min(), (x,), variants=None)

    def after_a_store(x: Any) -> Any:
        x[0] = -1.0
        return x[x > 99].min()

    for call in (after_a_store, decorate(after_a_store, jit=False)):
        ours = x.copy()
        with pytest.raises(ValueError, match="zero-size array to reduction operation"):
            call(ours)
        assert (ours[0] == -1).all()


def test_the_mean_of_nothing_is_nan() -> None:
    fused = decorate(lambda x: (x[x > 99].mean(), x[x > 99].sum()), jit=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        mean, total = fused(np.arange(5.0))
    assert np.isnan(mean)
    assert total == 0.0
    assert not fused.variants.fallbacks


# ------------------------------------------------------------- masks of fewer axes than the array
def stores(image: Any, m: Any, color: Any, other: Any) -> Any:
    image[m] = color
    image[~m] *= 0.5
    image[m] += other[m] * color
    image[m, :] -= 1.0
    other[m, ...] = image[m]
    other[m] = 7.0 if image.shape[0] > 99 else 3.0
    return image[m].sum(), image[m].sum(axis=0)


@pytest.mark.parametrize("jit", [False, True])
def test_stores_through_masks_of_the_first_axes(jit: bool) -> None:
    rng = np.random.default_rng(0)

    def make(h: int, w: int) -> tuple[Any, ...]:
        image, other = rng.random((2, h, w, 3))
        return image, rng.random((h, w)) < 0.4, rng.random(3), other

    check(stores, make(4, 5), make(6, 3), bound=Bound(ulps=64), jit=jit)
    image, m, color, other = make(4, 5)
    check(stores, (image.transpose(1, 0, 2), m.T, color, other.transpose(1, 0, 2)), bound=Bound(64))


def test_the_axes_that_the_mask_does_not_have() -> None:
    def forces(pos: Any, near: Any, weight: Any) -> Any:
        d = pos[near] - pos[0]
        r2 = (d**2).sum(axis=1)
        pull = (weight[near] / (1 + r2))[:, None] * d
        pos[near] += pull
        return pull.sum(axis=0), r2.max(), d[:, 0].sum(), d[:, 1:].max(axis=0)

    rng = np.random.default_rng(0)
    calls = [(rng.random((n, 3)), rng.random(n) < 0.6, rng.random(n)) for n in (7, 40)]
    check(forces, *calls, bound=Bound(ulps=256), jit=True)


def test_parts_of_selected_elements_are_not_changed_in_place() -> None:
    def part(x: Any, m: Any) -> Any:
        chosen = x[m]
        column = chosen[:, 0]
        column += 1
        return chosen.sum()

    def whole(x: Any, m: Any) -> Any:
        chosen = x[m]
        column = chosen[:, 0]
        chosen += 1
        return column.sum()

    for program in (part, whole):
        args = np.ones((3, 2)), np.array([True, False, True])
        check_not_compiled(program, args, "mask of fewer axes|a part of them was taken")


def test_shapes_that_do_not_fit() -> None:
    check(lambda x, m: x[m].sum(), (np.ones((3, 4)), np.ones(4, bool)), variants=None)
    check(lambda x, m: x[m].sum(), (np.ones(3), np.ones((3, 4), bool)), variants=None)
    check(lambda x, m: x[m] + x[:2], (np.ones((2, 3)), np.ones(2, bool)))
    args = np.ones((2, 3)), np.eye(2, 3) > 0
    check_not_compiled(lambda x, m: x[m].sum(keepdims=True), args, "keepdims")


def test_binned_means_in_a_loop() -> None:
    def binned(x: Any, y: Any, edges: Any) -> Any:
        means = np.full(len(edges) - 1, np.nan)
        for i in range(len(edges) - 1):
            inside = (x >= edges[i]) & (x < edges[i + 1])
            if inside.any():
                means[i] = y[inside].mean()
        return means

    rng = np.random.default_rng(0)
    calls = [(rng.random(n), rng.random(n), np.linspace(0, 1, b)) for n, b in ((9, 6), (500, 11))]
    check(binned, *calls, bound=Bound(ulps=64), jit=True)


def test_rows_left_out_are_not_read() -> None:
    """Reductions down columns stand under the mask where that is the same for a whole row."""

    def f(a: Any, m: Any) -> Any:
        return a[m].any(axis=0), (a[m] > 2).all(axis=0), a[m].sum(axis=0)

    rng = np.random.default_rng(3)
    for rows, columns in ((4, 3), (700, 9), (40, 5000)):
        a = rng.integers(-1, 4, (rows, columns))
        check(f, (a, rng.random(rows) < 0.3), (a, np.zeros(rows, bool)))
    source = fuse_jit(f).trace(a, a[:, 0] > 0).fuse().lower().source
    assert re.search(r"if get\(p_a1, base \+ r\):\n +for c in range\(w\):", source)
