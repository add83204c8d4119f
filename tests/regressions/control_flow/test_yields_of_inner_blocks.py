"""A value that only a nested branch passes on caused an internal error: it counted as unused."""

from __future__ import annotations

from typing import Any

import numpy as np

from fusejit_testing.oracle import check


def handed_on(x: Any, y: Any, limit: Any) -> Any:
    w = y + 1
    v = x * 2
    s = (x * y)[0] * 0  # they are equally long
    if x[0] < limit:
        v = x + x
    else:
        s += w[1]
        if w[0] < limit:
            v = y
            v = v * 0.5
        else:
            s += w[2]
    if v[0] < limit:
        if w[0] < limit:
            v = v + 1
        else:
            s += x[1]
    y[0] = 0
    return x, y


def test_yields_of_inner_blocks() -> None:
    x, y = np.arange(1.0, 5.0), np.arange(4.0) - 1
    check(handed_on, *((x, y, limit) for limit in (-5.0, 0.5, 2.5)), variants=None)
