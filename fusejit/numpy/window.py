"""`Window`: the operations of one thread that are recorded and not yet run.

The memory of a result is allocated when its operation is recorded, so that shapes, strides, views
and shared memory are NumPy's own from then on; the values are written when the window is flushed.
A flush calls NumPy with the recorded operations in program order. An operation whose result nobody
can see any more is left out.
"""

from __future__ import annotations

import atexit
import operator
import os
import sys
import threading
import warnings
import weakref
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import copy_context
from itertools import starmap
from types import CodeType, FrameType
from typing import Any, NamedTuple

import numpy

from fusejit.numpy.programs import Describer, Form, Program, program_of
from fusejit.numpy.report import REPORT
from fusejit.numpy.settings import NEVER, threshold

MOST_OPERATIONS = int(os.environ.get("FUSEJIT_LAZY_WINDOW", 64))
"""Operations after which a window is flushed; 0: nothing is recorded."""

COMPILES = os.environ.get("FUSEJIT_LAZY_COMPILES", "1") not in ("", "0")
"""Whether windows that come often are compiled."""

_INTEGER_DIVISIONS = frozenset({"floor_divide", "remainder", "fmod"})

MOST_INPUTS = 32
"""Arrays of the past that the operations of a window may read or write."""

_PAGES = os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else 0
MOST_BYTES = _PAGES * os.sysconf("SC_PAGE_SIZE") // 8 if _PAGES > 0 else 2**30
"""Bytes of results that may wait: an eighth of the memory."""


class Operation(NamedTuple):
    """One call of NumPy that is to be made.

    Attributes
    ----------
    call : tuple
        A function written in C and its arguments, ndarrays and numbers.
    out : ndarray
        The memory that it writes; one of the arguments.
    name : str
        What NumPy calls it in warnings.
    is_new : bool
        Whether ``out`` was made for this operation.
    settings : dict
        ``numpy.geterr()`` when it was recorded.
    code, instruction, scope
        Where it was recorded: the code, the offset in it, the globals.
    """

    call: tuple[Any, ...]
    out: numpy.ndarray[Any, Any]
    name: str
    is_new: bool
    settings: dict[str, str]
    code: CodeType
    instruction: int
    scope: dict[str, Any]

    def place(self) -> Place:
        """Return where the operation was recorded, without its arrays."""
        return Place(self.name, self.code, self.instruction, self.scope)


class Place(NamedTuple):
    """Where an operation was recorded, and what NumPy calls it."""

    name: str
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


class CompiledRun:
    """A window that a compiled function is to run.

    Attributes
    ----------
    program : Program
    arguments : list
        The last one is an array of one element, which the function sets to 1 when all is written.
    operations : list of Operation
        The window, for NumPy to run it if the function cannot.
    is_begun : bool
    """

    __slots__ = ("arguments", "is_begun", "operations", "paths", "program")

    def __init__(
        self, program: Program, arguments: list[Any], operations: list[Operation], paths: Paths
    ) -> None:
        self.program = program
        self.arguments = arguments
        self.operations = operations
        self.paths = paths
        self.is_begun = False

    def is_done(self) -> bool:
        """Whether the function has written all results."""
        return bool(self.arguments[-1][0])


Paths = dict[int, Any]
"""From the ids of views to the subscripts that make them of their base, or None."""


class Batch(NamedTuple):
    """Operations under the same settings, last one first.

    Attributes
    ----------
    calls : list
        None, and the calls of the operations.
    places : list of Place
        Where each one was recorded.
    forms : list of tuple or None
        The calls of each `Form`, which are not made in one step.
    settings : dict
    """

    calls: list[Any]
    places: list[Place]
    forms: list[Any]
    settings: dict[str, str]


class Window:
    """The recorded operations of one thread.

    Attributes
    ----------
    operations : list of Operation
    running : list of Batch or CompiledRun
        What a flush has begun to run, last one first. An exception of a signal handler may leave
        some; the next flush runs them.
    thread : Thread
    paths : dict
        From the ids of views that operations use to the subscripts that make them.
    epoch : int
        How many flushes there were; an array is pending while its epoch is this one.
    most : int
        Operations after which the window is flushed; 0 records nothing.
    filters : list
        The filters of warnings under which operations are recorded. In a block that catches
        warnings there are others, and operations run at once.
    lock : RLock
        Held while something is recorded or run.
    """

    def __init__(self) -> None:
        self.thread = threading.current_thread()
        self.operations: list[Operation] = []
        self.running: list[Batch | CompiledRun] = []
        self.paths: Paths = {}
        self.epoch = 0
        self.most = MOST_OPERATIONS
        self.filters = warnings.filters
        self.lock = threading.RLock()
        self.num_inputs = 0
        self.num_bytes = 0
        self.frame_id = 0
        self.last_instruction = -1
        _WINDOWS.add(self)

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

        Parameters
        ----------
        owners : list of Array
            Whose memory the operation uses; the last one's is ``out``.
        views : dict
            Of the operation: for `paths`.
        """
        instruction = frame.f_lasti
        with self.lock:
            if id(frame) != self.frame_id:
                self.frame_id = id(frame)
            elif instruction <= self.last_instruction and self.operations:
                self.flush("a loop has come around")
            self.last_instruction = instruction
            epoch = self.epoch
            for owner in owners:
                if owner._window is not self or owner._epoch != epoch:
                    owner._window = self
                    owner._epoch = epoch
                    self.num_inputs += 1
            if is_new:
                self.num_inputs -= 1
                self.num_bytes += out.nbytes
            operations = self.operations
            fields = (call, out, name, is_new, settings, frame.f_code, instruction, frame.f_globals)
            operations.append(_new(Operation, fields))
            if views:
                self.paths.update(views)
            REPORT.recorded += 1
            if len(operations) >= self.most:
                self.flush("the window is full" if self.most > 1 else "each operation is flushed")
            elif self.num_inputs > MOST_INPUTS:
                self.flush("the window has many inputs")
            elif self.num_bytes > MOST_BYTES:
                self.flush("much memory is pending")

    def flush(self, reason: str) -> None:
        """Run the recorded operations."""
        seen: list[tuple[Place, str]] = []
        raised: list[BaseException] = []
        with self.lock:
            while self.operations or self.running:
                if not self.running:
                    REPORT.flushed(reason)
                    running = to_run(self.operations, self.paths)
                    self.running, self.operations, self.paths = running, [], {}
                try:
                    copy_context().run(_run, self.running, seen)  # keeps the caller's settings
                except BaseException as error:
                    raised.append(error)
            self.num_inputs = self.num_bytes = 0
            self.epoch += 1
        for place, message in seen:
            _warn(place, message)
        if raised:
            raise raised[0]


_new: Any = tuple.__new__
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


def flush_all(reason: str = "the process forks or ends") -> None:
    """Run what is recorded in any thread."""
    for each in list(_WINDOWS):
        each.flush(reason)


def _run(running: list[Batch | CompiledRun], seen: list[tuple[Place, str]]) -> None:
    """Run batches from the end of the list, and remove what has run.

    The calls of a batch are made without a line of Python between them, so that what a signal
    handler raises cannot lose one. ``seen`` receives the warnings to show.
    """
    while running:
        item = running[-1]
        if type(item) is CompiledRun:
            _run_compiled(item, running)
            continue
        assert isinstance(item, Batch)
        calls, places, forms, settings = item

        def note(
            kind: str, _flag: int, calls: list[Any] = calls, places: list[Place] = places
        ) -> None:
            place = places[len(calls) - 1]
            seen.append((place, f"{kind} encountered in {place.name}"))

        if len(calls) > 1:
            numpy.seterrcall(note)
            numpy.seterr(**_collecting(settings))
            try:
                deque(starmap(operator.call, iter(calls.pop, None)), maxlen=0)
            except BaseException as error:
                if type(error) is IndexError and not calls:
                    continue  # a finalizer of an object has used an array meanwhile
                if 0 < len(calls) <= len(places):
                    at = len(calls) - 1
                    place = places[at]
                    if isinstance(error, Exception):
                        error.add_note(f"recorded at {place.code.co_filename}:{place.line()}")
                    if forms[at] is not None:  # it may have been interrupted: once more
                        calls.append(forms[at])
                        forms[at] = None
                raise
        running.pop()


def _run_compiled(item: CompiledRun, running: list[Batch | CompiledRun]) -> None:
    """Run a compiled function, once; NumPy runs what it could not."""
    if item.is_done():
        running.pop()
    elif item.is_begun:
        running[-1:] = batches(item.operations, item.paths)
    else:
        item.is_begun = True
        try:
            item.program.run(item.arguments)
        except Exception as error:
            item.program.refuse(error)


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


def to_run(operations: list[Operation], paths: Paths) -> list[Batch | CompiledRun]:
    """Return a compiled run of the operations, or batches for NumPy; last one first."""
    if COMPILES:
        is_seen, is_needed = _visible(operations)
        written = {
            id(o.out if o.out.base is None else o.out.base) for o in operations if not o.is_new
        }
        describer = Describer(paths, written)
        for operation, seen, needed in zip(operations, is_seen, is_needed, strict=True):
            if needed:
                describer.add(operation.call, operation.out, operation.is_new, seen)
        described = describer.described()
        if described is not None:
            program = program_of(described.structure)
            if program.is_due(described.seconds):
                arguments = [*described.arguments, numpy.zeros(1, numpy.int64)]
                return [CompiledRun(program, arguments, operations, paths)]
    return batches(operations, paths)


def batches(operations: list[Operation], paths: Paths) -> list[Any]:
    """Return the operations whose results can be seen, last one first."""
    _, is_needed = _visible(operations)
    made: list[Any] = []
    for at in range(len(operations) - 1, -1, -1):
        operation = operations[at]
        if not is_needed[at] and not _warns(operation):
            REPORT.left_out()
            continue
        if not made or made[-1].settings is not operation.settings:
            made.append(Batch([], [], [], operation.settings))
        made[-1].calls.append(operation.call)
        made[-1].places.append(operation.place())
        is_form = type(operation.call[0]) is Form
        made[-1].forms.append(operation.call if is_form else None)
    for batch in made:
        batch.calls.insert(0, None)
    REPORT.ran(sum(len(batch.places) for batch in made))
    return made


def _visible(operations: list[Operation]) -> tuple[list[bool], list[bool]]:
    """Return which results can be seen after the window, and which operations have to run.

    A result is seen if anything but operations refers to its memory. An operation has to run if its
    result is seen, or read by one that has to run.
    """
    counts: dict[int, int] = {}
    views: dict[int, Any] = {}
    for operation in operations:
        for item in (operation.out, *operation.call):
            at = id(item)
            counts[at] = counts.get(at, 0) + 1
            if at not in views and type(item) is numpy.ndarray and item.base is not None:
                views[at] = item
    item = operation = None  # type: ignore[assignment]  # each would be one reference more
    for at in views:
        if sys.getrefcount(views[at]) - counts[at] == _VIEW_REFERENCES:
            base = id(views[at].base)  # only operations see the base through this view
            counts[base] = counts.get(base, 0) + 1
    is_seen = [False] * len(operations)
    is_needed = [False] * len(operations)
    read: set[int] = set()
    for at in range(len(operations) - 1, -1, -1):
        operation = operations[at]
        others = sys.getrefcount(operation.out) - counts[id(operation.out)] - _REFERENCES
        is_seen[at] = bool(others) or not operation.is_new
        if is_seen[at] or id(operation.out) in read:
            is_needed[at] = True
            used = map(id, operation.call)
            read.update(id(views[at].base) if at in views else at for at in used)
    return is_seen, is_needed


def _warns(operation: Operation) -> bool:
    """Whether an operation may show a warning: then it runs."""
    may_warn = operation.name in _INTEGER_DIVISIONS or any(
        type(item) is numpy.ndarray and item.dtype.kind in "fc" for item in operation.call
    )
    return may_warn and any(how != "ignore" for how in operation.settings.values())


def _measured_references() -> tuple[int, int]:
    """Return the references to ``out`` and to a view that `_visible` sees beside those known."""
    global _REFERENCES, _VIEW_REFERENCES
    for _REFERENCES in range(-3, 9):
        out = numpy.empty(1)
        operation = Operation((out,), out, "", True, {}, _warn.__code__, 0, {})
        del out
        if _visible([operation])[0] == [False]:
            break
    del operation
    for _VIEW_REFERENCES in range(9):
        out = numpy.empty(1)
        view = out[:]
        operations = [
            Operation((out,), out, "", True, {}, _warn.__code__, 0, {}),
            Operation((view,), view, "", False, {}, _warn.__code__, 0, {}),
        ]
        del out, view
        if _visible(operations)[0] == [False, True]:
            break
    return _REFERENCES, _VIEW_REFERENCES


_REFERENCES, _VIEW_REFERENCES = 0, 0
_measured_references()


def _renew_locks() -> None:
    """Replace the locks that threads of the parent process may hold."""
    for each in list(_WINDOWS):
        each.lock = threading.RLock()


atexit.register(flush_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=flush_all, after_in_child=_renew_locks)
