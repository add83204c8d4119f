"""What handlers of signals raise reaches the user, and everything works afterwards.

Regression: Ctrl-C during the import of Numba broke the process, because Numba cannot be imported
twice. Ctrl-C just before a wait for the compiler was handled only after it. The exception of a
handler became an InternalError.
"""

from __future__ import annotations

import functools
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import fusejit.pipeline
import fusejit.stages
from fusejit import fuse_jit
from fusejit.support.interrupts import LONGEST_WAIT, is_from_handler, run_uninterruptible
from fusejit_testing.interruptions import TimeIsUp

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGUSR1"), reason="needs POSIX signals")

X = np.linspace(-1, 1, 8)


def late(signum: int, frame: Any) -> None:
    raise TimeIsUp


class Handler:
    def __call__(self, signum: int, frame: Any) -> None:
        raise TimeIsUp

    def method(self, limit: int, signum: int, frame: Any) -> None:
        raise TimeIsUp


@pytest.fixture(
    params=[late, Handler(), Handler().method, lambda s, f: late(s, f)],
    ids=["function", "object", "method", "lambda"],
)
def handler(request: Any) -> Iterator[None]:
    """A handler of SIGUSR1 that raises."""
    chosen = request.param
    if getattr(chosen, "__name__", "") == "method":
        chosen = functools.partial(chosen, 3)
    before = signal.signal(signal.SIGUSR1, chosen)
    yield
    signal.signal(signal.SIGUSR1, before)


def interrupted(function: Callable[..., Any]) -> Callable[..., Any]:
    """``function``, whose first call is interrupted by SIGUSR1."""
    calls = []

    def first_interrupted(*args: Any, **kwargs: Any) -> Any:
        calls.append(1)
        if len(calls) == 1:
            signal.raise_signal(signal.SIGUSR1)
        return function(*args, **kwargs)

    return first_interrupted


@pytest.mark.parametrize(
    "stage", ["trace_function", "lower", "make_plan", "compile_kernel", "compile_launcher"]
)
def test_stages_pass_on_what_a_handler_raises(
    stage: str, handler: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fusejit.stages, stage, interrupted(getattr(fusejit.stages, stage)))

    @fuse_jit
    def f(x: Any) -> Any:
        return x * 2 + 1

    with pytest.raises(TimeIsUp):
        f(X)
    np.testing.assert_array_equal(f(X), X * 2 + 1)
    assert len(f.variants) == 1


@pytest.mark.parametrize("at", range(len(fusejit.pipeline.PASSES)))
def test_passes_pass_on_what_a_handler_raises(at: int, monkeypatch: pytest.MonkeyPatch) -> None:
    before = signal.signal(signal.SIGUSR1, late)
    passes = list(fusejit.pipeline.PASSES)
    passes[at] = passes[at][0], interrupted(passes[at][1])
    monkeypatch.setattr(fusejit.pipeline, "PASSES", tuple(passes))

    @fuse_jit
    def f(x: Any) -> Any:
        return x * 2 + 1

    try:
        with pytest.raises(TimeIsUp):
            f(X)
    finally:
        signal.signal(signal.SIGUSR1, before)
    np.testing.assert_array_equal(f(X), X * 2 + 1)


def test_handlers_raise_while_the_program_is_traced(handler: None) -> None:
    interrupting = interrupted(lambda: 2)

    @fuse_jit
    def f(x: Any) -> Any:
        return (x + 1) * interrupting()

    with pytest.raises(TimeIsUp):
        f(X)
    np.testing.assert_array_equal(f(X), (X + 1) * 2)


def test_only_what_passes_through_a_handler_is_from_one(handler: None) -> None:
    def caught(raising: Callable[[], Any]) -> BaseException:
        try:
            raising()
        except Exception as error:
            return error
        raise AssertionError

    assert is_from_handler(caught(lambda: signal.raise_signal(signal.SIGUSR1)))
    assert not is_from_handler(caught(lambda: 1 / 0))
    assert not is_from_handler(caught(lambda: next(iter(()))))


def test_work_apart_goes_on_when_a_handler_raises(handler: None) -> None:
    may_end, has_ended = threading.Event(), threading.Event()

    def work() -> None:
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGUSR1)
        may_end.wait(30)
        has_ended.set()

    with pytest.raises(TimeIsUp):
        run_uninterruptible(work)
    assert not has_ended.is_set()
    may_end.set()
    assert has_ended.wait(30)


def test_a_signal_just_before_the_wait_ends_it(handler: None) -> None:
    """CPython looks for signals, and then waits for the lock: one that comes in between waits."""
    late = 0
    for _ in range(400):
        may_end = threading.Event()

        def work(may_end: threading.Event = may_end) -> bool:
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGUSR1)
            return may_end.wait(10 * LONGEST_WAIT)

        begin = time.perf_counter()
        with pytest.raises(TimeIsUp):
            run_uninterruptible(work)
        late += time.perf_counter() - begin > 9 * LONGEST_WAIT
        may_end.set()
    assert late < 3  # a busy machine


def test_work_apart_has_the_results_errors_and_context_of_the_caller() -> None:
    def failing() -> None:
        raise KeyError("x")

    with np.errstate(divide="raise"):
        assert run_uninterruptible(np.geterr)["divide"] == "raise"
    with pytest.raises(KeyError, match="x"):
        run_uninterruptible(failing)
    assert run_uninterruptible(lambda: threading.current_thread()) is not threading.main_thread()
    inner: list[Any] = []
    thread = threading.Thread(
        target=lambda: inner.append(run_uninterruptible(threading.current_thread))
    )
    thread.start()
    thread.join()
    assert inner == [thread]  # threads run no handlers


IMPORTS = """
import signal, sys, threading
import numpy as np
from fusejit import fuse_jit

class Finder:
    met = 0
    def find_spec(self, name, path=None, target=None):
        if name in NAMES and not Finder.met:
            Finder.met = 1
            # a Ctrl-C in the middle of an import
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        return None

NAMES = [sys.argv[1]]
sys.meta_path.insert(0, Finder())

@fuse_jit
def f(x):
    return np.exp(-x * x) + x

signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job ignores it
x = np.linspace(0, 1, 10)
try:
    f(x)
    print("no interrupt")
except KeyboardInterrupt:
    print("interrupted", Finder.met)
np.testing.assert_allclose(f(x), np.exp(-x * x) + x, rtol=1e-14)
print("works", len(f.variants), f.variants.fallbacks.total())
"""


@pytest.mark.parametrize("module", ["numba.core.types", "llvmlite.binding"])
def test_an_import_of_the_compiler_is_not_ended_by_ctrl_c(module: str) -> None:
    environment = {**os.environ, "FUSEJIT_CACHE": "0", "FUSEJIT_UNJITTED": "0"}
    done = subprocess.run(
        [sys.executable, "-c", IMPORTS, module],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.stdout.split() == ["interrupted", "1", "works", "1", "0"], done.stderr


def test_interruptions_at_random_times() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "fusejit_testing.interruptions", "1", "1", "2"],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
