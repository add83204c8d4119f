"""`z.real += 1` ran twice: the undo log did not include the parts of complex numbers.

A Python int that leaves 64 bits after a store hands the call to Python. What was stored through
``z.real`` stayed, so that Python did it again.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from fusejit_testing.oracle import check


def in_a_loop(z: Any, x: Any) -> Any:
    total = 0
    for i in range(len(x)):
        z.real[i] += 1.0
        z.imag[i] -= total % 7
        total = total * 1000 + int(x[i])
    return total


def in_front(z: Any, x: Any) -> Any:
    z.real += 1.0
    z.imag[1:] *= 2.0
    total = 1
    for i in range(len(x)):
        total = total * int(x[i])
    return total


@pytest.mark.parametrize("dtype", ["c16", "c8"])
@pytest.mark.parametrize("function", [in_a_loop, in_front])
def test_python_finds_the_arguments_as_they_were(function: Any, dtype: str) -> None:
    calls = [(np.ones(n, dtype) * (1 + 1j), np.arange(n) * 10 + 100) for n in (3, 4, 30, 5, 40)]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".* goes beyond 64 bits")
        check(function, *calls, variants=None, jit=True)
