"""Products of integers printed remarks of LLVM where an operand had strides.

LLVM was told to vectorize the loops of a register tile, but not to assume a step of 1: it refused
these loops, and said so on stderr.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fusejit import fuse_jit

A = np.arange(20 * 33).reshape(20, 33) % 11 - 5
B = np.arange(33 * 40).reshape(33, 40) % 7 - 3


def product(a: Any, b: Any) -> Any:
    return a @ b


def largest(a: Any, b: Any) -> Any:
    return (a[:, :, None] + b[None, :, :]).max(axis=1)


@pytest.mark.parametrize("f", [product, largest])
@pytest.mark.parametrize(
    "b",
    [np.asfortranarray(B), np.repeat(B, 2, axis=1)[:, ::2], B[:, ::-1]],
    ids=["Fortran order", "every other column", "reversed"],
)
def test_nothing_is_printed(f: Any, b: np.ndarray, capfd: pytest.CaptureFixture[str]) -> None:
    np.testing.assert_array_equal(fuse_jit(f)(A, b), f(A, b))
    assert capfd.readouterr() == ("", "")
