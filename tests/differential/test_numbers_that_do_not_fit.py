"""Operators of NumPy's scalars and Python's integers that Python itself refuses."""

import operator

import numpy as np
import pytest

from fusejit_testing.oracle import compare_outcomes, decorate, run

CALLS = [
    *((np.uint8(3), 2), (np.uint8(3), -1), (np.int64(3), 2**63), (np.int8(3), 300)),
    *((-1, np.uint8(3)), (2**70, np.int64(1)), (np.float32(1.5), 2**70), (np.uint8(3), -1)),
]


def floor_divided(a, b):
    return a // b


def added(a, b):
    return a + b


def shifted(a, b):
    return a & b, operator.lshift(a, b)


def to_a_power(a, b):
    return pow(a, 3, 7)


def to_powers(a, b):
    return [pow(x, 3, 7) for x in [a] * 7]


@pytest.mark.parametrize("function", [floor_divided, added, shifted, to_a_power, to_powers])
@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning", "ignore::RuntimeWarning")
def test_as_python(function):
    compiled = decorate(function, jit=False, tiering=False)
    for a, b in CALLS:
        for _ in range(2):
            compare_outcomes(run(function, (a, b)), run(compiled, (a, b)))
    assert "fault" not in repr(compiled.variants)
    assert "internal error" not in repr(compiled.variants)
