"""Host calls of `x[30:]` were refused: sample inputs were too short to have elements left."""

from __future__ import annotations

from typing import Any

import numpy as np

from fusejit_testing.oracle import check


def behind_the_first(x: Any) -> Any:
    return np.sort(x[30:]), np.flatnonzero(x[25:] > 0.5)


def test_larger_stand_ins_are_tried() -> None:
    """It was declined: "of an array that is too large to try"."""
    x = np.random.default_rng(0).random(60)
    check(behind_the_first, (x,), (x[:45],), (x[::-1],), variants=None)
