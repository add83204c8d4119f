"""Results lost dtype metadata: dtypes with and without metadata compare as equal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit import FuseWarning, fuse_jit

TOLD = np.dtype(np.int64, metadata={"unit": "m"})


def metadata_of(value: Any) -> Any:
    """The metadata of an array, of a dtype, or of nothing."""
    dtype = value if isinstance(value, np.dtype) else getattr(value, "dtype", None)
    return None if dtype is None or dtype.metadata is None else dict(dtype.metadata)


@pytest.mark.parametrize(
    "function",
    [
        lambda a: a.copy(),
        lambda a: a + 1,
        lambda a: np.zeros_like(a),
        lambda a: a.dtype,
        lambda a: np.zeros(3, a.dtype),
    ],
)
@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
def test_arrays_of_such_dtypes(function: Callable[..., Any]) -> None:
    """Results have what NumPy's have, whichever call comes first."""
    fused = fuse_jit(function)
    for dtype in (TOLD, np.dtype(np.int64), TOLD, np.dtype(np.int64)):
        x = np.arange(3).view(dtype)
        assert metadata_of(fused(x)) == metadata_of(function(x))


def test_arrays_without_are_compiled_behind_a_call_with() -> None:
    fused = fuse_jit(lambda a: a + 1)
    with pytest.warns(FuseWarning, match="int64 with metadata"):
        fused(np.arange(3).view(TOLD))
    assert fused(np.arange(3)).tolist() == [1, 2, 3]
    assert len(fused.variants) == 1


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
def test_dtypes_that_functions_make() -> None:
    """As arguments of what NumPy runs between kernels, and of what kernels compute."""

    def zeros(n: int) -> np.ndarray:
        return np.zeros(n, TOLD)

    def copied(x: np.ndarray) -> np.ndarray:
        return (x * 2).astype(TOLD)

    assert metadata_of(fuse_jit(zeros)(3)) == {"unit": "m"}
    assert metadata_of(fuse_jit(copied)(np.arange(3))) == {"unit": "m"}


def test_longlong_as_an_argument_of_what_numpy_runs() -> None:
    fused = fuse_jit(lambda n: np.zeros(n, np.longlong))
    assert fused(3).dtype.char == fused(4).dtype.char == np.dtype(np.longlong).char
