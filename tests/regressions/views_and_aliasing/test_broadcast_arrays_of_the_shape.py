"""`np.broadcast_arrays` returned views that warn: lengths of 1 were not compared with the shape.

A variant for an array of length 1 beside a longer one also served two arrays of length 1 (SciPy's
``pearson3_gen._preprocess``).
"""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit.ir.write_access import WriteAccess

SHAPES = [(1,), (3,), (0,), (1, 1), (2, 1), (1, 3), (2, 3)]


def views(x: Any, y: Any) -> Any:
    return tuple(np.broadcast_arrays(1.0, x, y))


def outcome(function: Any, x: Any, y: Any) -> Any:
    results = function(x, y)
    return [(r.shape, WriteAccess.of(r), r is x or r is y) for r in results]


@pytest.mark.parametrize("first", SHAPES, ids=str)
def test_access_and_identity(first: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FUSEJIT_UNJITTED", "1")
    warnings.simplefilter("ignore")
    for second, mine, other in itertools.product(SHAPES, repeat=3):
        if len(first) != len(mine) or len(second) != len(other):
            continue
        try:
            np.broadcast_shapes(first, second), np.broadcast_shapes(mine, other)
        except ValueError:
            continue
        fused = fuse_jit(views)
        fused(np.ones(first), np.ones(second))
        x, y = np.ones(mine), np.ones(other)
        assert outcome(fused, x, y) == outcome(views, x, y), (first, second, mine, other)
