"""A store into an item of a number raised nothing where the index was an Ellipsis, () or a bool.

In a branch of the kernel, stores, deletions and loops that Python refuses were reported as internal
errors: their exceptions began in fusejit's frames, or beside a traced value that was only stored.
"""

from __future__ import annotations

import linecache
from typing import Any

import numpy as np
import pytest

from fusejit.outcome import FAULT
from fusejit_testing.oracle import compare_outcomes, decorate, no_faults, run

STATEMENTS = [
    *(f"y = {n}; y[{i}] = 1" for n in ("int(a[0])", "float(a[0])") for i in ("...", "()", "m")),
    *(f"y = {n}; y[1:] = a" for n in ("1", "a.size", "k", "int(a[0])", "a[0]", "None", "'text'")),
    *(f"y = {n}; del y[0]" for n in ("1", "a.size", "int(a[0])", "a[0]", "a", "(1,)")),
    *(f"y = {n}; y.new = a" for n in ("1", "a.size", "int(a[0])", "a[0]", "None", "'text'")),
    *(f"y = {n}; del y.real" for n in ("1", "a.size", "int(a[0])", "a[0]", "len")),
    *("y = [1]; y[7] = a[0]", "y = [1]; y['a'] = a[0]", "y = {}; y[[1]] = a", "y = [1]; del y[3]"),
    *("y = {}; del y['k']", "y = object(); y.new = a"),
    *(f"for y in {n}: a = a + 1" for n in ("3", "None", "a.size", "int(a[0])", "a[0]")),
    *("y = [z for z in 3]", "y = [z for z in k]"),
]
BLOCKS = {
    "always": "def program(a, k):\n    m = a[1] > 0\n    {}\n    return a * 2\n",
    "in a branch": "def program(a, k):\n    m = a[1] > 0\n"
    "    if a.sum() > k:\n        {}\n    return a * 2\n",
    "in a try": "def program(a, k):\n    m = a[1] > 0\n    try:\n        {}\n"
    "    except (TypeError, ValueError, AttributeError, LookupError) as error:\n"
    "        return type(error).__name__\n    return a * 2\n",
}


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("statement", STATEMENTS)
def test_python_raises_as_it_does(statement: str, block: str) -> None:
    indent = "\n        " if block != "always" else "\n    "
    text = BLOCKS[block].format(statement.replace("; ", indent))
    file = f"<{__name__} {hash(text)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    namespace: dict[str, Any] = {"np": np}
    exec(compile(text, file, "exec"), namespace)
    with no_faults() as reports:
        fused = decorate(namespace["program"], jit=False, reports=reports)
        for a in (np.array([-3.0, -4.0]), np.array([3.0, 4.0]), np.array([3, 4, 0])):
            expected = run(namespace["program"], (a, 3))
            compare_outcomes(expected, run(fused, (a, 3)), where=text)
        assert not [cause for cause in fused.variants.fallbacks if FAULT in cause]
