"""One function called with one kind of arguments after the other: whichever variant serves."""

from __future__ import annotations

import warnings
from random import Random
from typing import Any

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit.api import FuseWarning
from fusejit.dispatch.call_signatures import NEW_VALUE_REASON
from fusejit_testing.oracle import compare_outcomes, run

pytestmark = pytest.mark.usefixtures("unjitted")

SHAPES = ((), (1,), (3,), (4,), (0,), (2, 3), (3, 3), (1, 3), (3, 1), (2, 2, 2))
DTYPES = ("f8", "f8", "f4", "i8", "i4", "?", "u1")


def sliced(x: Any, y: Any = None, k: Any = 1, *, w: Any = 2.0) -> Any:
    if y is not None:
        x = x * 1 + y
    if x.ndim == 2:
        x = x.T
    z = x[k:] if x.ndim else x
    if z.ndim and z.shape[0] > 2:
        z = z[:-1] - z[1:]
    return z * w, x


def stored(x: Any, y: Any, k: Any, w: Any) -> Any:
    x[..., :k] += 1
    if not y.ndim:
        return [x]
    y[-1:] *= w
    return [x, y[..., ::-1]]


def named(arrays: Any, k: Any) -> Any:
    return {name: arrays[name][::k] if k else arrays[name] for name in arrays}


def make_array(rng: Random) -> np.ndarray:
    """A small array of any rank, dtype and layout."""
    shape = rng.choice(SHAPES)
    numbers = [rng.randint(-4, 4) for _ in range(int(np.prod(shape)))]
    array = np.array(numbers).reshape(shape).astype(rng.choice(DTYPES))
    roll = rng.random()
    if array.ndim and roll < 0.2:
        return array[::-1]
    if array.ndim > 1 and roll < 0.4:
        return np.asfortranarray(array)
    if array.ndim and roll < 0.5:
        return np.repeat(array, 2, axis=-1)[..., ::2]
    if array.ndim and roll < 0.55:
        return np.broadcast_to(array, (2, *array.shape))
    return array


def call_all(seed: int, count: int) -> None:
    rng = Random(seed)
    fused = {f: fuse_jit(f) for f in (sliced, stored, named)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FuseWarning)
        for _ in range(count):
            a, b = make_array(rng), make_array(rng)
            if rng.random() < 0.1:
                b = a
            k = rng.choice((0, 1, 1, 2, -1, 3))
            w = rng.choice((2.0, 2, 0.5, np.float32(1.5), True, -1))
            arrays = {"p": a, "q": b} if rng.random() < 0.7 else {"q": a}
            for function, args in (
                (sliced, rng.choice(((a,), (a, b), (a, b, k), (a, None, k)))),
                (stored, (a, b, k, w)),
                (named, (arrays, k)),
            ):
                expected, actual = run(function, args), run(fused[function], args)
                compare_outcomes(expected, actual, where=f"seed {seed}, {function.__name__}{args}")
    for one in fused.values():
        assert len(one.variants) > 3
        causes = {*one.variants.fallbacks} - {"more than 32 variants", NEW_VALUE_REASON}
        assert all("memory" in cause or "for other dtypes" in cause for cause in causes), causes


@pytest.mark.parametrize("seed", range(4))
def test_sequences(seed: int) -> None:
    call_all(seed, 35)


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(4, 100))
def test_many_sequences(seed: int) -> None:
    call_all(seed, 60)
