"""Python ran loops that could compile: a name rebound later by a tuple counted as read.

The loop over ``table`` was cut into its statements, which Python ran one by one: names that were
bound again by a tuple, or by anything else but a plain assignment, counted as read after the loop.
"""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit_testing.compare import PythonsList

TABLE = """
    table = np.zeros((n, m))
    for i in range(n):
        for j in range(m):
            table[i, j] = i * 10.0 + j
"""

AFTER = {
    "assignments": "i = n; j = m",
    "tuple": "i, j = n, m",
    "nested tuple": "(i, (j, k)) = n, (m, 1)",
    "starred": "i, *j = n, m, 3",
    "list": "[i, j] = n, m",
    "with": "with paired(n, m) as i: log.append(i)\n    j = m",
    "for": "for i, j in ((n, m), (m, n)): log.append((i, j))",
    "walrus": "log.append((i := n) + (j := m))",
    "augmented": "i = n; i += 1; j = m; j -= 1",
    "match": "match (n, m):\n        case i: log.append(i)\n    j = m",
    "match star and rest": (
        "match ([n, m], {1: 2}):\n        case ([*i], {**j}): log.append((i, j))\n"
        "        case _: i = j = 0"
    ),
    "import": "import math as i, cmath as j; i = i.floor(2.5); j = 1",
    "from": "from math import pi as i, e as j",
    "function": "def i(): return 1\n    def j(): return 2\n    log.append(i() + j()); i = j = 0",
    "class": "class i: pass\n    class j: pass\n    log.append(i is j); i = j = 0",
    "except": (
        "try: log.remove(7)\n    except ValueError as i: log.append(str(i))\n    i, j = n, m"
    ),
    "del": "i, j = n, m; log.append(i + j); del i, j; i, j = m, n",
    "both branches": "if n > 2: i, j = n, m\n    else: i, j = m, n",
    "comprehension": "log.append([i + j for i in range(2) for j in range(2)]); i, j = n, m",
    "lambda": "log.append((lambda i, j: i - j)(1, 2)); i, j = n, m",
}
BEFORE = {
    "loops": "for i in range(n): table0[i] = 0\n    for j in range(m): table0[j] = 1",
    "del": "i, j = n, m; log.append(i + j); del i, j",
    "tuple": "i, j = n, m; log.append(i + j)",
    "except": "try: log.remove(7)\n    except ValueError as j: log.append(str(j))",
    "inner function": "def own(): return n\n    log.append(own())",
}


@contextlib.contextmanager
def paired(*values: Any) -> Iterator[Any]:
    yield values


def made(before: str, after: str, tmp_path: Any) -> Callable[..., Any]:
    """A function with the loops between two runs of statements."""
    body = f"    table0 = np.zeros(n + m)\n    {before}{TABLE}    {after}\n"
    end = "" if after.startswith("for") else "    log.append((i, j))\n"  # it may bind nothing
    text = f"def f(n, m, log):\n{body}{end}    return table.sum() + table[0, 1]\n"
    path = tmp_path / "program.py"
    path.write_text(text)
    names: dict[str, Any] = {"np": np, "paired": paired}
    exec(compile(text, str(path), "exec"), names)
    return names["f"]  # type: ignore[no-any-return]


def compiled_lines(segmented: Any) -> Iterator[tuple[int, int]]:
    """The first and last line of each compiled segment, those of opened segments too."""
    for segment in segmented.segments:
        state = segment.state
        if state is not None and state.variants.compiled:
            yield segment.lines
        for opened in () if state is None else state.variants.all_segmented:
            yield from compiled_lines(opened)


def has_whole_loop(function: Callable[..., Any], fused: Any) -> bool:
    """Whether one compiled segment has all of the loops that fill the table."""
    lines = inspect.getsource(function).splitlines()
    begin = function.__code__.co_firstlineno
    begin += lines.index("    for i in range(n):")
    return any(
        first <= begin and begin + 2 <= last
        for first, last in compiled_lines(fused.variants.newest_segmented)
    )


CASES = [(f"{name}, after", "pass", text) for name, text in AFTER.items()]
CASES += [(f"{name}, before", text, "i, j = n, m") for name, text in BEFORE.items()]


@pytest.mark.parametrize(("before", "after"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_the_loop_is_one_compiled_segment(before: str, after: str, tmp_path: Any) -> None:
    function = made(before, after, tmp_path)
    fused = fuse_jit(function)
    for _ in range(2):
        expected: Any = PythonsList()
        log: Any = PythonsList()
        assert fused(60, 50, log) == function(60, 50, expected)
        assert repr(log) == repr(expected)
    assert has_whole_loop(function, fused)


@pytest.mark.parametrize(
    "after",
    [
        "for i in log: pass\n    j = 1",  # the log may be empty
        "if n > 100: i, j = 1, 2",
        "while n > 100: i = j = n = 1",
        "match n:\n        case 7: i = j = 2",
        "try: log.remove(7); i = j = 3\n    except ValueError: pass",
        "[(i := k, j := k) for k in log]",
    ],
)
def test_a_name_that_may_be_bound_again_keeps_its_value(after: str, tmp_path: Any) -> None:
    function = made("pass", after, tmp_path)
    fused = fuse_jit(function)
    for n, m in ((6, 5), (5, 6)):
        expected: list[Any] = []
        log: list[Any] = []
        assert fused(n, m, log) == function(n, m, expected)
        assert log == expected


def test_a_closure_sees_what_a_with_or_except_binds_again() -> None:
    def f(x: Any, log: list[Any]) -> Any:
        with paired(1.0) as (k,):
            shown = lambda: k  # noqa: E731
        y = np.exp(x) * k
        log.append(shown())
        k = 2.0
        y = y * k
        log.append(shown())
        return y

    x = np.linspace(0, 1, 5000)
    for fused in (f, fuse_jit(f)):
        log: list[Any] = []
        np.testing.assert_allclose(fused(x, log), np.exp(x) * 2, rtol=1e-15)
        assert log == [1.0, 2.0]
