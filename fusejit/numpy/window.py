"""`Window`: the operations of one thread that are recorded and not yet run.

The memory of a result is allocated when its operation is recorded, so that shapes, strides, views
and shared memory are NumPy's own from then on; the values are written when the window is flushed.
A flush calls NumPy with the recorded operations in program order. An operation whose result nobody
can see any more is left out.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
import warnings
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import Any, NamedTuple

import numpy

from fusejit.numpy.report import REPORT
from fusejit.numpy.settings import NEVER, threshold

MOST_OPERATIONS = 64
"""Operations after which a window is flushed."""

MOST_INPUTS = 32
"""Arrays of the past that the operations of a window may read or write."""

_PAGES = os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else 0
MOST_BYTES = _PAGES * os.sysconf("SC_PAGE_SIZE") // 8 if _PAGES > 0 else 2**30
"""Bytes of results that may wait: an eighth of the memory."""


class Place(NamedTuple):
    """Where an operation was recorded."""

    code: CodeType
    instruction: int
    scope: dict[str, Any]

    def line(self) -> int:
        """Return the line in the file of the code."""
        at = self.instruction // 2
        for number, (line, *_) in enumerate(self.code.co_positions()):
            if number == at and line is not None:
                return line
        return self.code.co_firstlineno


class Operation(NamedTuple):
    """One call of NumPy that is to be made: ``function(*inputs, out)``.

    Attributes
    ----------
    function : callable
    name : str
        What NumPy calls it in warnings.
    inputs : tuple
        ndarrays and numbers.
    out : ndarray
        The memory to write.
    is_new : bool
        Whether ``out`` was made for this operation.
    settings : dict
        ``numpy.geterr()`` when it was recorded.
    place : Place
    """

    function: Callable[..., Any]
    name: str
    inputs: tuple[Any, ...]
    out: numpy.ndarray[Any, Any]
    is_new: bool
    settings: dict[str, str]
    place: Place


class Window:
    """The recorded operations of one thread.

    Attributes
    ----------
    operations : list of Operation
    epoch : int
        How many flushes there were; an array is pending while its epoch is this one.
    most : int
        Operations after which the window is flushed; 0 records nothing.
    lock : RLock
        Held while something is recorded or run.
    """

    def __init__(self) -> None:
        self.operations: list[Operation] = []
        self.epoch = 0
        self.most = MOST_OPERATIONS
        self.lock = threading.RLock()
        self.num_inputs = 0
        self.num_bytes = 0
        self.frame_id = 0
        self.last_instruction = -1
        _WINDOWS.add(self)

    def enter(self, frame: FrameType) -> None:
        """Note where the next operation is; flush first if the program has jumped backwards."""
        instruction = frame.f_lasti
        if id(frame) == self.frame_id:
            if instruction <= self.last_instruction and self.operations:
                self.flush("a loop has come around")
        else:
            self.frame_id = id(frame)
        self.last_instruction = instruction

    def append(self, operation: Operation) -> None:
        """Record an operation, and flush the window if it is full."""
        self.operations.append(operation)
        if operation.is_new:
            self.num_bytes += operation.out.nbytes
        if len(self.operations) >= self.most:
            self.flush("the window is full" if self.most > 1 else "each operation is flushed")
        elif self.num_inputs > MOST_INPUTS:
            self.flush("the window has many inputs")
        elif self.num_bytes > MOST_BYTES:
            self.flush("much memory is pending")

    def flush(self, reason: str) -> None:
        """Run the recorded operations."""
        with self.lock:
            operations, self.operations = self.operations, []
            self.epoch += 1
            self.num_inputs = self.num_bytes = 0
            if not operations:
                return
            REPORT.flushed(reason)
            raised, seen = _replay(operations)
        for place, message in seen:
            _warn(place, message)
        if raised is not None:
            raise raised


_WINDOWS: weakref.WeakSet[Window] = weakref.WeakSet()


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
    before, current.most = current.most, most_operations
    try:
        yield
    finally:
        current.flush("the window changes its size")
        current.most = before


@contextmanager
def eager() -> Iterator[None]:
    """Let NumPy run everything at once while the block runs; new arrays are plain ndarrays."""
    with window(0), threshold(NEVER):
        yield


def flush_all(reason: str = "the process forks or ends") -> None:
    """Run what is recorded in any thread."""
    for each in list(_WINDOWS):
        each.flush(reason)


def _replay(
    operations: list[Operation],
) -> tuple[BaseException | None, list[tuple[Place, str]]]:
    """Run operations in order; return the first exception, and the warnings to be shown."""
    raised: BaseException | None = None
    seen: list[tuple[Place, str]] = []
    kept = _seen_ones(operations)
    REPORT.ran(len(kept))
    settings: dict[str, str] | None = None
    place, name = kept[-1].place if kept else None, ""

    def note(kind: str, _flag: int) -> None:
        assert place is not None
        seen.append((place, f"{kind} encountered in {name}"))

    with numpy.errstate():
        numpy.seterrcall(note)
        while kept:
            operation = kept.pop()
            place, name = operation.place, operation.name
            if operation.settings is not settings:
                settings = operation.settings
                numpy.seterr(**_collecting(settings))
            try:
                operation.function(*operation.inputs, operation.out)
            except Exception as error:
                if raised is None:
                    error.add_note(f"recorded at {place.code.co_filename}:{place.line()}")
                    raised = error
            del operation  # frees arrays that nothing else needs
    return raised, seen


def _collecting(settings: dict[str, str]) -> dict[str, Any]:
    return {kind: "call" if how == "warn" else how for kind, how in settings.items()}


def _warn(place: Place, message: str) -> None:
    """Show a warning as if it came from the recorded line."""
    warnings.warn_explicit(
        message,
        RuntimeWarning,
        place.code.co_filename,
        place.line(),
        module=place.scope.get("__name__", "<unknown>"),
        registry=place.scope.setdefault("__warningregistry__", {}),
    )


def _seen_ones(operations: list[Operation]) -> list[Operation]:
    """Return the operations whose results can be seen, last one first."""
    counts: dict[int, int] = {}
    for operation in operations:
        for array in (operation.out, *operation.inputs):
            counts[id(array)] = counts.get(id(array), 0) + 1
    array = operation = None  # type: ignore[assignment]  # each would be one reference more
    kept: list[Operation] = []
    read: set[int] = set()
    while operations:
        operation = operations.pop()
        # references: the operation and others in the window, the call of getrefcount
        others = sys.getrefcount(operation.out) - 1 - counts[id(operation.out)]
        if not operation.is_new or others > 0 or id(operation.out) in read or _warns(operation):
            read.update(map(id, operation.inputs))
            kept.append(operation)
        else:
            REPORT.left_out()
            for array in operation.inputs:
                counts[id(array)] -= 1
            counts[id(operation.out)] -= 1
            array = None
        operation = None  # type: ignore[assignment]
    return kept


def _warns(operation: Operation) -> bool:
    """Whether the floating-point errors of an operation are shown: then it runs."""
    return operation.out.dtype.kind in "fc" and any(
        how != "ignore" for how in operation.settings.values()
    )


atexit.register(flush_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=flush_all)
