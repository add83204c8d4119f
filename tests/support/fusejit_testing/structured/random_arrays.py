"""Random arrays: small numbers in memory of any layout."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import numpy as np


def random_array(
    rng: Random, shape: Sequence[int], dtype: np.dtype, *, is_new: bool = False
) -> np.ndarray:
    """An array; a view of another one for some, or of memory of its own if it ``is_new``."""
    layout = "C" if rng.random() < 0.5 else rng.choice(("F", "strided", "reversed", "broadcast"))
    if layout == "broadcast" and not is_new and shape:
        small = [1 if rng.random() < 0.5 else n for n in shape]
        return np.broadcast_to(_dense(rng, small, dtype), tuple(shape))
    if layout == "F":
        return np.asfortranarray(_dense(rng, shape, dtype)) if shape else _dense(rng, (), dtype)
    if layout in ("strided", "reversed") and shape:
        axis = rng.randrange(len(shape))
        wide = [2 * n + 1 if k == axis else n for k, n in enumerate(shape)]
        step = slice(1, None, 2) if layout == "strided" else slice(-2, None, -2)
        if layout == "reversed" and not shape[axis]:
            step = slice(0, 0)
        index = tuple(step if k == axis else slice(None) for k in range(len(shape)))
        return _dense(rng, wide, dtype)[index]
    return _dense(rng, shape, dtype)


def _dense(rng: Random, shape: Sequence[int], dtype: np.dtype) -> np.ndarray:
    numbers = np.random.default_rng(rng.getrandbits(32))
    shape = tuple(shape)
    if dtype.kind == "b":
        return np.asarray(numbers.random(shape) < 0.5)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        if rng.random() < 0.3:
            return np.asarray(numbers.integers(info.min, info.max, shape, dtype, endpoint=True))
        return np.asarray(numbers.integers(max(info.min, -5), 9, shape)).astype(dtype)
    if dtype.kind == "c":
        both = _floats(rng, numbers, shape) + 1j * _floats(rng, numbers, shape)
        return np.asarray(both).astype(dtype)
    array = np.asarray(_floats(rng, numbers, shape)).astype(dtype)
    if rng.random() < 0.1 and array.size:
        array.flat[int(numbers.integers(array.size))] = rng.choice((np.nan, np.inf, -np.inf, -0.0))
    return array


def _floats(rng: Random, numbers: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    if rng.random() < 0.5:
        return numbers.integers(-8, 9, shape) * 0.25
    return numbers.uniform(-2, 2, shape)
