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
    """A reentrant lock that is free in a forked child, unless the forking thread held it itself."""

    __slots__ = ("__weakref__", "_depth", "_lock", "_owner")

    def __init__(self) -> None:
        self._free()
        _locks.add(self)

    def _free(self) -> None:
        self._lock = threading.RLock()
        self._owner = 0  # the thread that holds it, and how often
        self._depth = 0

    def __enter__(self) -> None:
        self._lock.acquire()
        self._owner = threading.get_ident()
        self._depth += 1

    def __exit__(self, *_: object) -> None:
        self._depth -= 1
        if not self._depth:
            self._owner = 0
        self._lock.release()

    def renew(self) -> None:
        """In a forked child: forget a holder that does not live on here."""
        if self._owner != threading.get_ident():
            self._free()


_locks: weakref.WeakSet[ForkSafeLock] = weakref.WeakSet()


def _renew_all() -> None:
    for lock in _locks:
        lock.renew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_all)
