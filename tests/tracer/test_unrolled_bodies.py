"""Loops over numbers of Python's: unrolled while the graph stays small, then one loop."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fusejit_testing.oracle import compare_outcomes, decorate, run


def _of(count: int, statements: int) -> str:
    body = "\n        ".join(f"k = k * w + x[{i % 3}]" for i in range(statements))
    return f"""
def f(x):
    k = 0.0
    for w in ({", ".join(map(str, range(count)))},):
        {body}
    return k
"""


@pytest.mark.parametrize("statements", [1, 3, 8, 20])
@pytest.mark.parametrize("count", [16, 17, 18, 200])
def test_a_body_of_any_length_is_compiled(count: int, statements: int, tmp_path: Path) -> None:
    file = tmp_path / "f.py"
    space: dict[str, Any] = {}
    file.write_text(_of(count, statements))
    exec(compile(file.read_text(), str(file), "exec"), space)
    function: Callable[..., Any] = space["f"]
    fused = decorate(function, jit=False)
    for x in (np.array([0.5, 0.25, 2.0]), np.array([1.0, -0.5, 0.0, 3.0])):
        compare_outcomes(run(function, (x,)), run(fused, (x,)))
    assert fused.variants.newest_segmented is None
    assert not fused.variants.fallbacks
