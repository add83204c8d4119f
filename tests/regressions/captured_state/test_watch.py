"""Tracing stopped when a GC callback or signal handler ran: its code counted as the program."""

from __future__ import annotations

import gc
import signal
from typing import Any

import numpy as np
import pytest

from fusejit_testing.oracle import check


def collects(x: Any) -> Any:
    y = x + len([[] for _ in range(3000)])  # enough objects for a collection
    return y * 2


def test_callbacks_of_the_garbage_collector() -> None:
    phases: list[str] = []

    def callback(phase: str, info: Any) -> None:
        phases.append(phase)

    gc.callbacks.append(callback)
    threshold = gc.get_threshold()
    gc.set_threshold(50)  # the tests have a larger one
    try:
        for _ in range(100):  # another thread that compiles holds the collector back
            check(collects, (np.ones(3),))
            if phases:
                break
    finally:
        gc.set_threshold(*threshold)
        gc.callbacks.remove(callback)
    assert phases


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs interval timers")
def test_signal_handlers() -> None:
    handled: list[int] = []

    def handler(number: int, frame: Any) -> None:
        handled.append(number)

    before = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
    try:
        check(collects, (np.ones(3),))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert handled
