"""Setting `z.real` of `np.empty(n, complex)` failed an assertion: the array had no memory yet."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit_testing.oracle import check


def both_parts(x: Any, n: Any) -> Any:
    z = np.empty(x.shape, complex)
    z.real = x
    z.imag[:] = n
    return z


def in_a_loop(x: Any, n: Any) -> Any:
    z = np.empty(x.shape, dtype=np.complex128)
    for k in range(n):
        z.real = x
        z.imag = k - x
        x = (z + z).real
    return x * 1


def rows(x: Any, n: Any) -> Any:
    z = np.empty((n, len(x)), complex)
    for k in range(n):
        z[k].real = x * k
        z[k].imag = x
    return z


def real_part(x: Any, n: Any) -> Any:
    for _ in range(n):
        x = (x * 1j + x).real
    return x


@pytest.mark.filterwarnings("ignore:.*returns a part that a loop carries")
def test_a_part_that_a_loop_carries_has_gaps() -> None:
    """Its strides were those of floats."""
    check(real_part, (np.ones(3), 2), (np.ones(3), 0), variants=None)


@pytest.mark.parametrize("function", [both_parts, in_a_loop, rows])
def test_parts(function: Callable[..., Any]) -> None:
    """An assertion of the tracer failed, and NumPy ran the call."""
    x = np.array([0.5, -1.0, 2.0])
    decorated = check(function, (x, 4), (x[:2].copy(), 1), jit=True, variants=None)
    assert not decorated.variants.fallbacks
