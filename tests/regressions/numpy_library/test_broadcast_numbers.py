"""`np.broadcast_arrays` of NumPy scalars returned scalars: a traced scalar counted as an array.

SciPy's ``dirichlet_multinomial`` found it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fusejit_testing.oracle import check


def total_and_number(alpha: Any, n: Any) -> Any:
    return np.broadcast_arrays(np.sum(alpha, axis=-1), np.floor(np.asarray(n)))


def element(alpha: Any, n: Any) -> Any:
    return np.broadcast_arrays(alpha[0], n), np.broadcast_arrays(alpha[0])


@pytest.mark.parametrize("function", [total_and_number, element])
def test_they_are_arrays_of_rank_0(function: Any) -> None:
    alpha = np.array([1.5, 2.0, 3.0])
    calls = [(alpha, np.float64(7.0)), (alpha, 7.0), (alpha, np.array(7.0)), (alpha, np.ones(3))]
    check(function, *calls, variants=None)
