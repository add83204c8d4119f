"""Locks that a forked child can take, and that no signal leaves held.

A Python handler of a signal runs between any two instructions of the main thread, and may raise. A
lock whose ``__enter__`` is Python code can then be taken and never given back; `_thread.RLock` has
no instruction between taking it and the body of the ``with``.

Examples
--------
>>> lock = ForkSafeLock()
>>> with lock, lock:  # one thread may hold it twice
...     pass
"""

from __future__ import annotations

import _thread
import os
import weakref
from typing import Any

_RLock: Any = _thread.RLock  # a class that may be inherited from, whatever its stub says


class ForkSafeLock(_RLock):  # type: ignore[misc]
    """A reentrant lock that is free in a forked child, unless the forking thread held it itself."""

    def __init__(self) -> None:
        super().__init__()
        _locks.add(self)

    def renew(self) -> None:
        """In a forked child: forget a holder that does not live on here."""
        if not self._is_owned():
            self._at_fork_reinit()


_locks: weakref.WeakSet[ForkSafeLock] = weakref.WeakSet()


def _renew_all() -> None:
    for lock in _locks:
        lock.renew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_all)
