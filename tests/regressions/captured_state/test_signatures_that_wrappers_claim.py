"""A wrapper required optional arguments: the entry stub used the claimed `__signature__`.

The entry stub took the parameters that were claimed: it required keyword-only ones without a
default, as SciPy's statistics claim them, and passed all by name.
"""

from __future__ import annotations

import functools
import inspect
from typing import Any

import numpy as np
import pytest

from fusejit import fuse_jit


def scaled(x: np.ndarray, factor: float = 2.0) -> np.ndarray:
    return x * factor


@functools.wraps(scaled)
def wrapper(*args: Any, offset: float = 1.0, **kwargs: Any) -> Any:
    return scaled(*args, **kwargs) + offset


_KEYWORD = inspect.Parameter.KEYWORD_ONLY
wrapper.__signature__ = inspect.signature(scaled).replace(  # type: ignore[attr-defined]
    parameters=[
        *inspect.signature(scaled).parameters.values(),
        inspect.Parameter("required", _KEYWORD),
    ]
)
X = np.arange(3.0)


@pytest.mark.parametrize(
    ("args", "kwargs"),
    [((X,), {}), ((X, 3.0), {}), ((X,), {"factor": 3.0}), ((X,), {"offset": 5.0}), ((), {"x": X})],
)
def test_it_is_called_as_it_is_written(args: Any, kwargs: Any) -> None:
    fused = fuse_jit(wrapper)
    for _ in range(2):
        assert np.array_equal(fused(*args, **kwargs), wrapper(*args, **kwargs))
    assert inspect.signature(fused) == inspect.signature(wrapper)


def test_it_is_inlined_as_it_is_written() -> None:
    def program(x: np.ndarray) -> Any:
        return wrapper(x, 3.0) - wrapper(x=x, offset=0.5)

    assert np.array_equal(fuse_jit(program)(X), program(X))


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
def test_what_it_does_not_take_is_pythons_error() -> None:
    with pytest.raises(TypeError) as ours:
        fuse_jit(wrapper)(X, required=1)
    with pytest.raises(TypeError) as theirs:
        wrapper(X, required=1)
    assert str(ours.value) == str(theirs.value)
