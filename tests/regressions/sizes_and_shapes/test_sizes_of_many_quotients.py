"""Tracing time doubled with each nested `//`: ranges were recomputed for each occurrence.

Each quotient stood twice in the next size, and its range was computed each time; a proof tried
every order in which quotients can be replaced. Steps are counted here, not time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit.tracer.builder.shapes import Decisions
from fusejit.tracer.values.symbolic_number import MAX_NODES

DEEP = 12


def nested(x: Any) -> Any:
    k = len(x)
    k = (k + 1) // 2 + k // 3
    k = (k + 2) // 2 + k // 3
    k = (k + 3) // 2 + k // 3
    k = (k + 4) // 2 + k // 3
    k = (k + 5) // 2 + k // 3
    k = (k + 6) // 2 + k // 3
    k = (k + 7) // 2 + k // 3
    k = (k + 8) // 2 + k // 3
    k = (k + 9) // 2 + k // 3
    k = (k + 10) // 2 + k // 3
    k = (k + 11) // 2 + k // 3
    k = (k + 12) // 2 + k // 3
    return x[: k // 4] * 2.0 + x[k // 4 : 2 * (k // 4)], k


def overlapping_halves(x: Any) -> Any:
    x = np.concatenate((x[: (len(x) + 1) // 2], x[len(x) // 3 :])) * 2.0
    x = np.concatenate((x[: (len(x) + 1) // 2], x[len(x) // 3 :])) * 2.0
    x = np.concatenate((x[: (len(x) + 1) // 2], x[len(x) // 3 :])) * 2.0
    x = np.concatenate((x[: (len(x) + 1) // 2], x[len(x) // 3 :])) * 2.0
    return x


def decimated(x: Any) -> Any:
    x = x[1:-1:2] + x[2::2]
    x = x[1:-1:2] + x[2::2]
    x = x[1:-1:2] + x[2::2]
    x = x[1:-1:2] + x[2::2]
    x = x[1:-1:2] + x[2::2]
    return x


@pytest.mark.parametrize("function", [nested, overlapping_halves, decimated])
def test_steps_are_few(function: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    steps = [0]
    range_of = Decisions.range_of

    def counted(self: Decisions, expr: Any) -> Any:
        steps[0] += 1
        return range_of(self, expr)

    monkeypatch.setattr(Decisions, "range_of", counted)
    x = np.linspace(0.0, 1.0, 403)
    fused = fuse_jit(function)
    fused.trace(x)
    assert steps[0] < 6000  # 670,000 and 1,580,000 for the first two
    for size in (403, 402, 97):
        x = np.linspace(0.0, 1.0, size)
        for one, other in zip(fused(x), function(x), strict=True):
            np.testing.assert_array_equal(one, other)


def test_what_becomes_too_long_is_a_symbol() -> None:
    graph = fuse_jit(nested).trace(np.ones(403)).graph
    assert max(s.expr.num_nodes for s in graph.symbols) < MAX_NODES
