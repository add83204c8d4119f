"""Signals at random times: in imports, traces, compilations and runs.

    python -m fusejit_testing.interruptions FIRST_SEED PROCESSES [INTERRUPTIONS]

Each process makes functions and calls them, and is interrupted at random times, by Ctrl-C or by a
handler that raises an exception of its own. The first interruptions fall into the import of fusejit
and, as nothing is kept on disk, of Numba. What the handler has raised must come out of the
call, and every function must work afterwards, in the thread and in a forked child.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

LONGEST_S = 1.5
"""An interruption comes at most so long after the work has begun."""


class TimeIsUp(Exception):
    """What the handler of a user's time limit raises."""


_places: list[str] = []
"""Where handlers have interrupted this process: the stack, for who must find a lost exception."""


def _late(signum: int, frame: Any) -> None:
    _places.append("".join(traceback.format_stack(frame)))
    raise KeyboardInterrupt if signum == signal.SIGINT else TimeIsUp(signum)


@contextmanager
def _interrupted(seconds: float, by: signal.Signals) -> Iterator[threading.Event]:
    """Send this process a signal after some time; the event says whether it was sent."""
    is_over, is_sent = threading.Event(), threading.Event()
    sending = threading.Lock()

    def send() -> None:
        if not is_over.wait(seconds):
            with sending:
                if not is_over.is_set():
                    is_sent.set()
                    os.kill(os.getpid(), by)

    thread = threading.Thread(target=send)
    thread.start()
    try:
        yield is_sent
        with sending:
            is_over.set()
    finally:
        is_over.set()
        thread.join()


def _programs(draw: random.Random) -> list[tuple[Callable[..., Any], tuple[Any, ...]]]:
    """Functions that nobody has traced yet, with arguments."""
    constant = draw.random()

    def chain(x: Any) -> Any:
        return np.exp(-x * constant) + np.sqrt(np.abs(x)) / (1.5 + x * x)

    def statistics(x: Any) -> Any:
        y = x.reshape(-1, 4) - constant
        return (y / (y.std(axis=0) + 1)).sum(axis=1), np.argmax(y), np.sort(x)

    def steps(x: Any) -> Any:
        y = x.copy()
        for _ in range(3):
            y[1:-1] = y[1:-1] + constant * (y[2:] - 2 * y[1:-1] + y[:-2])
        return y

    x = np.linspace(-1, 1, draw.choice([12, 400, 40_000, 1_000_000]))
    programs: list[Callable[..., Any]] = [chain, statistics, steps]
    draw.shuffle(programs)
    return [(program, (x,)) for program in programs]


def _same(actual: Any, expected: Any) -> None:
    if not isinstance(expected, tuple):
        actual, expected = (actual,), (expected,)
    for a, b in zip(actual, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)


def run(seed: int, interruptions: int) -> int:
    """Interrupt this process so often; the number of exceptions that came out.

    Raises
    ------
    AssertionError
        If something does not work afterwards, or if an exception was lost.
    """
    draw = random.Random(seed)
    signal.signal(signal.SIGUSR1, _late)
    signal.signal(signal.SIGINT, _late)
    lost: list[Any] = []
    sys.unraisablehook = lost.append  # what is raised in a finalizer, Python itself cannot pass on
    met = 0
    alive: list[tuple[Any, Callable[..., Any], tuple[Any, ...]]] = []
    for _ in range(interruptions):
        by = draw.choice([signal.SIGINT, signal.SIGUSR1])
        wanted = KeyboardInterrupt if by == signal.SIGINT else TimeIsUp
        lost.clear()
        _places.clear()
        caught: BaseException | None = None
        programs = _programs(draw)
        is_sent = threading.Event()
        try:
            with _interrupted(draw.random() ** 2 * LONGEST_S, by) as is_sent:
                from fusejit import fuse_jit

                for function, arguments in programs:
                    fused = fuse_jit(function)
                    alive.append((fused, function, arguments))
                    fused(*arguments)
        except (KeyboardInterrupt, TimeIsUp) as error:
            caught = error
        assert caught is None or type(caught) is wanted, caught
        if is_sent.is_set() and not lost:
            place = _places[-1] if _places else "nowhere: no handler has run"
            assert caught is not None, f"{wanted.__name__} was lost; it was raised at\n{place}"
        met += caught is not None
        from fusejit import fuse_jit

        alive = alive[-4:]
        for fused, function, arguments in alive:
            _same(fused(*arguments), function(*arguments))
        fresh, arguments = programs[0]
        _same(fuse_jit(fresh)(*arguments), fresh(*arguments))
    _fork(alive)
    return met


def _fork(alive: list[tuple[Any, Callable[..., Any], tuple[Any, ...]]]) -> None:
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        status = 1
        try:
            for fused, function, arguments in alive:
                _same(fused(*arguments), function(*arguments))
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    _, status = os.waitpid(child, 0)
    assert status == 0, f"a forked child ends with {status}"


def main(arguments: list[str]) -> int:
    """The command line: see the module."""
    if arguments[:1] == ["--inside"]:
        print(run(int(arguments[1]), int(arguments[2])))
        return 0
    first, processes = int(arguments[0]), int(arguments[1])
    each = int(arguments[2]) if len(arguments) > 2 else 5
    environment = {**os.environ, "FUSEJIT_CACHE": "0"}
    met = failed = 0
    start = time.monotonic()
    for seed in range(first, first + processes):
        command = [
            sys.executable,
            "-W",
            "ignore",
            "-m",
            __spec__.name,
            "--inside",
            str(seed),
            str(each),
        ]
        try:
            done = subprocess.run(
                command, env=environment, capture_output=True, text=True, timeout=300, check=False
            )
        except subprocess.TimeoutExpired:
            print(f"seed {seed}: hangs")
            failed += 1
            continue
        if done.returncode:
            failed += 1
            print(f"seed {seed}: status {done.returncode}\n{done.stderr[-6000:]}")
        else:
            met += int(done.stdout)
    seconds = time.monotonic() - start
    print(f"{processes} processes, {met} exceptions of handlers, {failed} failed, {seconds:.0f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
