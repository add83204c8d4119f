"""2**53 + 1 became 2**53 beside floats: only integers of arrays were looked at before that.

A number of several types is kept as a float with a tag, in lists and under names.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit_testing.against_python import check_against_python
from fusejit_testing.compare import assert_same
from fusejit_testing.oracle import decorate

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


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
@pytest.mark.parametrize("kind", [int, np.int64])
def test_lists_from_outside(kind: type) -> None:
    """Those of NumPy's classes became floats and other integers: 2**63 - 1 was -2**63."""

    def positive(items: list[Any]) -> list[Any]:
        return [item for item in items if item != 2]

    fused = decorate(positive, jit=False, tiering=False)
    small = [kind(3), 1.5, kind(2), kind(-7), 0.5, kind(2**53)]
    large = [kind(2**63 - 1), 1.5, kind(2), kind(-(2**63)), 0.5, kind(2**53 + 1)]
    for items in (small, large, small[::-1], large[::-1]):
        assert_same(positive(items), fused(items))
