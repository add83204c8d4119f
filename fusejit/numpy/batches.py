"""`batches` and `Batch`: what NumPy is to call for the operations of a window, on which threads."""

from __future__ import annotations

import gc
import math
import operator
import os
import threading
from collections import deque
from collections.abc import Sequence
from contextvars import copy_context
from itertools import starmap
from queue import SimpleQueue
from types import CodeType
from typing import Any, NamedTuple

import numpy

from fusejit.numpy.blocks import parts_of, runs_of
from fusejit.numpy.programs import Form
from fusejit.numpy.replay import Uses, with_shared_memory
from fusejit.numpy.report import REPORT, line_of
from fusejit.support.locks import ForkSafeLock, cut_short

SHARED_FROM = 2**21  # elements that a run has to compute so that several threads compute it

Call = tuple[Any, ...]

_INTEGER_DIVISIONS = frozenset({"floor_divide", "remainder", "fmod"})


class Operation(NamedTuple):
    """One call of NumPy that is to be made, and where it was recorded."""

    call: Call  # a function written in C, and ndarrays and numbers
    out: Any  # the memory that it writes; one of the arguments
    name: str  # what NumPy calls it in warnings
    is_new: bool  # whether `out` was made for this operation
    settings: dict[str, str]  # of `numpy.geterr`
    code: CodeType
    instruction: int  # the offset in the code
    scope: dict[str, Any]  # the globals

    def line(self) -> int:
        """Return the line in the file of the code."""
        return line_of(self.code, self.instruction)

    def without_arrays(self, number: int) -> Operation:
        """Return only where the operation was recorded, its name, and its number as ``out``."""
        return self._replace(call=(), out=number)


Warned = list[tuple[Operation, str]]  # operations without arrays, and warnings of them


class Batch:
    """Calls under the same settings, last one first."""

    def __init__(self, settings: dict[str, str], shares: Sequence[Share] = ()) -> None:
        self.settings = settings
        self.shares = shares  # other calls, which may be made at the same time
        self.calls: list[Any] = []  # the first one is None
        self.places: list[Operation] = []  # without arrays
        self.forms: list[Any] = []  # the calls of each `Form`, not made in one step, or None

    def append(self, calls: Sequence[Call], places: Sequence[Operation]) -> None:
        """Add the calls of operations, once or for several blocks, in the order of the program."""
        self.calls += calls
        self.places += [*places] * (len(calls) // len(places))
        self.forms += [call if type(call[0]) is Form else None for call in calls]

    def complete(self) -> None:
        """Turn the order round: all calls are there."""
        self.calls.append(None)
        for each in self.calls, self.places, self.forms:
            each.reverse()
        for share in self.shares:
            share.batch.complete()

    def run(self, warned: Warned) -> None:
        """Make the calls, on several threads if there are shares.

        An exception of a signal handler may leave some; then `run` is called again.
        """
        if not self.shares:
            return self.run_here(warned)
        try:
            _share(self, True)
            for share in self.shares:
                _QUEUE.put((share, warned))
            self.run_here(warned)
            for share in self.shares:
                share.finish(warned)
        finally:
            _share(self, False)

    def run_here(self, warned: Warned) -> None:
        """Make the calls on this thread.

        There is no line of Python between them, so that what a signal handler raises cannot lose
        one.
        """
        calls, places, forms = self.calls, self.places, self.forms
        if len(calls) < 2:
            return

        def note(kind: str, _flag: int) -> None:
            place = places[len(calls) - 1]
            warned.append((place, f"{kind} encountered in {place.name}"))

        collecting: Any = {
            kind: "call" if how == "warn" else how for kind, how in self.settings.items()
        }
        numpy.seterrcall(note)
        numpy.seterr(**collecting)
        try:
            deque(starmap(operator.call, iter(calls.pop, None)), maxlen=0)
        except BaseException as error:
            if type(error) is IndexError and not calls:
                return  # a finalizer of an object has used an array meanwhile
            if 0 < len(calls) <= len(places):
                at = len(calls) - 1
                place = places[at]
                if isinstance(error, Exception):
                    error.add_note(f"recorded at {place.code.co_filename}:{place.line()}")
                if forms[at] is not None:  # it may have been interrupted: once more
                    calls.append(forms[at])
                    forms[at] = None
            raise


class Share:
    """A batch that a worker runs, or the thread that waits for it if no worker has begun it."""

    def __init__(self, batch: Batch) -> None:
        self.batch = batch
        self._runner: dict[str, str] = {}
        self._errors: list[BaseException] = []
        self._is_done = threading.Event()

    def work(self, warned: Warned) -> None:
        """Run it on a worker, if nothing else does."""
        if self._is_run_by("worker"):
            try:
                copy_context().run(self.batch.run_here, warned)
            except BaseException as error:
                self._errors.append(error)
            finally:
                self._is_done.set()

    def finish(self, warned: Warned) -> None:
        """Wait for the worker, raise what it has raised, and run what it has left."""
        if not self._is_run_by("waiter"):
            self._is_done.wait()
        if self._errors:
            raise self._errors.pop()
        self.batch.run_here(warned)

    def leave(self) -> None:
        """In a child process, which has no worker: what it has left is run by who waits."""
        self._is_done = threading.Event()
        self._is_done.set()

    def _is_run_by(self, name: str) -> bool:
        """Whether the first to ask was the one of this name: the worker or who waits for it."""
        return self._runner.setdefault("name", name) == name


_SHARED: set[Batch] = set()  # those that workers help with
_LOCK = ForkSafeLock()
_collects = True


def _share(batch: Batch, begins: bool) -> None:
    """Rest the garbage collector: a finalizer on a worker could wait for who waits for it."""
    global _collects
    with _LOCK:
        if begins:
            _collects = _collects if _SHARED else gc.isenabled()
            _SHARED.add(batch)
            gc.disable()
            return
        _SHARED.discard(batch)
        if _collects and not _SHARED:
            gc.enable()


_QUEUE: SimpleQueue[tuple[Share, Warned]] = SimpleQueue()
_WORKERS: list[threading.Thread] = []


def _work(queue: SimpleQueue[tuple[Share, Warned]]) -> None:
    while True:
        share, warned = queue.get()
        share.work(warned)
        del share, warned


def _num_threads() -> int:
    """Start the workers, and return how many threads there are with the caller."""
    if cut_short():
        return 1
    from fusejit.codegen.machine.pool import get_num_threads  # not needed for small arrays

    wanted = get_num_threads()
    try:
        while len(_WORKERS) < wanted - 1:
            worker = threading.Thread(target=_work, args=(_QUEUE,), daemon=True)
            worker.start()
            _WORKERS.append(worker)
    except RuntimeError:  # the system or the interpreter allows no more
        pass
    return min(wanted, len(_WORKERS) + 1)


def _forget_workers() -> None:
    """In a child process, which has none."""
    global _QUEUE
    _QUEUE = SimpleQueue()
    _WORKERS.clear()
    for batch in [*_SHARED]:
        for share in batch.shares:
            share.leave()
        _share(batch, False)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_workers)


def batches(
    operations: list[Operation],
    is_seen: list[bool],
    is_needed: list[bool],
    uses: Uses,
    *,
    is_shared: bool = True,
) -> tuple[list[Batch], set[int]]:
    """Return the operations that have to run, last one first, and the ids of what they use.

    Workers help with large ones if they are shared.
    """
    kept = [at for at, needed in enumerate(is_needed) if needed or _warns(operations[at])]
    REPORT.num_left_out += len(operations) - len(kept)
    window = [operations[at] for at in kept]
    places = [operation.without_arrays(at) for at, operation in enumerate(window)]
    hidden = [operations[at].is_new and not is_seen[at] for at in kept]
    runs = runs_of(window)
    calls = with_shared_memory(
        [o.call for o in window], [o.out for o in window], hidden, uses, runs
    )
    run_at = {run.start: run for run in runs}
    made: list[Batch] = []
    at = 0
    while at < len(calls):
        run, settings = run_at.get(at), places[at].settings
        stop = at + 1 if run is None else run.stop
        parts = [calls[at:stop]]
        if run is not None:
            is_large = is_shared and math.prod(run.shape) * (stop - at) >= SHARED_FROM
            parts = parts_of(run, parts[0], _num_threads() if is_large else 1)
        first, *others = parts
        if not made or made[-1].settings is not settings or made[-1].shares or others:
            made.append(Batch(settings, [Share(Batch(settings)) for _ in others]))
        made[-1].append(first, places[at:stop])
        for share, part in zip(made[-1].shares, others, strict=True):
            share.batch.append(part, places[at:stop])
        at = stop
    for batch in made:
        batch.complete()
    made.reverse()
    return made, {id(item) for call in calls for item in call}


def _warns(operation: Operation) -> bool:
    """Whether an operation may show a warning: then it runs."""
    may_warn = operation.name in _INTEGER_DIVISIONS or any(
        type(item) is numpy.ndarray and item.dtype.kind in "fc" for item in operation.call
    )
    return may_warn and any(how != "ignore" for how in operation.settings.values())
