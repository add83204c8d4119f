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

from fusejit.interrupts import is_from_handler
from fusejit.numpy.memory import MOST_BYTES, Memory
from fusejit.numpy.programs import Form, Program, described_window, program_of
from fusejit.numpy.replay import Uses, unused, uses_of, visible, with_shared_memory
from fusejit.numpy.report import REPORT, line_of
from fusejit.numpy.settings import NEVER, threshold

MOST_OPERATIONS = int(os.environ.get("FUSEJIT_LAZY_WINDOW", 64))
"""Operations after which a window is flushed; 0: nothing is recorded."""

COMPILES = os.environ.get("FUSEJIT_LAZY_COMPILES", "1") not in ("", "0")
"""Whether windows that come often are compiled."""

_INTEGER_DIVISIONS = frozenset({"floor_divide", "remainder", "fmod"})

MOST_INPUTS = 32
"""Arrays of the past that the operations of a window may read or write."""


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
    out: Any
    name: str
    is_new: bool
    settings: dict[str, str]
    code: CodeType
    instruction: int
    scope: dict[str, Any]

    def line(self) -> int:
        """Return the line in the file of the code."""
        return line_of(self.code, self.instruction)

    def without_arrays(self) -> Operation:
        """Return only where the operation was recorded, and its name."""
        return self._replace(call=(), out=None)


class CompiledRun:
    """A window that a compiled function is to run, and its operations in case that it cannot.

    The last argument is an array of one element, which the function sets to 1 when all is written.
    """

    __slots__ = ("arguments", "is_begun", "operations", "program")

    def __init__(self, program: Program, arguments: list[Any], operations: list[Operation]) -> None:
        self.program = program
        self.arguments = arguments
        self.operations = operations
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
    places : list of Operation
        The operations without arrays.
    forms : list of tuple or None
        The calls of each `Form`, which are not made in one step.
    settings : dict
    """

    calls: list[Any]
    places: list[Operation]
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
        self.memory = Memory()
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

        ``owners`` are those of the memory that it uses, the last one that of ``out``; ``views`` are
        for `paths`.
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

    def flush(self, reason: str) -> None:
        """Run the recorded operations."""
        warned: list[tuple[Operation, str]] = []
        uses = _NO_USES
        written: set[int] = set()
        raised: list[BaseException] = []
        with self.lock:
            while self.operations or self.running:
                if not self.running:
                    REPORT.flushed(reason)
                    uses = uses_of(self.operations)
                    running, is_seen = to_run(self.operations, self.paths, uses)
                    self._note(is_seen, type(running[-1]) is CompiledRun if running else False)
                    written = _written(running)
                    self.running, self.operations, self.paths = running, [], {}
                try:
                    copy_context().run(_run, self.running, warned)  # keeps the caller's settings
                except BaseException as error:
                    raised.append(error)
            self.memory.take_back(unused(uses), written)
            self.num_inputs = self.num_bytes = 0
            self.epoch += 1
        for place, message in warned:
            _warn(place, message)
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
_WINDOWS: weakref.WeakSet[Window] = weakref.WeakSet()
_claims = threading.Lock()


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


def _run(running: list[Batch | CompiledRun], seen: list[tuple[Operation, str]]) -> None:
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
            kind: str, _flag: int, calls: list[Any] = calls, places: list[Operation] = places
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
        uses = uses_of(item.operations)
        running[-1:] = batches(item.operations, *visible(uses), uses)
    else:
        item.is_begun = True
        try:
            item.program.run(item.arguments)
        except Exception as error:
            if is_from_handler(error):
                raise
            item.program.refuse(error)


def _collecting(settings: dict[str, str]) -> dict[str, Any]:
    return {kind: "call" if how == "warn" else how for kind, how in settings.items()}


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
    operations: list[Operation], paths: Paths, uses: Uses
) -> tuple[list[Batch | CompiledRun], list[bool]]:
    """Return a compiled run of the operations, or batches for NumPy, last one first.

    Also return whether the result of each operation is seen.
    """
    is_seen, is_needed = visible(uses)
    if COMPILES:
        described = described_window(operations, paths, is_seen, is_needed)
        if described is not None:
            program = program_of(described.source)
            arguments = [*described.arguments, numpy.zeros(1, numpy.int64)]
            if program.is_due(described):
                return [CompiledRun(program, arguments, operations)], is_seen
            program.prepare(arguments)
    return batches(operations, is_seen, is_needed, uses), is_seen


def batches(
    operations: list[Operation],
    is_seen: list[bool],
    is_needed: list[bool],
    uses: Uses,
) -> list[Any]:
    """Return the operations that have to run, last one first."""
    kept = [at for at, needed in enumerate(is_needed) if needed or _warns(operations[at])]
    REPORT.num_left_out += len(operations) - len(kept)
    calls = with_shared_memory(
        [operations[at].call for at in kept],
        [operations[at].out for at in kept],
        [operations[at].is_new for at in kept],
        [is_seen[at] for at in kept],
        uses,
    )
    made: list[Any] = []
    for at, call in zip(reversed(kept), reversed(calls), strict=True):
        operation = operations[at]
        if not made or made[-1].settings is not operation.settings:
            made.append(Batch([], [], [], operation.settings))
        made[-1].calls.append(call)
        made[-1].places.append(operation.without_arrays())
        made[-1].forms.append(call if type(call[0]) is Form else None)
    for batch in made:
        batch.calls.insert(0, None)
    return made


def _written(running: list[Batch | CompiledRun]) -> set[int]:
    """Return the ids of the arrays that are read or written."""
    written: set[int] = set()
    for item in running:
        calls = [item.arguments] if isinstance(item, CompiledRun) else item.calls[1:]
        written.update(id(operand) for call in calls for operand in call)
    return written


def _warns(operation: Operation) -> bool:
    """Whether an operation may show a warning: then it runs."""
    may_warn = operation.name in _INTEGER_DIVISIONS or any(
        type(item) is numpy.ndarray and item.dtype.kind in "fc" for item in operation.call
    )
    return may_warn and any(how != "ignore" for how in operation.settings.values())


def _renew_locks() -> None:
    """Replace the locks that threads of the parent process may hold."""
    global _claims
    _claims = threading.Lock()
    for each in list(_WINDOWS):
        each.lock = threading.RLock()


atexit.register(flush_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=flush_all, after_in_child=_renew_locks)
