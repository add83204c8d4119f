"""KeyError and StopIteration: None in lists that loops fill was compared like a number."""
# mypy: disable-error-code="var-annotated,comparison-overlap,arg-type,operator,misc"

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit_testing.against_python import check_against_python
from fusejit_testing.oracle import check

X = np.array([3.0, 2.0, 1.0, 0.0])


def found(x: Any) -> Any:
    items = []
    for v in x:
        if v > 1:
            items.append(None)
        else:
            items.append(v)
    return items, 1 in items, None in items, 7 in items, items.index(1), items.count(None)


def found_in_tuples(x: Any) -> Any:
    items = []
    for k in range(len(x)):
        if x[k] > 1:
            items.append((k, k))
        else:
            items.append((k, x[k]))
    return (1, 1) in items, (0, None) in items, (2, 1.0) in items, (2, 3) in items


def sorted_tuples(x: Any) -> Any:
    items = []
    for k in range(len(x)):
        if x[k] > 1:
            items.append((k, k))
        else:
            items.append((k, x[k]))
    items.sort(key=lambda item: item[1])
    return items


@pytest.mark.parametrize("function", [found, found_in_tuples, sorted_tuples])
def test_numbers_and_none(function: Callable[..., Any]) -> None:
    check(function, (X,), (X[::-1].copy(),))


def pairs_with_none(x: Any) -> Any:
    items = []
    for _ in x:
        items.append((1, None))
    return (1, np.nan) in items, (1, None) in items, (1, 2) in items


def sorted_without_items(x: Any) -> Any:
    items = []
    for k in range(len(x)):
        if len(items) > k:
            items[k] = None
        items = sorted(items)
    return items


def sorted_none(x: Any) -> Any:
    items = []
    for _ in range(len(x)):
        items.append(None)
    items.sort()
    return items


def computed_without_items(x: Any) -> Any:
    items = [None] * 0
    for _ in range(len(x)):
        items = [v + 3 for v in items]
    return items


ONLY_NONE = [pairs_with_none, sorted_without_items, sorted_none, computed_without_items]


@pytest.mark.parametrize("function", ONLY_NONE)
def test_only_none(function: Callable[..., Any]) -> None:
    check_against_python(function, [(X,), (X[:1],), (X[:0],)])
