"""A kernel had an `if` with an empty branch: the search for a bad index is emitted elsewhere."""

from __future__ import annotations

from typing import Any

import numpy as np

from fusejit_testing.oracle import check

X = np.arange(9.0)


def sorted_behind_a_store(x: Any) -> Any:
    x[0] = 0.5
    return x[np.argsort(x)]


def test_late_index_checks() -> None:
    check(sorted_behind_a_store, (X,), (X[::-1],), (X[:1],), variants=None)
