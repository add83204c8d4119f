"""What a long compile is doing, as one line of a terminal that is rewritten, then erased.

    fusejit: compiling slopes: LLVM, 7 s

Nothing is shown before `DELAY`, and nothing at all where standard error is no terminal.
"""

from __future__ import annotations

import _thread
import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from fusejit.support.interrupts import started

DELAY = 2.0
"""Seconds before anything is shown."""

_EVERY = 0.25
_LONGEST_SHOW = 1.0
_START_OF_LINE, _ERASE = "\r", "\x1b[K"


class Progress:
    """The line of one compile.

    Parameters
    ----------
    name : str
        Of the function.
    stage : callable
        What is being done at the moment.
    stream : TextIO
    clock : callable
        Seconds of real time.

    Examples
    --------
    >>> import io
    >>> stream, times = io.StringIO(), iter([0.0, 1.0, 3.0])
    >>> line = Progress("f", lambda: "LLVM", stream, lambda: next(times))
    >>> line.show(), line.show(), line.end()
    (None, None, None)
    >>> stream.getvalue()
    '\\r\\x1b[Kfusejit: compiling f: LLVM, 3 s\\r\\x1b[K'
    """

    def __init__(
        self,
        name: str,
        stage: Callable[[], str],
        stream: TextIO,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._name = name
        self._stage = stage
        self._stream = stream
        self._clock = clock
        self._start = clock()
        self._is_shown = False

    def show(self) -> None:
        """Write the line again, if it is time for one."""
        seconds = self._clock() - self._start
        if seconds < DELAY:
            return
        stage = self._stage() or "start"
        text = f"fusejit: compiling {self._name}: {stage}, {seconds:.0f} s"
        self._write(f"{_START_OF_LINE}{_ERASE}{text}")
        self._is_shown = True

    def end(self) -> None:
        """Take the line away."""
        if self._is_shown:
            self._write(f"{_START_OF_LINE}{_ERASE}")

    def _write(self, text: str) -> None:
        with contextlib.suppress(OSError, ValueError):  # it was closed, or has gone
            self._stream.write(text)
            self._stream.flush()


@contextmanager
def shown(name: str, stage: Callable[[], str], stream: TextIO | None = None) -> Iterator[None]:
    """Within, a thread shows what the compile of ``name`` does; nothing without a terminal."""
    stream = sys.stderr if stream is None else stream
    if not _is_terminal(stream):
        yield
        return
    line = Progress(name, stage, stream)
    is_over, has_ended = _thread.allocate_lock(), _thread.allocate_lock()
    is_over.acquire()
    has_ended.acquire()

    def run() -> None:
        wait = DELAY
        while not is_over.acquire(timeout=wait):
            line.show()
            wait = _EVERY
        has_ended.release()

    is_shown = False
    try:
        is_shown = started(run)
        yield
    finally:
        is_over.release()
        if is_shown:
            has_ended.acquire(timeout=_LONGEST_SHOW)  # a forked child has no such thread
        line.end()


def _is_terminal(stream: TextIO | None) -> bool:
    try:
        return stream is not None and stream.isatty()
    except (AttributeError, ValueError):  # pythonw has none; it was closed
        return False
