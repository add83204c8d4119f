"""NumPy's scalars beside strings, lists and tuples: comparisons give NumPy's bools, or arrays."""
# ruff: noqa: RUF005, SIM300

import numpy as np
import pytest

from fusejit_testing.oracle import compare_outcomes, decorate, run


def with_strings(x):
    return x == "a", x != "a", "a" == x


def with_tuples(x):
    return x == (1, 2), x == [5], x < (1, 2), x != [x]


def arithmetic(x):
    return x + [1, 2], x * [1, 2], (1, 2) + x


def repeated(x):
    return "ab" * x, [0] * x, (1, 2) * x


def among_strings(x):
    return x in ["a", 5], x in (5, "b"), {"a": 1, 5: 2}.get(x)


def of_items(x):
    found = []
    for y in [x] * 7:
        found.append(y == "a")
        found.append(y == None)  # noqa: E711
    return found


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
@pytest.mark.parametrize(
    "function", [with_strings, with_tuples, arithmetic, repeated, among_strings, of_items]
)
def test_as_numpy(function):
    compiled = decorate(function, jit=False, tiering=False)
    for x in (5, np.int64(5), 2.5, np.float32(2), True, np.True_):
        for _ in range(2):
            compare_outcomes(run(function, (x,)), run(compiled, (x,)))
    assert "internal error" not in repr(compiled.variants)
