"""A condition that chooses a function was refused: Python must choose.

Strings, functions, None or an array, and arrays of several shapes or dtypes were refused; so were
functions that cannot be opened, which now run as plain NumPy, with a warning.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit.api import FuseWarning
from fusejit.errors import NeedsPython
from fusejit_testing.compare import Bound
from fusejit_testing.oracle import check
from fusejit_testing.programs.segments_check import check_segments

X = np.arange(12.0) / 4 - 1
CLOSE = Bound(ulps=32, absolute=1e-12)


def text(x: Any) -> Any:
    y = np.exp(x) * 2 + 1
    return "up" if (y * y).sum() > 90 else "down"


def array_or_none(x: Any) -> Any:
    return x * 2 if x.sum() > 3 else None


def shapes(x: Any) -> Any:
    y = np.exp(x) * 2 + 1
    z = y[1:] * 2 if (y * y).sum() > 90 else y[:3] - 1
    return z * 2 + y[0]


def dtypes(x: Any) -> Any:
    if x.sum() > 3:
        y = x.astype(np.float32)
        name = "single"
    elif x[0] > 5:
        y = x
        name = "as it is"
    else:
        y = x.astype(np.int64)
        name = "whole"
    return y * 2, name


def functions(x: Any) -> Any:
    f = np.sin if x[0] > 0 else np.cos
    return f(x) + 1


def keys(x: Any) -> Any:
    table = {"a": 1.0, "b": 2.0}
    return x * table["a" if x[0] > 0 else "b"]


def label(v: Any) -> str:
    return "big" if v > 1 else "small"


def in_a_helper(x: Any) -> Any:
    y = x * 2 + 1
    return [label(y.max()), label(y.min())], y


def returns(x: Any) -> Any:
    if x.sum() > 3:
        return x[1:]
    if x[0] > 3:
        return "text"
    return None


def in_a_loop(x: Any) -> Any:
    signs = ""
    for i in range(len(x)):
        signs += "+" if x[i] > 0 else "-"
    return signs


def bound_in_one_branch(x: Any) -> Any:
    if x[0] > 0:
        y = x * 2
    try:
        return y
    except UnboundLocalError as error:
        return str(error)


PROGRAMS = [array_or_none, shapes, dtypes, functions, returns, bound_in_one_branch]


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_choices(function: Any) -> None:
    check_segments(function, (X,), (X + 2,), (X - 3,), bound=CLOSE)


@pytest.mark.parametrize("function", [text, keys, in_a_helper, in_a_loop])
def test_strings_are_compiled(function: Any) -> None:
    check(function, (X,), (X + 2,), (X - 3,), bound=CLOSE, variants=None)


def test_branches_are_segments() -> None:
    fused = check_segments(shapes, (X,), (X - 3,), bound=CLOSE)
    segments = fused.variants.segmented.segments
    line = shapes.__code__.co_firstlineno + 2
    assert [s.lines[0] - line for s in segments] == [-1, 0, 0, 0, 1]
    assert all(len(s.state.variants) for s in segments)
    assert [b.line for b in fused.variants.segmented.boundaries] == [line]
    assert "depending on a condition" in fused.explain(X)


def test_fullgraph_refuses() -> None:
    with pytest.raises(NeedsPython, match="depending on a condition"):
        fuse_jit(fullgraph=True)(shapes)(X)


def _without_source(text: str) -> Any:
    names: dict[str, Any] = {}
    exec(text, names)
    return names["f"]


def _of_locals(x: Any, log: Any) -> Any:
    log.append(1)
    return sorted(locals()), x * 2


@pytest.mark.parametrize(
    "function",
    [
        _without_source("def f(x, log):\n    log.append(1)\n    return x * 2\n"),
        _of_locals,
    ],
    ids=["no source", "locals"],
)
def test_what_cannot_be_opened_is_numpys(function: Any) -> None:
    fused = fuse_jit(function)
    log: list[Any] = []
    expected = function(X, [])
    with pytest.warns(FuseWarning, match="runs as plain NumPy for this call: .*list") as told:
        results = [fused(X, log) for _ in range(3)]
    assert len(told) == 1
    assert log == [1, 1, 1]
    for actual in results:
        np.testing.assert_equal(actual, expected)
    assert "  Python: " in fused.explain(X, [])
