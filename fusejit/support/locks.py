"""Locks that a forked child can take, and that no signal leaves held.

A Python handler of a signal runs between any two instructions of the main thread, and may raise. A
lock whose ``__enter__`` is Python code can then be taken and never given back; `_thread.RLock` has
no instruction between taking it and the body of the ``with``.

A child has the locks of its parent, but only the thread that forked. The rules:

- No hook before a fork waits for a thread that compiles: it may wait for a lock that an earlier
  hook has taken (`logging` takes its own). Hooks wait for kernels and calls of NumPy, with a limit.
- fusejit's locks are in one table. A child frees those that threads of the parent held.
- A thread that imports, traces or compiles holds a `WorkLock`. A child in which another thread held
  one, or the lock of an import, of Numba or of LLVM, compiles nothing: modules, caches and LLVM may
  be incomplete in it, and the locks of others stay taken. Python runs what was not compiled before
  (`cut_short`).

Examples
--------
>>> lock = ForkSafeLock()
>>> with lock, lock:  # one thread may hold it twice
...     pass
>>> cut_short()
''
"""

from __future__ import annotations

import _thread
import os
import sys
import weakref
from collections.abc import Callable, Iterator
from typing import Any, Generic, Self, TypeVar, overload

Value = TypeVar("Value")

_RLock: Any = _thread.RLock  # a class that may be inherited from, whatever its stub says

OF_OTHERS = (
    ("using LLVM", "llvmlite.binding.ffi", "lib._lock._lock"),
    ("compiling with Numba", "numba.core.compiler_lock", "global_compiler_lock._lock"),
)
"""Locks of others that compiling takes: what their holder does, module and path."""


class ForkSafeLock(_RLock):  # type: ignore[misc]
    """A reentrant lock that is free in a forked child, unless the forking thread held it itself."""

    is_of_work = False

    def __init__(self) -> None:
        super().__init__()
        _locks[id(self)] = self

    def is_anothers(self) -> bool:
        """Whether another thread holds it."""
        return not _may_be_taken(self)

    def renew(self) -> bool:
        """In a forked child: forget a holder that does not live on here; whether there was one."""
        if not self.is_anothers():
            return False
        self._at_fork_reinit()
        return True


class WorkLock(ForkSafeLock):
    """A lock held while something is imported, traced or compiled."""

    is_of_work = True


class CachedProperty(Generic[Value]):
    """`functools.cached_property` without the lock that it takes before Python 3.12."""

    def __init__(self, compute: Callable[[Any], Value]) -> None:
        self._compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...

    @overload
    def __get__(self, instance: object, owner: type) -> Value: ...

    def __get__(self, instance: Any, owner: type) -> Any:
        """What is computed for an object; of two threads that do, one is the first."""
        if instance is None:
            return self
        return vars(instance).setdefault(self._name, self._compute(instance))


_locks: weakref.WeakValueDictionary[int, ForkSafeLock] = weakref.WeakValueDictionary()
_cut_short = ""
_forks = 0


def cut_short() -> str:
    """Describe the work that another thread did during the fork; empty if compiling is safe."""
    return _cut_short


def forks() -> int:
    """How many forks lie between this process and the one that imported fusejit."""
    return _forks


def others_work() -> bool:
    """Whether another thread imports, traces or compiles at the moment."""
    return any(lock.is_of_work and lock.is_anothers() for lock in _all())


def _all() -> Iterator[ForkSafeLock]:
    found = (reference() for reference in _locks.valuerefs())  # a copy: threads add more
    return (lock for lock in found if lock is not None)


def _may_be_taken(lock: Any) -> bool:
    """Whether no other thread holds a lock."""
    if not lock.acquire(blocking=False):
        return False
    lock.release()
    return True


def _renew_all() -> None:
    """In a forked child: free fusejit's locks, and record what was cut short."""
    global _cut_short, _forks
    _forks += 1
    stopped = [lock.is_of_work for lock in _all() if lock.renew()]
    found = [*_stopped_imports(), *_stopped_compilers(), *(["compiling"] if any(stopped) else [])]
    if found:
        _cut_short = f"another thread was {found[0]} when this process was forked"


def _stopped_imports() -> Iterator[str]:
    """Yield the imports of threads that the child does not have: these locks stay taken.

    Source
    ------
    CPython, Lib/importlib/_bootstrap.py, ``_ModuleLock``.
    """
    bootstrap: Any = sys.modules.get("_frozen_importlib")
    for name, reference in list(getattr(bootstrap, "_module_locks", {}).items()):
        lock = reference()
        owner, inner = getattr(lock, "owner", None), getattr(lock, "lock", None)
        is_anothers = owner is not None and owner != _thread.get_ident()
        if is_anothers or (inner is not None and not _may_be_taken(inner)):
            yield f"importing {name}"


def _stopped_compilers() -> Iterator[str]:
    """Yield the compilers at work in threads that the child does not have."""
    for doing, module, path in OF_OTHERS:
        lock: Any = sys.modules.get(module)
        for name in path.split("."):
            lock = getattr(lock, name, None)
        if lock is not None and not _may_be_taken(lock):
            yield doing


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_all)
