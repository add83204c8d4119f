"""A loop over a complex array raised an internal KeyError: its item had no initial value.

NumPy ran SciPy's ``_trim_zeros`` on each call.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from fusejit import FuseWarning
from fusejit.outcome import FAULT
from fusejit_testing.oracle import decorate


def trimmed(x: np.ndarray) -> np.ndarray:
    first = 0
    for item in x:
        if item != 0.0:
            break
        else:
            first = first + 1
    last = x.shape[0]
    for item in x[::-1]:
        if item != 0.0:
            break
        else:
            last = last - 1
    return x[first:last]


def first_other(x: np.ndarray) -> Any:
    places = 0
    for item in x:
        if item != 0.0:
            break
        places += 1
    return places, item


@pytest.mark.parametrize("program", [trimmed, first_other])
@pytest.mark.parametrize("dtype", [np.complex128, np.complex64, np.float64])
def test_nothing_is_a_fault(program: Any, dtype: type) -> None:
    fused = decorate(program, jit=False)
    for numbers in ([0, 0, 1, 2, 0, 0], [1j, 2, 3, 0, 1j], [0, 0, 0, 0]):
        x = np.array(numbers).astype(dtype) if dtype != np.float64 else np.abs(numbers)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            assert repr(fused(x)) == repr(program(x))
        ours = [str(w.message) for w in caught if isinstance(w.message, FuseWarning)]
        assert not [text for text in ours if FAULT in text]
