"""Elements as axes of `moveaxis` or widths of `pad` failed: they were taken for arrays."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from fusejit import FuseWarning, fuse_jit
from fusejit.outcome import FAULT

X = np.arange(24.0).reshape(2, 3, 4)
INDICES = np.array([0, 1, 2])


def moved(x: np.ndarray, i: np.ndarray) -> Any:
    return np.moveaxis(x, i[0], i[1])


def moved_by_lists(x: np.ndarray, i: np.ndarray) -> Any:
    return np.moveaxis(x, [i[0], i[1]], range(1, 3))


def padded(x: np.ndarray, i: np.ndarray) -> Any:
    return np.pad(x, i[1])


def padded_each(x: np.ndarray, i: np.ndarray) -> Any:
    return np.pad(x, ((i[0], i[1]), (1, 1), (0, i[2])), mode="edge")


def up_to_a_float(x: np.ndarray, i: np.ndarray) -> Any:
    size = np.asarray(x.shape[-1], dtype=np.float64)
    return np.arange(1, size + 1, dtype=size.dtype) + x


@pytest.mark.parametrize("program", [moved, moved_by_lists, padded, padded_each, up_to_a_float])
def test_nothing_is_a_fault(program: Any) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fused = fuse_jit(program)
        for _ in range(2):
            assert np.array_equal(fused(X, INDICES), program(X, INDICES))
    ours = [str(w.message) for w in caught if isinstance(w.message, FuseWarning)]
    assert not [text for text in ours if FAULT in text]


def test_what_is_no_width_is_numpys_error() -> None:
    for widths in (np.array([1.5]), np.array([-1])):
        with pytest.raises((TypeError, ValueError)) as theirs:
            np.pad(X, widths[0])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with pytest.raises(theirs.type):
                fuse_jit(lambda x, w: np.pad(x, w[0]))(X, widths)
