"""`x[range(n)]` was an internal error: C code rejects the tracer's placeholder by its type.

``"".join("#" if v > 0 else "." for v in x)`` and ``x[range(n)]`` were internal errors: the first
gave our sample input to `str.join`, which raises TypeError, the second took a range for no index.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit.api import FuseWarning
from fusejit_testing.oracle import compare_outcomes, decorate, run


def joined(x, n):
    return "".join("#" if v > 0 else "." for v in x)


def joined_list(x, n):
    letters = ["#" if v > 0 else "." for v in x]
    return "-".join(letters), n


def split(x, n):
    return ",".join(["a" if x[0] > 0 else "b", "c"]).split(",")


def unbound_method(x, n):
    letter = "a" if x[0] > 0 else "b"
    return list(map(str.upper, [letter]))


def read_at_a_range(x, n):
    return x[range(n)], x[range(2)], np.take(x, range(n))


def stored_at_a_range(x, n):
    y = np.zeros((n, n))
    y[range(n), [1] * 3] = 1
    y[:, range(1)] += x[0]
    return y


FUNCTIONS = (joined, joined_list, split, unbound_method, read_at_a_range, stored_at_a_range)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_python_runs_them_without_a_fault(function: Callable[..., Any]) -> None:
    fused = decorate(function, jit=False)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", ".*internal error", FuseWarning)
        for values in ([1.0, 2.0, 3.0], [-1.0, 2.0, 0.0]):
            arguments = (np.array(values), 3)
            compare_outcomes(run(function, arguments), run(fused, arguments))
    assert not any("internal error" in cause for cause in fused.variants.fallbacks)
