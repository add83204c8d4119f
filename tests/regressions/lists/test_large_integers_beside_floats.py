"""2**53 + 1 became 2**53 beside floats: only integers of arrays were looked at before that.

A number of several types is kept as a float with a tag, in lists and under names.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit_testing.against_python import check_against_python

X = np.array([0.0, 2.0, 1.0])
LARGE = 2**53 + 1


def constant(x: Any, n: Any) -> Any:
    items = []
    for i in range(len(x)):
        if x[i] > 1:
            items.append(x[i])
        else:
            items.append(2**53 + 1)
    return items, n


def argument(x: Any, n: Any) -> Any:
    items = []
    for i in range(len(x)):
        if x[i] > 1:
            items.append(x[i])
        else:
            items.append(n)
    return items


def under_a_name(x: Any, n: Any) -> Any:
    found = 0.5
    for i in range(len(x)):
        found = x[i] if x[i] > 1 else -n
    return found, (x[0] if x[1] > 3 else n), (x[0] if x[1] > 3 else 2**63 - 1)


@pytest.mark.parametrize("function", [constant, argument, under_a_name])
def test_integers_of_more_than_53_bits(function: Callable[..., Any]) -> None:
    check_against_python(function, [(X, LARGE), (X, 3), (X, 2**53), (X[:2], -LARGE)])
    check_against_python(function, [(X, 3), (X, LARGE), (X[::-1], 2**63 - 1)])
