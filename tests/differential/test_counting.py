"""``np.bincount`` of bytes: a loop of the kernel where there is a bin for each value."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit_testing.oracle import check


def counted(x: Any, bins: int) -> Any:
    return np.bincount(x, minlength=bins)


def of_an_image(image: Any) -> Any:
    return np.bincount(image.ravel(), minlength=256).cumsum()


def in_a_loop(images: Any) -> Any:
    out = np.zeros((len(images), 256))
    for i in range(len(images)):
        out[i] = np.bincount(images[i], minlength=256) / images[i].size
    return out


def bytes_of(*shape: int) -> Any:
    return np.random.default_rng(shape[0]).integers(0, 256, shape).astype(np.uint8)


@pytest.mark.parametrize("jit", [False, True])
def test_bytes(jit: bool) -> None:
    check(of_an_image, (bytes_of(5, 7),), (bytes_of(9, 4),), (bytes_of(2, 3),), jit=jit)
    check(counted, (bytes_of(23), 256), (bytes_of(40), 300), jit=jit)
    check(in_a_loop, (bytes_of(5, 7),), (bytes_of(6, 9),), jit=jit)
    assert "host_call" not in str(fuse_jit(in_a_loop).trace(bytes_of(5, 7)))


def test_few_elements() -> None:
    for n in range(6):
        check(counted, (bytes_of(n) if n else bytes_of(3)[:0], 256))


def test_truths_and_strides() -> None:
    check(lambda x: np.bincount(x > 100, minlength=2), (bytes_of(31),), (bytes_of(50),))
    check(lambda x: np.bincount(x[::-3], minlength=256), (bytes_of(31),), (bytes_of(50),))


def test_others_are_left_to_numpy() -> None:
    def weighted(x: Any, w: Any) -> Any:
        return np.bincount(x, weights=w, minlength=256)

    check(weighted, (bytes_of(9), np.arange(9.0)))
    check(lambda x: np.bincount(x.astype(np.int64), minlength=256), (bytes_of(9),))
    assert "host_call" in str(fuse_jit(counted).trace(bytes_of(9), 255))
