"""Locks that a forked child can take, whichever thread of the parent held them.

Examples
--------
>>> lock = ForkSafeLock()
>>> with lock, lock:  # one thread may hold it twice
...     pass
"""

from __future__ import annotations

import os
import threading
import weakref


class ForkSafeLock:
    """A reentrant lock that is free in a forked child: only the forking thread lives on there."""

    __slots__ = ("__weakref__", "_lock")

    def __init__(self) -> None:
        self._lock = threading.RLock()
        _locks.add(self)

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    def renew(self) -> None:
        """Forget who holds it."""
        self._lock = threading.RLock()


_locks: weakref.WeakSet[ForkSafeLock] = weakref.WeakSet()


def _renew_all() -> None:
    for lock in _locks:
        lock.renew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_all)
