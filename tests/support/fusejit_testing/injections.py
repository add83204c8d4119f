"""A handler that raises at each step of the main thread in turn: none of its exceptions is lost.

    python -m fusejit_testing.injections [FIRST [STEP [LAST]]]

`interruptions` strikes at random times, and so mostly where a process waits. This one counts steps
(lines, calls and returns of Python code; instructions too in the code that is named) from the
decoration to the end of a first call, forks a child for each, raises there from the handler of a
signal, and says where the exception did not come out, or where a second call does not work.
"""

from __future__ import annotations

import faulthandler
import os
import signal
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from types import CodeType
from typing import Any

import numpy as np
from numpy.testing import assert_allclose

from fusejit.codegen.launcher import debuggers

_LONGEST_S = 10
_END, _LOST = 100, 101


class Injected(Exception):
    """What the handler raises."""


def lost_exceptions(
    work: Callable[[], None],
    within: CodeType | None = None,
    first: int = 1,
    step: int = 1,
    last: int | None = None,
) -> Iterator[str]:
    """Where an exception of a handler does not come out of ``work()``, or leaves it broken.

    Parameters
    ----------
    work : callable
        Is called twice in a child process for each step; undisturbed, it raises nothing.
    within : code, optional
        Steps are counted below its frame alone, its own and those of `threading` instruction by
        instruction.
    first, step, last : int
        Which steps; all from ``first`` on without ``last``.

    Yields
    ------
    str
        The stack into which the handler raised.
    """
    at = first
    while last is None or at <= last:
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(read)
            os.dup2(write, 2)
            status = 1
            try:
                status = _interrupted(work, at, within)
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stderr.flush()
                os._exit(status)
        os.close(write)
        with os.fdopen(read) as stream:
            text = stream.read()
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if status == _END:
            return
        if status:
            yield f"step {at}, status {status}:\n{text}"
        at += step


def _interrupted(work: Callable[[], None], at: int, within: CodeType | None) -> int:
    """In a child: the status with which it ends."""
    faulthandler.dump_traceback_later(_LONGEST_S, exit=True, file=2)
    unraisable: list[Any] = []
    sys.unraisablehook = unraisable.append  # what is raised in a finalizer, Python cannot pass on

    def handler(signum: int, frame: Any) -> None:
        print("".join(traceback.format_stack(frame.f_back)), file=sys.stderr, flush=True)
        raise Injected

    left = at

    def step(frame: Any, event: str, argument: Any) -> Any:
        nonlocal left
        if not is_within(frame):
            return enter
        frame.f_trace_opcodes = within is not None and is_close(frame)
        left -= 1
        if not left:
            sys.settrace(None)
            signal.raise_signal(signal.SIGUSR1)
        return step

    def enter(frame: Any, event: str, argument: Any) -> Any:
        return step(frame, event, argument)

    def is_within(frame: Any) -> bool:
        while within is not None and frame.f_code is not within:
            frame = frame.f_back
            if frame is None:
                return False
        return True

    def is_close(frame: Any) -> bool:
        assert within is not None
        return frame.f_code.co_filename in (within.co_filename, _THREADING)

    debuggers.MEASURING.add(__name__.partition(".")[0])  # calls are compiled under ``enter``
    signal.signal(signal.SIGUSR1, handler)
    sys.settrace(enter)
    try:
        work()
    except Injected:
        is_lost = False
    else:
        is_lost = not unraisable
    finally:
        sys.settrace(None)
    if left > 0:
        return _END
    if is_lost:
        return _LOST
    work()
    return 0


_THREADING = sys.modules["threading"].__file__


def _first_call() -> None:
    from fusejit import fuse_jit

    def chain(x: Any) -> Any:
        return np.exp(-x * 0.3) + np.sqrt(np.abs(x)) / (1.5 + x * x)

    x = np.linspace(-1, 1, 40)
    assert_allclose(fuse_jit(chain)(x), chain(x), rtol=1e-12)


def main(arguments: list[str]) -> int:
    """The command line: see the module."""
    first, step, *last = [*map(int, arguments), *(1, 1)[len(arguments) :]]
    warnings.simplefilter("ignore")
    os.environ["FUSEJIT_CACHE"] = "0"
    failed = 0
    for text in lost_exceptions(_first_call, None, first, step, last[0] if last else None):
        failed += 1
        print(text, flush=True)
    print(f"{failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
