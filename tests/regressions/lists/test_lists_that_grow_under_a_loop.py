"""Regression: a loop over a list of Python's ran as often as the list was long before the loop."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fusejit_testing.oracle import compare_outcomes, decorate, run

GROWING = """
def f(x):
    k = 0
    a = [1.0, 2.0, 3.0]
    b = MADE
    for w in b:
        if len(b) > 300:
            break
        b.append(w)
        k += x[0]
    return len(b), k
"""
UNDER_ANOTHER_NAME = """
def f(x):
    k = 0
    a = [1.0, 2.0, 3.0]
    b = MADE
    c = b
    for w in c:
        if len(c) > 300:
            break
        for i in range(len(x)):
            k += x[i]
        b.append(w)
    return b, k
"""
CHANGED_AT_FIRST = """
def f(x):
    k, last = 0, None
    a = [1.0, 2.0, 3.0]
    b = MADE
    b = b[:2] * 45
    for w in b:
        if last is None:
            b.append(b[0])
        last = x * len(b)
        k += x[0] * 2 - x[1] * 3
        k -= x[1] * 4 + x[0] / 2
    return b, k, last
"""
MADE = (
    *("list(x)", "sorted(a)", "a[:]", "a + a", "a * 2", "list(zip(a, a))"),
    *("list('abc')", "np.array([1.0, 2.0]).tolist()", "[i for i in range(3)]"),
)


@pytest.mark.parametrize("made", MADE)
@pytest.mark.parametrize("text", [GROWING, UNDER_ANOTHER_NAME, CHANGED_AT_FIRST])
def test_as_python(text: str, made: str, tmp_path: Path) -> None:
    """The loop sees what its body has changed."""
    file = tmp_path / "f.py"
    space: dict[str, Any] = {"np": np}
    file.write_text(text.replace("MADE", made))
    exec(compile(file.read_text(), str(file), "exec"), space)
    function = space["f"]
    fused = decorate(function, jit=False)
    for x in (np.arange(7.0), np.array([5.0, 7.0])):
        compare_outcomes(run(function, (x,)), run(fused, (x,)))
