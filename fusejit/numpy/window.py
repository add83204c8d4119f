"""`Window`: the operations of one thread that are recorded and not yet run.

The memory of a result is allocated when its operation is recorded, so that shapes, strides, views
and shared memory are NumPy's own from then on; the values are written when the window is flushed.
A flush calls NumPy with the recorded operations in program order. An operation whose result nobody
can see any more is left out.
"""

from __future__ import annotations

import atexit
import os
import threading
import time
import warnings
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import dataclass
from types import FrameType
from typing import Any

import numpy

from fusejit.numpy.batches import Batch, Operation, Warned, batches
from fusejit.numpy.memory import LARGE, MAX_BYTES, Memory
from fusejit.numpy.programs import Program, are_counted, described_window, function_of, program_of
from fusejit.numpy.replay import Uses, unused, uses_of, visible
from fusejit.numpy.report import REPORT
from fusejit.numpy.settings import NEVER, threshold
from fusejit.support.interrupts import is_from_handler
from fusejit.support.locks import ForkSafeLock, cut_short, others_work

MAX_OPERATIONS = int(os.environ.get("FUSEJIT_LAZY_WINDOW", 64))
"""Operations after which a window is flushed; 0: nothing is recorded."""

COMPILES = os.environ.get("FUSEJIT_LAZY_COMPILES", "1") not in ("", "0")  # frequent windows

_FORK_POLLS_S, _FORK_WAITS_S, _LONGEST_S = 0.005, 0.25, 10.0

MAX_INPUTS = 32  # arrays of the past that the operations of a window may read or write


@dataclass(slots=True)
class CompiledRun:
    """A window that a compiled function is to run, and its operations in case that it cannot.

    The last argument is an array of one element, which the function sets to 1 when all is written.
    """

    program: Program
    arguments: list[Any]
    operations: list[Operation]
    is_begun: bool = False

    def is_done(self) -> bool:
        """Whether the function has written all results."""
        return bool(self.arguments[-1][0])


Paths = dict[int, Any]  # from the ids of views to the subscripts that make them of their base


class Window:
    """The recorded operations of one thread."""

    def __init__(self) -> None:
        self.thread = threading.current_thread()
        self.operations: list[Operation] = []
        self.running: list[Batch | CompiledRun] = []  # what a flush has begun to run, last first
        self.paths: Paths = {}  # of the views that operations use
        self.memory = Memory()
        self.epoch = 0  # flushes so far; an array is pending while its epoch is this one
        self.most = MAX_OPERATIONS  # after which the window is flushed; 0 records nothing
        self.filters = warnings.filters  # under others, in a block, operations run at once
        self.lock = ForkSafeLock()  # held while something is recorded or run
        self.num_inputs = self.num_bytes = self.num_written = self.frame_id = 0
        self.last_instruction = -1
        _WINDOWS[id(self)] = self

    def record(
        self,
        frame: FrameType,
        call: tuple[Any, ...],
        out: numpy.ndarray[Any, Any],
        name: str,
        is_new: bool,
        settings: dict[str, str],
        owners: list[Any],
        views: Paths,
    ) -> None:
        """Append an operation; run what is recorded before or after it where a window ends.

        ``owners`` are those of the memory that it uses, the last one that of ``out``; ``views`` are
        for `paths`.
        """
        with self.lock:
            self.arrive(frame)
            self.frame_id, self.last_instruction = id(frame), frame.f_lasti
            epoch = self.epoch
            for owner in owners:
                if owner._window is not self or owner._epoch != epoch:
                    owner._window = self
                    owner._epoch = epoch
                    self.num_inputs += 1
            self.num_written += out.nbytes
            if is_new:
                self.num_inputs -= 1
                self.num_bytes += out.nbytes
            operations = self.operations
            place = frame.f_code, frame.f_lasti, frame.f_globals
            operations.append(_new(Operation, (call, out, name, is_new, settings, *place)))
            if views:
                self.paths.update(views)
            REPORT.recorded += 1
            if len(operations) >= self.most:
                self.flush("the window is full" if self.most > 1 else "each operation is flushed")
            elif self.num_inputs > MAX_INPUTS:
                self.flush("the window has many inputs")
            elif self.num_bytes > MAX_BYTES:
                self.flush("much memory is pending")

    def arrive(self, frame: FrameType) -> None:
        """Run what is recorded if a loop has come around."""
        is_back = id(frame) == self.frame_id and frame.f_lasti <= self.last_instruction
        if is_back and self.operations:
            self.flush("a loop has come around")

    def claim(self, owner: Any) -> bool:
        """Let operations on the memory of an `Array` be recorded in this window alone.

        Two threads that use an array run each operation on it at once.
        """
        other = owner._window
        if other is not None and not other.thread.is_alive():
            other.flush("the thread has ended")
        with _claims:
            found = owner._window
            if found is None or (found is other and not found.thread.is_alive()):
                owner._epoch = -1
                owner._window = self
                return True
        owner._is_foreign = True
        return False

    def is_pending(self, owner: Any) -> bool:
        """Whether recorded operations use the memory of an `Array` that owns it."""
        return owner._window is self and bool(owner._epoch == self.epoch)

    def flush(self, reason: str, *, by_numpy: bool = False) -> None:
        """Run the recorded operations; by NumPy on this thread, or by what is best."""
        warned: Warned = []
        uses = _NO_USES
        used: set[int] = set()
        raised: list[BaseException] = []
        with self.lock:
            while self.operations or self.running:
                if not self.running:
                    REPORT.flushed(reason)
                    uses = uses_of(self.operations)
                    running, is_seen, used = to_run(self, uses, by_numpy)
                    self._note(is_seen, type(running[-1]) is CompiledRun if running else False)
                    self.running, self.operations, self.paths = running, [], {}
                try:
                    copy_context().run(
                        _run, self.running, warned, by_numpy
                    )  # keeps the caller's settings
                except BaseException as error:
                    raised.append(error)
            self.memory.take_back(unused(uses), used)
            self.num_inputs = self.num_bytes = self.num_written = 0
            self.epoch += 1
        found = {(p.out, m.startswith("invalid"), m, id(p)): p for p, m in warned}
        for key in sorted(found):  # of one operation, in the order in which NumPy warns
            _warn(found[key], key[2])
        if raised:
            raise raised[0]

    def _note(self, is_seen: list[bool], is_compiled: bool) -> None:
        """Note what becomes of the operations."""
        for operation, seen in zip(self.operations, is_seen, strict=True):
            self.memory.note(operation.code, operation.instruction, seen)
            line = REPORT.line(operation.code, operation.instruction)
            line.recorded += 1
            line.compiled += is_compiled
            if is_compiled and not seen:
                line.num_bytes += 2 * operation.out.nbytes


_new: Any = tuple.__new__
_NO_USES = Uses([], {}, {}, {})
_WINDOWS: weakref.WeakValueDictionary[int, Window] = weakref.WeakValueDictionary()
_claims = ForkSafeLock()


class _Current(threading.local):
    def __init__(self) -> None:
        self.window = Window()


CURRENT = _Current()
"""``CURRENT.window`` is the window of the running thread."""


@contextmanager
def window(most_operations: int) -> Iterator[None]:
    """Flush after ``most_operations`` operations while the block runs; 0 records nothing."""
    current = CURRENT.window
    current.flush("the window changes its size")
    before = current.most, current.filters
    current.most, current.filters = most_operations, warnings.filters
    try:
        yield
    finally:
        current.flush("the window changes its size")
        current.most, current.filters = before


@contextmanager
def eager() -> Iterator[None]:
    """Let NumPy run everything at once while the block runs; new arrays are plain ndarrays."""
    with window(0), threshold(NEVER):
        yield


def explain() -> str:
    """Return the source of the operations that wait, and what of it would be fused. Runs nothing.

    Examples
    --------
    >>> import fusejit.numpy as np
    >>> np.explain()
    'no operation waits'
    """
    if cut_short():
        return f"NumPy runs all operations: {cut_short()}"
    from fusejit.api import decorated_function  # which needs all that compiles
    from fusejit.options import options_from_environment

    window = CURRENT.window
    with window.lock:
        if not (operations := window.operations):
            return "no operation waits"
        described = described_window(operations, window.paths, *visible(uses_of(operations)))
        if described is None:
            return f"{len(operations)} operations wait; no function could express them"
        function = function_of(described.source)
        decorated = decorated_function(function, options_from_environment(warn=False))
        explanation = decorated.explain(*described.arguments, numpy.zeros(1, numpy.int64))
    return f"{function.__doc__}\n{explanation}"


def _windows() -> list[Window]:
    """Those of all threads, which may make others meanwhile."""
    return [each for reference in _WINDOWS.valuerefs() if (each := reference()) is not None]


def flush_all(reason: str = "the process forks or ends") -> None:
    """Run what is recorded in any thread."""
    for each in _windows():
        each.flush(reason)


def _flush_before_fork() -> None:
    """Run what is recorded in any thread, so that a child has the values.

    Other hooks hold locks now, which a compile could wait for: NumPy alone runs it. A window that
    is being run is waited for, but not for long if that may be compiling: the child runs it again.
    """
    begin = time.monotonic()
    for each in _windows():
        while not each.lock.acquire(timeout=_FORK_POLLS_S):
            waited = time.monotonic() - begin
            if waited > _LONGEST_S or (waited > _FORK_WAITS_S and others_work()):
                break
        else:
            try:
                each.flush("the process forks or ends", by_numpy=True)
            finally:
                each.lock.release()


def _run(running: list[Batch | CompiledRun], warned: Warned, by_numpy: bool = False) -> None:
    """Run batches from the end of the list, and remove what has run."""
    while running:
        item = running[-1]
        if isinstance(item, CompiledRun):
            _run_compiled(item, running, by_numpy)
            continue
        item.run(warned)
        running.pop()


def _run_compiled(item: CompiledRun, running: list[Batch | CompiledRun], by_numpy: bool) -> None:
    """Run a compiled function, once; NumPy runs what it could not."""
    if item.is_done():
        running.pop()
    elif item.is_begun or by_numpy or cut_short():
        uses = uses_of(item.operations)
        running[-1:], _ = batches(item.operations, *visible(uses), uses, is_shared=not by_numpy)
    else:
        item.is_begun = True
        try:
            item.program.run(item.arguments)
        except Exception as error:
            if is_from_handler(error):
                raise
            item.program.refuse(error)


def _warn(place: Operation, message: str) -> None:
    """Show a warning as if it came from the recorded line."""
    warnings.warn_explicit(
        message,
        RuntimeWarning,
        place.code.co_filename,
        place.line(),
        module=place.scope.get("__name__", "<unknown>"),
        registry=place.scope.setdefault("__warningregistry__", {}),
    )


def to_run(
    window: Window, uses: Uses, by_numpy: bool = False
) -> tuple[list[Batch | CompiledRun], list[bool], set[int]]:
    """Return a compiled run of a window, or batches for NumPy, last one first.

    Also return whether the result of each operation is seen, and the ids of what is used.
    """
    operations = window.operations
    is_seen, is_needed = visible(uses)
    is_small = window.num_written < LARGE * len(operations)  # kernels need whole temporaries
    compiles = COMPILES and not by_numpy and not cut_short()
    if compiles and are_counted(window.num_written) and is_small:
        described = described_window(operations, window.paths, is_seen, is_needed)
        if described is not None:
            program = program_of(described.source)
            arguments = [*described.arguments, numpy.zeros(1, numpy.int64)]
            if program.is_due(described):
                return [CompiledRun(program, arguments, operations)], is_seen, {*map(id, arguments)}
    made, used = batches(operations, is_seen, is_needed, uses, is_shared=not by_numpy)
    return [*made], is_seen, used


atexit.register(flush_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_flush_before_fork)
