"""NotImplementedError for `[[0] * 3] * 3` that a loop changes: one list for all places."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit_testing.against_python import check_against_python

X = np.arange(4.0)


def grown(x: Any) -> Any:
    rows = [[0] * 3] * 3
    for v in x:
        rows.append([v])
    return rows


def changed(x: Any) -> Any:
    rows = [[0] * len(x)] * len(x)
    for k in range(len(x)):
        rows[k][k] += k
    return rows


@pytest.mark.parametrize("function", [grown, changed])
def test_one_list_in_all_places(function: Callable[..., Any]) -> None:
    check_against_python(function, [(X,), (X[:2],)])
