"""Forks at random moments of first calls.

    python -m fusejit_testing.forks FIRST_SEED PROCESSES [MOMENTS]

In each process, threads make first calls of new functions; in every other one they load the
compiler. Meanwhile another thread, in some processes the main one, forks at random moments. The
child calls functions that were compiled before, those that are being compiled, and new ones, and so
does a child of the child now and then. All results must be NumPy's, and nobody may hang.
"""

from __future__ import annotations

import faulthandler
import os
import random
import signal
import subprocess
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.testing import assert_allclose  # now: the child of a thread that imports cannot

LONGEST_S = 40
"""A child that has not ended after so long hangs; a process has as long for each moment."""

PAUSE_S = 0.02
"""At most so long from the end of a child to the next fork."""

Call = tuple[Callable[..., Any], Callable[..., Any], tuple[Any, ...]]  # fused, plain, arguments


def _call(draw: random.Random) -> Call:
    """A new function, with arguments."""
    from fusejit import fuse_jit

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

    def parts(x: Any) -> Any:  # with a statement that Python runs
        y = np.exp(-x) * constant
        seen.append(float(y[0]))
        return np.sqrt(y + x * x) - 1

    seen: list[float] = []
    plain: Any = draw.choice([chain, statistics, steps, parts])
    x = np.linspace(-1, 1, draw.choice([12, 400, 40_000]))
    return fuse_jit(plain), plain, (x,)


def check(call: Call) -> None:
    """Compare one call with NumPy."""
    fused, plain, arguments = call
    actual, expected = fused(*arguments), plain(*arguments)
    if not isinstance(expected, tuple):
        actual, expected = (actual,), (expected,)
    for a, b in zip(actual, expected, strict=True):
        assert_allclose(a, b, rtol=1e-12, atol=1e-12)


def wait(child: int, longest: float = LONGEST_S) -> int:
    """The exit status of a child; one that hangs is killed.

    Raises
    ------
    AssertionError
        If it hangs.
    """
    end = time.monotonic() + longest
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > end:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            raise AssertionError("a child hangs")
        time.sleep(0.001)


def end_after(seconds: int) -> None:
    """End this process if it hangs, and say where. No thread does it: a child would have none."""
    faulthandler.register(signal.SIGALRM, file=2, chain=True)
    signal.alarm(seconds)


def forked(work: Callable[[], int]) -> int:
    """Run ``work`` in a forked child, and end it with that status; the status."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            end_after(LONGEST_S - 10)
            status = work()
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(status)
    return wait(child)


_COMPILES, _CUT_SHORT = 10, 11


def _in_child(calls: list[Call], draw: random.Random) -> int:
    """What a child does: the status says whether it can compile."""
    from fusejit.support.locks import cut_short

    for call in [*calls, _call(draw)]:
        check(call)
    cause = cut_short()
    if cause:
        assert cause in calls[-1][0].explain(*calls[-1][2]), "explain does not say why"  # type: ignore[attr-defined]
    status = _CUT_SHORT if cause else _COMPILES
    if draw.random() < 0.1:
        again = forked(lambda: _called(calls[-2:], status))
        assert again == status, f"a child of the child ends with {again}"
    return status


def _called(calls: list[Call], status: int) -> int:
    for call in calls:
        check(call)
    return status


def run(seed: int, moments: int) -> str:
    """Fork this process so often; how many children could compile, and how many could not.

    Raises
    ------
    AssertionError
        If a result is wrong, or a child hangs.
    """
    draw = random.Random(seed)
    in_main, num_threads = draw.random() < 0.7, draw.choice([1, 2])
    compiled: list[Call] = []
    statuses: list[int] = []
    errors: list[BaseException] = []
    if seed % 2:  # else the forks fall into the import of the compiler, most of them
        compiled.append(_call(draw))
        check(compiled[0])

    def fork_while(threads: list[threading.Thread], calls: list[Call]) -> None:
        try:
            while len(statuses) < moments and any(t.is_alive() for t in threads):
                time.sleep(draw.random() * PAUSE_S)
                chosen = [*draw.sample(compiled, min(2, len(compiled))), *calls]
                statuses.append(forked(partial(_in_child, chosen, draw)))
                assert statuses[-1] in (_COMPILES, _CUT_SHORT), f"a child: {statuses[-1]}"
        except BaseException as error:
            errors.append(error)

    def first_call(call: Call) -> None:
        try:
            check(call)
        except BaseException as error:
            errors.append(error)

    while len(statuses) < moments and not errors:
        calls = [_call(draw) for _ in range(num_threads)]
        threads = [threading.Thread(target=first_call, args=(call,)) for call in calls]
        if in_main:
            for thread in threads:
                thread.start()
            fork_while(threads, calls)
        else:  # the main thread makes a first call too
            main = threading.main_thread()
            is_over = threading.Event()
            alive: Any = [*threads[1:], _Until(is_over)]
            forker = threading.Thread(target=fork_while, args=(alive, calls))
            for thread in [*threads[1:], forker]:
                thread.start()
            assert threading.current_thread() is main
            first_call(calls[0])
            is_over.set()
            forker.join()
        for thread in threads:
            if thread.ident is not None:
                thread.join()
        for call in calls:
            check(call)
        compiled += calls
    if errors:
        raise errors[0]
    counts = statuses.count(_COMPILES), statuses.count(_CUT_SHORT)
    return f"{counts[0]} children compiled, {counts[1]} could not"


class _Until:
    """Stands for the main thread while it works."""

    def __init__(self, is_over: threading.Event) -> None:
        self._is_over = is_over

    def is_alive(self) -> bool:
        return not self._is_over.is_set()


def run_processes(first: int, processes: int, moments: int) -> list[str]:
    """Run processes one after the other; what each says.

    Raises
    ------
    AssertionError
        If one fails or hangs; with its output.
    """
    said = []
    for seed in range(first, first + processes):
        command = [sys.executable, "-m", "fusejit_testing.forks", "--inside", str(seed)]
        process = subprocess.Popen(
            [*command, str(moments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ, "FUSEJIT_CACHE": "0"},
            start_new_session=True,
        )
        try:
            text, _ = process.communicate(timeout=LONGEST_S + 2 * moments)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            text, _ = process.communicate()
            raise AssertionError(f"seed {seed} hangs:\n{text}") from None
        assert process.returncode == 0, f"seed {seed}:\n{text}"
        said.append(f"seed {seed}: {text.strip().splitlines()[-1]}")
    return said


def main(arguments: list[str]) -> int:
    """The command line: see the module."""
    if arguments[:1] == ["--inside"]:
        warnings.simplefilter("ignore")  # of forks with threads, and of what runs as plain NumPy
        end_after(LONGEST_S + 2 * int(arguments[2]) - 5)
        print(run(int(arguments[1]), int(arguments[2])))
        return 0
    moments = int(arguments[2]) if len(arguments) > 2 else 40
    start = time.monotonic()
    for line in run_processes(int(arguments[0]), int(arguments[1]), moments):
        print(line)
    print(f"{time.monotonic() - start:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
