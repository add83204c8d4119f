"""Signals: what their handlers raise is the user's, wherever in fusejit it is raised.

Python runs a handler of a signal in the main thread, between any two instructions, and what the
handler raises (`KeyboardInterrupt`, a time limit of the user's) comes out of whatever runs there.
Two things follow. Such an exception is no failure of ours (`is_from_handler`). And work that must
not end in the middle, the import of Numba for one, which leaves Numba unusable in the process, runs
in a thread of its own (`run_uninterruptible`): the main thread waits for it, and is free to raise.

Examples
--------
>>> apart(lambda: 6 * 7)
42
"""

from __future__ import annotations

import _imp
import _thread
import atexit
import contextlib
import contextvars
import functools
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from types import CodeType, FrameType
from typing import Any, TypeVar

from fusejit.errors import CutShort
from fusejit.support.locks import WorkLock, cut_short, forks

Result = TypeVar("Result")

FORKED_BY_HANDLER = "the handler of a signal forked this process while it began to compile"
CALLED_BY_NUMBA = "it is called by Numba, which compiles or is being imported"
_COMPILERS = ("numba", "llvmlite")
LONGEST_WAIT = 0.05
"""Seconds. A signal that comes just before a wait begins does not end it (CPython looks for
signals, then waits): its handler runs at the end of the wait."""
_COMPILES: contextvars.ContextVar[bool] = contextvars.ContextVar("_COMPILES", default=False)


def run_uninterruptible(work: Callable[[], Result]) -> Result:
    """The result of ``work()``, which no signal can end in the middle.

    If a handler raises meanwhile, the caller gets that exception at once; the work goes on to its
    end, unseen. Threads other than the main one run no handlers, and do the work themselves; so
    does an import hook, whose lock the imports of other threads wait for.

    Raises
    ------
    CutShort
        In a forked child that cannot do it, or whose thread for it was left behind.
    BaseException
        What ``work`` raises, or what a handler raises.
    """
    if cut_short():
        raise CutShort(cut_short())
    if threading.get_ident() != threading.main_thread().ident or _is_called_by_a_finder():
        return _at_work(work)
    _give_back_import_lock()
    outcome: list[Result] = []
    failure: list[BaseException] = []
    context = contextvars.copy_context()
    is_done = _thread.allocate_lock()
    is_done.acquire()
    born = forks()

    def run() -> None:
        _unfinished[id(is_done)] = is_done
        try:
            outcome.append(context.run(_at_work, work))
        except BaseException as error:
            failure.append(error)
        finally:
            _unfinished.pop(id(is_done), None)
            is_done.release()

    if not started(run):
        return _at_work(work)
    while not is_done.acquire(timeout=LONGEST_WAIT):
        if forks() != born:  # a handler has forked: the child has no such thread
            raise CutShort(cut_short() or FORKED_BY_HANDLER)
    if failure:
        try:
            raise failure[0]
        finally:
            failure.clear()  # the frame and the traceback would keep each other
    return outcome[0]


def _is_called_by_a_finder() -> bool:
    """Whether an import hook runs below."""
    codes = (frame.f_code for frame in frames_below())
    importlib = "<frozen importlib"
    return any(c.co_name == "_find_spec" and c.co_filename.startswith(importlib) for c in codes)


def frames_below() -> Iterator[FrameType]:
    """The frame of whoever asks, and those of its callers."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        yield frame
        frame = frame.f_back


def _give_back_import_lock() -> None:
    """Give back the lock of all imports, if an import that was interrupted has left it taken.

    `importlib` takes it in Python code. A handler that raises between two of its instructions
    leaves the main thread with it, which is free to import; other threads would wait for ever.
    """
    with contextlib.suppress(RuntimeError):  # another thread has it
        while _imp.lock_held():
            _imp.release_lock()


def started(run: Callable[[], None]) -> bool:
    """Start a thread, which the interpreter does not wait for; False if there can be none.

    `threading.Thread.start` and `threading.Event.wait` are Python code that holds locks. If a
    handler raises in them, their own ends fail, and a RuntimeError takes the place of what it
    raised. What the main thread does with threads is done by `_thread` alone.
    """
    try:
        _thread.start_new_thread(run, ())
    except RuntimeError:  # a limit, or the interpreter is about to end
        return False
    return True


_unfinished: dict[int, _thread.LockType] = {}


def _wait_for_work() -> None:
    """Before the interpreter ends: it must not while LLVM is at work."""
    while _unfinished:
        with contextlib.suppress(KeyError):  # it has just ended
            _, is_done = _unfinished.popitem()
            is_done.acquire()


atexit.register(_wait_for_work)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_unfinished.clear)


def _at_work(work: Callable[[], Result]) -> Result:
    token = _COMPILES.set(True)
    try:
        with WorkLock():
            return work()
    finally:
        _COMPILES.reset(token)


def compiler_is_taken() -> bool:
    """Whether whoever asks is called by a compiler that is at work, or by its import.

    An extension of Numba's is such a caller, or a finalizer. What it calls cannot be compiled now:
    `run_uninterruptible` would wait for locks that are held below it.
    """
    modules = (f.f_globals for f in frames_below() if f.f_code.co_name == "<module>")
    names = (str(names.get("__name__", "")) for names in modules)
    return _COMPILES.get() or any(name.partition(".")[0] in _COMPILERS for name in names)


def is_from_handler(error: BaseException) -> bool:
    """Whether a handler of a signal has raised an exception, and not the code that it interrupted.

    A traceback that passes through the function of an installed handler says so.
    """
    handlers = filter(callable, map(signal.getsignal, signal.valid_signals()))
    codes = {code for handler in handlers for code in _codes(handler)}
    entry = error.__traceback__
    while entry is not None:
        if entry.tb_frame.f_code in codes:
            return True
        entry = entry.tb_next
    return False


def _codes(handler: Any) -> Iterator[CodeType]:
    """The code that a call of ``handler`` runs first: of a function, a method or an object."""
    while isinstance(handler, functools.partial):
        handler = handler.func
    for function in (
        handler,
        getattr(handler, "__func__", None),
        vars(type(handler)).get("__call__"),
    ):
        code = getattr(function, "__code__", None)
        if isinstance(code, CodeType):
            yield code
