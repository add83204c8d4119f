"""Debuggers and profilers see the user's function, as Python runs it.

Regressions: pdb that stopped inside a decorated function showed traced values and an error for
``p y``, and the second call did not stop; ``n`` after ``breakpoint()`` landed in fusejit's files.
Profilers showed names of generated code.
"""

from __future__ import annotations

import cProfile
import os
import pstats
import re
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit.codegen.launcher import debuggers
from fusejit.notices import FuseWarning
from fusejit_testing.compare import assert_same
from fusejit_testing.oracle import decorate

ROOT = Path(__file__).resolve().parents[2]
X = np.arange(3.0)
PROGRAM = """\
import sys, pdb
import numpy as np
from fusejit import fuse_jit

def helper(y):
    w = y * 3
    {in_helper}
    v = w - 1
    return v

@fuse_jit(warn=False)
def f(x):
    y = x * 2
    {in_function}
    z = helper(y) + 1
    return z

x = np.ones(3)
for _ in range(2):
    r = f(x)
{in_main}
r = f(x)
r = f(x)
"""


def session(folder: Path, commands: str, *options: str, **places: str) -> list[str]:
    """The lines at which pdb stops and the arrays that it prints; it stops in the program alone."""
    file = folder / "program.py"
    known = dict.fromkeys(("in_helper", "in_function", "in_main"), "pass") | places
    file.write_text(PROGRAM.format(**known))
    done = subprocess.run(
        [sys.executable, *options, str(file)],
        input="\n".join(commands.split("; ")) + "\n",
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert "Error" not in done.stdout, done.stdout
    foreign = [t for t in re.findall(r"> (\S+)\(\d+\)", done.stdout) if t != str(file)]
    assert not foreign, done.stdout
    return re.findall(r"-> (.*)|\(Pdb\) (array.*)", done.stdout)


def shown(stops: list[Any]) -> list[str]:
    return [line or value for line, value in stops]


def test_breakpoint_in_a_function(tmp_path: Path) -> None:
    stops = shown(session(tmp_path, "n; p y; c; p y; q", in_function="breakpoint()"))
    first = ["z = helper(y) + 1", "return z", "array([2., 2., 2.])"]
    assert stops == [*first, "z = helper(y) + 1", "array([2., 2., 2.])"]


@pytest.mark.parametrize("stop", ["breakpoint()", "pdb.set_trace()"])
def test_stop_in_a_helper(tmp_path: Path, stop: str) -> None:
    """After the function, ``n`` comes back to the line of the call."""
    stops = shown(session(tmp_path, "p w; n; n; n; n; n; n; q", in_helper=stop))
    assert stops == [
        *("v = w - 1", "array([6., 6., 6.])", "return v", "return v"),
        *("return z", "return z", "@fuse_jit(warn=False)", "for _ in range(2):"),
    ]


def test_compiled_functions_under_a_debugger(tmp_path: Path) -> None:
    """The calls before ``set_trace`` were compiled; a breakpoint stops in those after it."""
    where = "b 13; c; n; p y; c; n; p y; q"
    stops = shown(session(tmp_path, where, in_main="pdb.set_trace()"))
    once = ["y = x * 2", "pass", "array([2., 2., 2.])"]
    assert stops == ["r = f(x)", *once, *once]


def test_a_program_that_pdb_starts(tmp_path: Path) -> None:
    """Steps into a function, and breakpoints by its name, end in its own statements."""
    stops = shown(session(tmp_path, "b 18; c; b f; c; p x; n; p y; q", "-m", "pdb"))
    assert stops[-4:] == ["y = x * 2", "array([1., 1., 1.])", "pass", "array([2., 2., 2.])"]


def test_a_step_into_a_function(tmp_path: Path) -> None:
    stops = shown(session(tmp_path, "b 20; c; s; s; n; p y; q", "-m", "pdb"))
    assert stops[-4:] == ["def f(x):", "y = x * 2", "pass", "array([2., 2., 2.])"]


# -- in this process -----------------------------------------------------------------------------
def traced_lines(call: Callable[[], Any]) -> tuple[Any, set[str]]:
    """The result of a call under a trace function, and the functions whose lines it saw."""
    seen: set[str] = set()

    def trace(frame: Any, event: str, arg: Any) -> Any:
        if frame.f_code.co_filename != __file__:
            return None
        if event == "line":
            seen.add(f"{frame.f_code.co_name}+{frame.f_lineno - frame.f_code.co_firstlineno}")
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        return call(), seen
    finally:
        sys.settrace(before)


@pytest.mark.parametrize("jit", [True, False])
def test_variants_serve_calls_before_and_after_a_debugger(jit: bool) -> None:
    def program(x: Any) -> Any:
        y = x * 2
        return y + 1

    fused = decorate(program, jit=jit)
    fused(X)
    (variant,) = fused.variants.compiled
    for _ in range(2):
        for _ in range(2):
            result, seen = traced_lines(lambda: fused(X))
            assert_same(program(X), result)
            assert {"program+1", "program+2"} <= seen
        assert fused.variants.compiled == (variant,)
        assert_same(program(X), fused(X))
        state: Any = fused.__fusejit_state__  # type: ignore[attr-defined]
        assert state.entry_stub.first is variant.launch, "the compiled call is back"


def test_functions_in_segments_under_a_debugger() -> None:
    log: list[Any] = []

    def program(x: Any) -> Any:
        y = x * 2
        log.append(len(x))
        return y + 1

    fused = decorate(program, jit=False)
    fused(X)
    result, seen = traced_lines(lambda: fused(X))
    assert_same(program(X), result)
    assert {"program+1", "program+2", "program+3"} <= seen
    assert_same(program(X), fused(X))
    assert log == [3] * 5


def test_redefinition_under_a_debugger() -> None:
    def program(x: Any) -> Any:
        return x + 1

    def other(x: Any) -> Any:
        return x + 2

    fused: Any = decorate(program, jit=False)
    fused(X)
    result, _ = traced_lines(lambda: fused(X))
    assert_same(X + 1, result)
    fused.__code__ = decorate(other, jit=False).__code__
    result, _ = traced_lines(lambda: fused(X))
    assert_same(X + 2, result)
    assert_same(X + 2, fused(X))


def test_the_word_of_the_trace_function() -> None:
    """Of the main thread, whichever thread asks."""
    assert debuggers.tracer_address()

    def trace(*args: Any) -> None: ...

    found: list[Any] = []

    def ask() -> None:
        found.append((debuggers.tracer_of_main_thread(), debuggers.is_debugged()))

    for tracer in (trace, None):
        before = sys.gettrace()
        sys.settrace(tracer)
        thread = threading.Thread(target=ask)
        thread.start()
        thread.join()
        sys.settrace(before)
    assert found == [(trace, True), (None, False)]


def test_tools_that_measure_are_no_debuggers() -> None:
    def __call__(self: Any, *args: Any) -> None: ...

    measuring = type("CTracer", (), {"__call__": __call__, "__module__": "coverage.tracer"})()

    def program(x: Any) -> Any:
        return x * 2 + 1

    fused = decorate(program, jit=True)
    fused(X)
    before = sys.gettrace()
    sys.settrace(measuring)
    try:
        debugged = debuggers.is_debugged()
        for _ in range(3):
            fused(X)
    finally:
        sys.settrace(before)
    assert not debugged
    for _ in range(3):
        fused(X)
    assert len(fused.variants) == 1
    assert not fused.variants.fallbacks


def test_breakpoints_that_the_environment_disables(monkeypatch: pytest.MonkeyPatch) -> None:
    def program(x: Any) -> Any:
        breakpoint()
        return x + 1

    with pytest.warns(FuseWarning, match="program runs as plain NumPy: it stops in a debugger"):
        fuse_jit(program)
    monkeypatch.setenv("PYTHONBREAKPOINT", "0")
    assert_same(X + 1, decorate(program, jit=False)(X))


def test_profilers_show_the_user_s_function() -> None:
    def program(x: Any) -> Any:
        return x * 2 + 1

    fused = decorate(program, jit=True)
    fused(X)
    profile = cProfile.Profile()
    profile.runcall(lambda: [fused(X) for _ in range(5)])
    rows: Any = pstats.Stats(profile).stats  # type: ignore[attr-defined]
    line = program.__code__.co_firstlineno
    assert rows[__file__, line, "program"][0] == 5
    names = [name for _, _, name in rows]
    assert f"<built-in method program (test_debuggers.py:{line}), compiled>" in names
    assert not any("fusejit_" in name for name in names)
    code = fused.__code__
    assert (code.co_filename, code.co_firstlineno, code.co_name) == (__file__, line, "program")
