"""``assert`` on what only the kernel knows.

PYTEST_DONT_REWRITE: the programs below have asserts of their own.
"""

from __future__ import annotations

import traceback
from typing import Any

import numpy as np
import pytest

from fusejit.errors import UnsupportedError
from fusejit_testing.oracle import check_not_compiled, compare_outcomes, decorate, run


def last_line(error: BaseException | None) -> str | None:
    assert error is not None
    frames = traceback.extract_tb(error.__traceback__)
    return [f.line for f in frames if f.filename == __file__][-1]


def asserts(x: Any) -> Any:
    s = 0.0
    for i in range(len(x)):
        assert x[i] > 0, "positive numbers"
        assert s < 100
        s = s + x[i]
    return s


def asserts_behind_stores(x: Any) -> Any:
    for i in range(len(x)):
        x[i] = x[i] - 2
        assert x[i] > 0, "positive numbers"
    return x


def asserts_without_words(x: Any) -> Any:
    for i in range(len(x)):
        x[i] = x[i] - 2
        assert x[i] > 0 and np.sqrt(x[i]) < 9  # noqa: PT018
    return x.sum()


def asserts_of_arrays(x: Any) -> Any:
    assert np.all(x > 2), "all"
    assert len(x) > 1
    return x * 2


@pytest.mark.parametrize("jit", [False, True], ids=["unjitted", "jitted"])
@pytest.mark.parametrize(
    "program", [asserts, asserts_behind_stores, asserts_without_words, asserts_of_arrays]
)
def test_assertions_about_elements(program: Any, jit: bool) -> None:
    decorated = decorate(program, jit=jit)
    errors = []
    for x in ([5.0, 3.0, 4.0], [5.0, 1.0, 4.0], [50.0, 60.0, 1.0], [90.0, 3.0]):
        expected, actual = run(program, (np.array(x),)), run(decorated, (np.array(x),))
        compare_outcomes(expected, actual)
        errors.append(type(expected.error))
        if expected.error is not None:
            assert last_line(actual.error) == last_line(expected.error)
    assert AssertionError in errors
    assert len(decorated.variants) == 1


def asserts_with_a_computed_message(x: Any) -> Any:
    for i in range(len(x)):
        assert x[i] > 0, f"{i}: {x[i]}"
    return x + 1


def test_a_message_that_is_computed() -> None:
    decorated = decorate(asserts_with_a_computed_message, jit=False)
    for x in (np.ones(9), np.array([5.0, -1.0, 4.0, 2.0, 1.0])):
        compare_outcomes(run(asserts_with_a_computed_message, (x,)), run(decorated, (x,)))
    assert len(decorated.variants) == 1


def test_a_message_that_is_computed_behind_a_store_is_pythons() -> None:
    def f(x: Any) -> Any:
        for i in range(len(x)):
            x[i] = x[i] - 1
            assert x[i] > 0, f"{i}"
        return x + 1

    reason = "write the message as a literal"
    with pytest.raises(UnsupportedError, match=reason):
        decorate(f, jit=False, fullgraph=True)(np.ones(9))
    check_not_compiled(f, (np.ones(9),), reason)
    check_not_compiled(f, (np.arange(9.0)[::-1] + 1,), reason)
    check_not_compiled(f, (np.arange(9.0) + 2,), reason)
