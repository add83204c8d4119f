"""line_profiler over and under `fuse_jit`: the function, lines and numbers of calls are the user's.

Regressions: A profiled decorated function had one hit, however often it was called, because the
entry stub's code by which line_profiler finds calls was replaced. A decorated profiled function was
split in line_profiler's own file, and reports named lines of it.
"""

from __future__ import annotations

import io
import re
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit.notices import FuseWarning
from fusejit_testing.compare import assert_same
from fusejit_testing.oracle import decorate

line_profiler = pytest.importorskip("line_profiler")
pytestmark = pytest.mark.filterwarnings("ignore:Adding a function with a `.__wrapped__`")

X = np.linspace(0.0, 1.0, 7)
LOG: list[Any] = []
CALLS = 5


def compiled(x: Any) -> Any:
    y = x * 2
    return y + 1


def in_segments(x: Any) -> Any:
    y = x * 2
    LOG.append(len(x))
    return y + 1


def raising(x: Any) -> Any:
    y = x * 2
    return y.reshape(4, -1, 17)


class Model:
    def method(self, x: Any) -> Any:
        y = x * 2
        return y + 1


def new(function: Any) -> Any:
    """The function with code of its own: profilers share what they know of equal code."""
    code = function.__code__.replace()
    return types.FunctionType(code, function.__globals__, function.__name__)


def hits(profiler: Any) -> dict[int, int]:
    """The hits by line, counted from that of ``def``; they are of this file alone."""
    out = io.StringIO()
    profiler.print_stats(out)
    assert set(re.findall(r"File: (.*)", out.getvalue())) == {__file__}
    ((_, first, _), lines), *others = profiler.get_stats().timings.items()
    assert not others
    return {line - first: number for line, number, _ in lines}


def by_decorator(profiler: Any, fused: Any) -> Callable[..., Any]:
    made: Callable[..., Any] = profiler(fused)
    return made


def by_add_function(profiler: Any, fused: Any) -> Callable[..., Any]:
    """As ``%lprun -f f f(x)``."""
    profiler.add_function(fused)
    return lambda *args: profiler.runcall(fused, *args)


@pytest.mark.parametrize("profiled", [by_decorator, by_add_function])
@pytest.mark.parametrize("program", [compiled, in_segments])
@pytest.mark.parametrize("calls_before", [0, 3])
@pytest.mark.parametrize("tiering", [False, True])
def test_profile_over_fuse_jit(
    profiled: Callable[..., Any], program: Any, calls_before: int, tiering: bool
) -> None:
    """Each call has a hit in the line of ``def`` or, where Python runs it, in its first line."""
    profiler = line_profiler.LineProfiler()
    fused = decorate(new(program), jit=False, tiering=tiering)
    for _ in range(calls_before):
        fused(X)
    call = profiled(profiler, fused)
    for _ in range(CALLS):
        assert_same(program(X), call(X))
    found = hits(profiler)
    assert CALLS in (found.get(0), found.get(1)), found
    if program is compiled and not tiering:
        assert found == {0: CALLS}
        assert len(fused.variants) == 1


def test_profile_over_a_method() -> None:
    profiler = line_profiler.LineProfiler()
    namespace = {"method": profiler(decorate(new(Model.method), jit=False))}
    made = type("Model", (), namespace)()
    for _ in range(CALLS):
        assert_same(Model().method(X), made.method(X))
    assert hits(profiler) == {0: CALLS}


def test_errors_of_profiled_functions() -> None:
    profiler = line_profiler.LineProfiler()
    call = profiler(decorate(new(raising), jit=False))
    for _ in range(CALLS):
        with pytest.raises(ValueError, match="cannot reshape") as caught:
            call(X)
        assert caught.traceback[-1].lineno == raising.__code__.co_firstlineno + 1
        assert [entry.name for entry in caught.traceback].count("raising") == 1


def test_redefinition_of_a_profiled_function() -> None:
    """Other code counts at once, as without a profiler."""
    profiler = line_profiler.LineProfiler()
    fused: Any = decorate(new(compiled), jit=False)
    call = profiler(fused)
    assert_same(compiled(X), call(X))
    fused.__code__ = decorate(lambda x: x - 1, jit=False).__code__
    assert_same(X - 1, call(X))
    assert_same(X - 1, fused(X))


@pytest.mark.parametrize("of", [new(compiled), new(Model.method)])
def test_fuse_jit_over_profile(of: Any) -> None:
    """Python runs the function, whose lines are measured."""
    profiler = line_profiler.LineProfiler()
    profiled = profiler(of)
    with pytest.warns(FuseWarning, match="it is a profiler's wrapper, which measures") as found:
        fused = fuse_jit(profiled)
    assert [w.filename for w in found] == [__file__]
    args = (X,) if of.__name__ == "compiled" else (Model(), X)
    for _ in range(CALLS):
        assert_same(X * 2 + 1, fused(*args))
    assert hits(profiler) == {1: CALLS, 2: CALLS}
    with pytest.raises(TypeError, match="it is a profiler's wrapper"):
        fuse_jit(profiled, fullgraph=True)
