"""An internal error: Python's list had no such number, in a block that did not run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit_testing.against_python import check_against_python


def removed(x: Any, n: Any) -> Any:
    items = [5, 6]
    for i in range(len(x)):
        items = [v + 3 for v in items]
        if i * 2 in items:
            items.remove(n - 7)
    return items


def found(x: Any, n: Any) -> Any:
    items = [5, 6]
    place = -1
    for i in range(len(x)):
        items = [v + 3 for v in items]
        if i * 2 in items:
            place = items.index((i * 7) % 5)
    return place, n


def caught(x: Any, n: Any) -> Any:
    items = [5, 6]
    for i in range(len(x)):
        try:
            items.remove((i * 7) % 5)
        except ValueError:
            items = [v + i for v in items]
    return items, n


@pytest.mark.parametrize("function", [removed, found, caught])
def test_numbers_that_are_no_items(function: Callable[..., Any]) -> None:
    for n in (3, 2**53 + 1):
        check_against_python(function, [(np.arange(3.0), n), (np.arange(20.0), 18)])
