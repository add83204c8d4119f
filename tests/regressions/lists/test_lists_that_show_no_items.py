"""ValueError: a list that was read before it had items was taken for one with another number.

Of one list the tracer had guessed what its items are, of the other one it had not.
"""
# mypy: disable-error-code="var-annotated"

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit_testing.against_python import check_against_python


def run_over(x: Any) -> Any:
    a = [2 * k for k in range(len(x))]
    for _ in a[:]:
        a = [5]
    return a


def copied(x: Any) -> Any:
    a = []
    b = a.copy()
    for _ in range(len(x)):
        b = a[:]
        a.clear()
    return a, b


@pytest.mark.parametrize("function", [run_over, copied])
def test_no_items(function: Callable[..., Any]) -> None:
    check_against_python(function, [(np.zeros(0),), (np.ones(2),)])
    check_against_python(function, [(np.ones(2),), (np.zeros(0),)])
