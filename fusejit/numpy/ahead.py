"""`ask` and `wait`: kernels compiled ahead, in a helper process, while NumPy runs windows.

A window that comes again will probably be compiled. The helper traces its function, compiles the
kernels and keeps them in the disk cache. When the window is due, this process finds them there,
which takes some hundredths of a second. Whether a window is due does not depend on the helper: if
that is not finished this process waits for it, and if there is none it compiles by itself.

The helper starts with the first question, runs with lower priority, and ends with this process;
workers of `multiprocessing` have none. The disk cache notes what it has compiled.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import pickle
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy

import fusejit
from fusejit.options import options_from_environment

IS_ON = os.environ.get("FUSEJIT_LAZY_AHEAD", "1") not in ("", "0")
"""Whether there may be a helper."""

MOST_WAITING = 8
"""Questions that the helper has not answered, at most: a pipe holds them without a wait."""

_SERVE = "import sys; sys.path[:] = {path!r}; from fusejit.numpy.ahead import serve; serve()"


class Helper:
    """A process that compiles what it is asked for, one after the other."""

    def __init__(self) -> None:
        self.num_asked = self.num_answered = 0
        self._process = subprocess.Popen(
            [sys.executable, "-c", _SERVE.format(path=sys.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "FUSEJIT_LAZY": "0"},
            start_new_session=True,
        )

    def ask(self, source: str, arguments: list[Any], note: str) -> int:
        """Ask for the function ``window`` of a source; return the number of the question."""
        assert self._process.stdin is not None
        pickle.dump((source, list(map(_described, arguments)), note), self._process.stdin)
        self._process.stdin.flush()
        self.num_asked += 1
        return self.num_asked

    def wait(self, number: int) -> None:
        """Wait until a question is answered."""
        assert self._process.stdout is not None
        while self.num_answered < number:
            answer = self._process.stdout.readline()
            if not answer:
                raise EOFError("the helper has ended")
            self.num_answered = int(answer)

    def stop(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.communicate()


_LOCK = threading.Lock()
_HELPERS: list[Helper | None] = []
"""The helper; None if it cannot start or has failed. Empty before the first question."""

_INHERITED: list[Helper | None] = []
"""Helpers of parent processes, which a child process leaves alone."""


def ask(source: str, arguments: list[Any]) -> int | None:
    """Have a window compiled; return the number for `wait`, or 0 for nothing to wait for.

    None: the helper has enough to do. Ask again later.
    """
    note = _note(source, arguments)
    with _LOCK:
        if _HELPERS == [None] or _notes().get(note) is not None:
            return 0
        if not _HELPERS:
            _HELPERS.append(_started())
        helper = _HELPERS[0]
        if helper is None:
            return 0
        if helper.num_asked - helper.num_answered >= MOST_WAITING:
            return None
        try:
            return helper.ask(source, arguments, note)
        except (OSError, pickle.PicklingError):
            _HELPERS[0] = None
            return 0


def wait(number: int) -> None:
    """Wait for the answer to a question of `ask`, if the helper still runs."""
    with _LOCK:
        helper = _HELPERS[0] if _HELPERS else None
        if helper is not None:
            try:
                helper.wait(number)
            except (OSError, EOFError, ValueError):
                _HELPERS[0] = None


def _started() -> Helper | None:
    is_python = os.path.basename(sys.executable or "").lower().startswith(("python", "pypy"))
    processes = sys.modules.get("multiprocessing.process")
    is_worker = bool(processes and processes.parent_process())
    if not IS_ON or not is_python or is_worker or not options_from_environment().cache:
        return None
    try:
        helper = Helper()
    except OSError:
        return None
    atexit.register(_stop, helper, os.getpid())
    return helper


def _stop(helper: Helper, process_id: int) -> None:
    if os.getpid() == process_id:
        helper.stop()


def _leave_to_parent() -> None:
    """In a child process: the helper belongs to the parent."""
    global _LOCK
    _LOCK = threading.Lock()
    _INHERITED.extend(_HELPERS)
    _HELPERS.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_to_parent)


# ---------------------------------------------------------------------------------------- notes
def _note(source: str, arguments: list[Any]) -> str:
    """The key of a window in the disk cache. It is only a hint, so it need not name all."""
    kinds = [str(getattr(argument, "dtype", type(argument))) for argument in arguments]
    parts = source, kinds, sys.implementation.cache_tag, numpy.__version__, fusejit.__version__
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def _notes() -> Any:
    """The disk cache, in which empty entries say which windows were compiled."""
    from fusejit.codegen.backend.cache import DiskCache, default_folder  # not needed without `ask`

    options = options_from_environment()
    folder = options.cache_dir or default_folder()
    return DiskCache(folder or Path(os.devnull), options.cache_bytes)


# -------------------------------------------------------------------------------- in the helper
def _described(argument: Any) -> Any:
    """What the helper needs of an argument: a number, or how an array lies in memory."""
    if type(argument) is not numpy.ndarray:
        return argument
    return numpy.ndarray, argument.dtype, argument.shape, argument.strides


def _like(described: Any) -> Any:
    """An array or number as the one that was described. Its memory is never touched."""
    if type(described) is not tuple:
        return described
    _, dtype, shape, strides = described
    ends = [(n - 1) * stride for n, stride in zip(shape, strides, strict=True) if n]
    before = -sum(end for end in ends if end < 0)
    memory = numpy.empty(sum(map(abs, ends)) + dtype.itemsize, numpy.uint8)
    return numpy.ndarray(shape, dtype, memory, before, strides)


def serve() -> None:
    """Compile what comes in on standard input until it ends; print a number for each."""
    from fusejit.numpy.programs import function_of, window_options
    from fusejit.stages import trace

    if hasattr(os, "nice"):
        os.nice(10)
    answers, sys.stdout = sys.stdout, sys.stderr
    number = 0
    while True:
        try:
            source, described, note = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        try:
            arguments = tuple(map(_like, described))
            function = function_of(source)
            trace(function, arguments, {}, window_options()).fuse().lower().compile()
            _notes().put(note, {}, b"")
        except Exception:
            pass  # the other process says why when it compiles it
        number += 1
        print(number, file=answers, flush=True)
