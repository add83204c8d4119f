"""A handler of a signal ends a kernel that would run for hours; what it has stored stays.

Regression: Ctrl-C waited for the end of a kernel, because kernels never checked for signals.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit_testing.interruptions import TimeIsUp

pytestmark = [
    pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs POSIX signals"),
    pytest.mark.skipif(
        threading.current_thread() is not threading.main_thread(), reason="needs the main thread"
    ),
]

HOURS = 10**14


def conditional(x: Any, n: Any) -> Any:
    i = 0
    while i < n:
        x[i % 7] += 1.0
        i += 1
    return x


def lone(x: Any, n: Any) -> Any:
    s = 0.0
    for i in range(n):
        s = s * 0.5 + i
        x[0] = s
    return s


def loops(x: Any, n: Any) -> Any:
    for i in range(n):
        for j in range(len(x)):
            x[j] = x[j] * 0.5 + i
    return x


def nests(x: Any, n: Any) -> Any:
    for _ in range(n):
        x[1:-1] = x[1:-1] * 0.25 + x[2:] * 0.25 - x[:-2] * 0.25
        x[0] += 1
    return x


def independent(x: Any, n: Any) -> Any:
    out = np.zeros(min(n, 100_000))
    for i in range(len(out)):
        s = 0.0
        for k in range(min(n, 1_000_000)):
            s = s * 0.9 + x[k % 7]
        out[i] = s
    return out


def with_a_journal(x: Any, n: Any) -> Any:
    k = 1
    for i in range(n):
        x[i % 7] += 1.0
        k = k * 3 if i < 5 else k
    return k


FUNCTIONS = (conditional, lone, loops, nests, independent, with_a_journal)


@pytest.fixture
def _limited() -> Iterator[None]:
    """A time limit whose handler raises."""

    def late(signum: int, frame: Any) -> None:
        raise TimeIsUp

    before = signal.signal(signal.SIGALRM, late)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.usefixtures("_limited")
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_a_handler_ends_a_kernel(function: Any) -> None:
    fused = fuse_jit(function)
    x, y = np.zeros(50), np.zeros(50)
    np.testing.assert_array_equal(fused(x, 20), function(y, 20))
    np.testing.assert_array_equal(x, y)
    assert len(fused.variants) == 1
    before = x.copy()
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    with pytest.raises(TimeIsUp):
        fused(x, HOURS)
    if function is not independent:
        assert not np.array_equal(x, before)  # what was stored stays
    assert len(fused.variants) == 1
    x[:] = y
    np.testing.assert_array_equal(fused(x, 30), function(y, 30))
    np.testing.assert_array_equal(x, y)


@pytest.mark.usefixtures("_limited")
def test_a_handler_that_does_not_raise_runs_in_time_and_the_kernel_goes_on() -> None:
    seen: list[float] = []
    signal.signal(signal.SIGALRM, lambda signum, frame: seen.append(time.monotonic()))
    fused = fuse_jit(conditional)
    fused(np.zeros(8), 20)
    signal.setitimer(signal.ITIMER_REAL, 0.01)
    x = fused(np.zeros(8), 400_000_000)
    assert x.sum() == 400_000_000
    assert seen
    assert seen[0] < time.monotonic() - 0.05


def test_other_threads_run_while_a_kernel_does() -> None:
    """A kernel of small arrays keeps the GIL, but for a moment every 0.1 s."""
    fused = fuse_jit(conditional)
    fused(np.zeros(8), 20)
    ran: list[float] = []
    thread = threading.Timer(0.01, lambda: ran.append(time.monotonic()))
    thread.start()
    fused(np.zeros(8), 400_000_000)
    end = time.monotonic()
    thread.join()
    assert ran
    assert ran[0] < end


PROGRAM = """
import os, signal, sys
import numpy as np
from fusejit import fuse_jit

@fuse_jit
def f(x, n):
    i = 0
    while i < n:
        x[i % 7] += 1.0
        i += 1
    return x

signal.signal(signal.SIGINT, signal.default_int_handler)
f(np.zeros(8), 20)
print("ready", flush=True)
try:
    f(np.zeros(8), 10**14)
except KeyboardInterrupt:
    print("ended", float(f(np.zeros(8), 20).sum()), flush=True)
"""


def test_ctrl_c_ends_a_kernel(tmp_path: Any) -> None:
    script = tmp_path / "program.py"
    script.write_text(PROGRAM)
    process = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "ended 20.0\n"
        assert process.wait(60) == 0
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
