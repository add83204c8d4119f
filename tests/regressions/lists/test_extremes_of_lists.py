"""`min([])` and `max([])` of a list that a loop fills were None, and None among items was left out.

The loop that looks for the least item begins with None, which was handed out as the result.
"""
# mypy: disable-error-code="var-annotated,comparison-overlap,arg-type"

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit_testing.against_python import check_against_python
from fusejit_testing.oracle import check

EMPTY, X = np.zeros(0), np.array([2.0, 0.5, 3.0])


def least(x: Any) -> Any:
    return min([2 * k for k in range(len(x))])


def of_a_name(x: Any) -> Any:
    places = [2 * k for k in range(len(x))]
    return min(places)


def unused(x: Any) -> Any:
    places = []
    for k in range(len(x)):
        places.append(k)
    max(places)
    return 0


def by_default(x: Any) -> Any:
    places = [2 * k for k in range(len(x))]
    return min(places, default=7.5), max(places, default=None)


def caught(x: Any) -> Any:
    try:
        return min([2 * k for k in range(len(x))]) + 1
    except ValueError as error:
        return str(error)


@pytest.mark.parametrize("function", [least, of_a_name, unused, by_default, caught])
@pytest.mark.parametrize("calls", [(EMPTY, X), (X, EMPTY)])
def test_lists_without_items(function: Callable[..., Any], calls: tuple[Any, ...]) -> None:
    check(function, *((x,) for x in calls), variants=None)


def with_none(x: Any) -> Any:
    items = []
    for k in range(len(x)):
        if x[k] > 1:
            items.append(k)
        else:
            items.append(None)
    return max(items)


def only_none(x: Any) -> Any:
    items = []
    for _ in range(len(x)):
        items.append(None)
    return max(items)


@pytest.mark.parametrize("function", [with_none, only_none])
def test_none_among_items(function: Callable[..., Any]) -> None:
    for x in (X, X + 1, X[:1], X[1:2]):
        check_against_python(function, [(x,)])
