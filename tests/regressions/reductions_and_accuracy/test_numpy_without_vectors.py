"""Complex products differed in the last bits: NumPy chooses its loops by processor features."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__

USED = [name for name in __cpu_dispatch__ if __cpu_features__[name]]
"""Levels above the lowest that NumPy is built for, of which this processor has all instructions."""

PROGRAM = """
import numpy as np
from fusejit_testing.oracle import check

def products(a, b):
    return a * b, np.square(a), a**2, a**3, a**5, a * 0.7j, abs(a), abs(a * b)

for dtype in ("c8", "c16"):
    for n in (5, 99):
        real, imag = np.random.default_rng(n).normal(size=(2, 2, n))
        check(products, tuple((real + 1j * imag).astype(dtype)), jit=n > 50)
"""


@pytest.mark.parametrize("kept", range(len(USED))[:2])
def test_complex_products_and_absolute_values(kept: int) -> None:
    """Without ``fma``, absolute values round their squares; they are not `hypot` then."""
    child = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "NPY_DISABLE_CPU_FEATURES": " ".join(USED[kept:])},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert child.returncode == 0, child.stderr
