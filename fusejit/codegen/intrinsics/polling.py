"""Kernels look for signals: what a handler raises, Ctrl-C for one, ends a long loop.

    w, left = poll_state(units), units
    while ..:
        left = left - 1                 # units of about a nanosecond
        if left <= 0:
            left = poll(w)              # how many until the next time; below 0: leave the kernel

A poll asks the clock. About every 0.1 s, in the main thread, it takes the GIL and runs the handlers
of signals that have come (``PyErr_CheckSignals``); if one raises, its exception stays set, and the
kernel's entry passes it on. `fusejit.codegen.loop_passes.interruptible` says where polls stand.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import threading
from collections.abc import Iterator
from contextvars import ContextVar

from fusejit.codegen.intrinsics.intrinsic_table import python_implementation

MAIN_THREAD_SYMBOL = "fusejit_main_thread"
"""LLVM symbol of a word: the thread that runs handlers of signals."""

FIRST_UNITS = 1 << 14
"""Units of a nanosecond before the first poll: a call of 10 us has none."""

POLL_NS, CHECK_NS = 30_000_000, 100_000_000
"""Between polls, and between looks for signals."""

NEVER = 1 << 62

_word = ctypes.c_uint64(threading.main_thread().ident or 0)
MAIN_THREAD_ADDRESS = ctypes.addressof(_word)


def _renew() -> None:
    _word.value = threading.get_ident()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew)


_can_raise: ContextVar[bool] = ContextVar("fusejit_can_raise", default=True)


@contextlib.contextmanager
def raising(can_raise: bool) -> Iterator[None]:
    """Within, kernels are compiled whose entry passes exceptions on, or not: those never poll."""
    token = _can_raise.set(can_raise)
    try:
        yield
    finally:
        _can_raise.reset(token)


def can_raise() -> bool:
    """What `raising` says."""
    return _can_raise.get()


@python_implementation
def poll_state(units: int) -> int:
    """What polls keep: when the last one was, how many units there were, the last look."""
    return 0


@python_implementation
def poll(w: int) -> int:
    """How many units until the next poll; -1 if a handler has raised. Python itself runs them."""
    return NEVER
