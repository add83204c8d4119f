"""Names of a program that begin as the rewriter's own names did.

Regression: The rewriter's names began with ``_st``, and so were told by that. Objects in variables
such as ``_stack`` or ``_stats`` were not watched while a loop was traced: ``_stack.append(i)`` ran
once, for the iteration that was traced, and the result was wrong without a word. A ``_state`` that
no iteration had bound was 0 instead of an UnboundLocalError, and ``_st_count`` was carried through
no loop. The names begin with a dot now.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fusejit_testing.oracle import compare_outcomes, decorate, run

NAMES = ["stack", "_stack", "_st", "_st0", "_st_c1", "_st_count", "_st_value", "_st_done", "_st_c"]
PROGRAMS = {
    "a list": """
def f(x):
    NAME = []
    for i in range(len(x)):
        NAME.append(i)
    return len(NAME)
""",
    "a dictionary": """
def f(x):
    NAME = {"n": 0}
    for i in range(len(x)):
        if x[i] > 0:
            NAME["n"] += 1
    return NAME["n"]
""",
    "a list in a branch": """
def f(x):
    NAME = [0]
    if x[0] > 0:
        NAME[0] = x[1]
    return NAME[0] + x
""",
    "a number": """
def f(x):
    NAME = 0.0
    for i in range(len(x)):
        if x[i] > 2:
            return NAME - x[i]
        NAME += x[i]
    return NAME
""",
    "bound in a loop": """
def f(x):
    for i in range(len(x)):
        if x[i] > 0:
            NAME = x[i]
    return NAME
""",
    "bound in a branch": """
def f(x):
    if x[0] > 0:
        NAME = x[0]
    return NAME
""",
    "an array": """
def f(x):
    NAME = y = x * 2
    for i in range(3):
        NAME[i] += 1
        NAME = y[::-1] + NAME
    return NAME, y
""",
    "what a loop runs over": """
def f(x):
    total = 0.0
    for NAME in x:
        if NAME < 0:
            break
        total += NAME
    return total, NAME
""",
    "in a helper": """
def helper(v):
    NAME = [v]
    while v > 1:
        v = v / 2
        NAME.append(v)
    return len(NAME)

def f(x):
    return helper(x[0]) + helper(x[-1])
""",
    "of a closure": """
def make():
    NAME = [0]
    def f(x):
        for i in range(len(x)):
            NAME[0] += 1
        return NAME[0]
    return f
f = make()
""",
}


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", PROGRAMS)
def test_a_name_that_begins_as_ours_did(kind: str, name: str, tmp_path: Any) -> None:
    path = tmp_path / "program.py"
    path.write_text(PROGRAMS[kind].replace("NAME", name))
    code = compile(path.read_text(), str(path), "exec")
    for x in (np.array([1.0, 2.0, 3.0, -4.0]), np.array([-1.0, -2.0, -3.0]), np.arange(1.0, 9.0)):
        plain: dict[str, Any] = {"np": np}
        ours: dict[str, Any] = {"np": np}
        exec(code, plain)
        exec(code, ours)
        fused = decorate(ours["f"], jit=False)
        for _ in range(2):
            expected, actual = run(plain["f"], (x.copy(),)), run(fused, (x.copy(),))
            compare_outcomes(expected, actual)
