"""Diagonals, whose one axis moves along two of the array: values and strides of what reads them.

Regression: Results of diagonals of three axes had another order: the stride of a diagonal was that
of the first of its axes.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit import fuse_jit

pytestmark = pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")


@pytest.fixture(autouse=True)
def unjitted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FUSEJIT_UNJITTED", "1")


DIAGONALS = (
    "np.diagonal(x)",
    "np.diagonal(x, -1, 0, 2)",
    "x.diagonal(axis1=-1, axis2=0).T",
    "np.diagonal(x)[1:, ::-1]",
)
USES = (
    "d[::2] * 1",
    "d[::-1] + 1",
    "d.copy('K')",
    "np.add(d, 1)",
    "d.sum(axis=0)",
    "d.cumsum(axis=0)",
    "np.sort(d, axis=0)",
    "np.broadcast_to(d, (2,) + d.shape) * 1",
    "d.swapaxes(0, -1) * 2",
    "np.ravel(d, 'K')",
    "np.ravel(d, 'A')",
    "np.ravel(d, 'F')",
    "d.reshape(-1, order='F') * 1",
    "d.reshape(1, -1) * 1",
    "d.reshape(d.shape + (1,)) + 1",
    "d[None].T",
    "d.astype('f4')",
    "np.ones_like(d)",
    "np.asarray(d, order='F')",
    "np.array(d, order='A')",
    "np.concatenate([d, d])",
    "np.stack([d, d], axis=-1)",
    "d[1:] - d[:-1]",
    "np.where(d > 3, d, 0)",
    "d[d > 3]",
    "d @ d.T",
    "np.moveaxis(d, 0, -1) + 0",
    "np.expand_dims(d, 0).reshape(-1) + 0",
    "d.mean(axis=-1)",
    "d.tolist()",
)
BASE = np.arange(24.0).reshape(2, 3, 4)
ARRAYS = (
    BASE,
    np.asfortranarray(BASE),
    BASE.transpose(2, 0, 1),
    BASE[:, ::-1, ::2],
    np.arange(27.0).reshape(3, 3, 3),
)


def function_of(diagonal: str, use: str) -> Callable[[np.ndarray], Any]:
    text = f"def f(x):\n    d = {diagonal}\n    return {use}\n"
    file = f"<{use} of {diagonal}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    namespace: dict[str, Any] = {"np": np, "__name__": "example"}
    exec(compile(text, file, "exec"), namespace)
    made: Callable[[np.ndarray], Any] = namespace["f"]
    return made


def strides_of(result: Any) -> list[int]:
    """Those of axes that have a say."""
    if not isinstance(result, np.ndarray) or not result.size:
        return []
    return [s for s, n in zip(result.strides, result.shape, strict=True) if n > 1]


@pytest.mark.parametrize("use", USES)
def test_diagonals(use: str) -> None:
    for diagonal in DIAGONALS:
        function = function_of(diagonal, use)
        fused = fuse_jit(function)
        for x in ARRAYS:
            expected, actual = function(x), fused(x)
            np.testing.assert_array_equal(actual, expected, strict=isinstance(expected, np.ndarray))
            assert strides_of(actual) == strides_of(expected), (diagonal, x.strides)
