"""Measured times of schedules, and the progress of measuring."""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from numbers import Integral
from typing import Any, TypeVar

T = TypeVar("T")

ROUND_SECONDS = 1e-3
"""Short calls are repeated until a round takes about as long."""

MAX_CALLS = 1000


def median_seconds(calls: Sequence[Callable[[], Any]], rounds: int) -> list[float]:
    """The median seconds of each call, which take turns: what slows one round slows all."""
    if isinstance(rounds, bool) or not isinstance(rounds, Integral) or rounds < 1:
        raise ValueError(f"rounds is {rounds!r}; it is a whole number, at least 1")
    times: list[list[float]] = [[] for _ in calls]
    numbers: list[int] = []
    for call in calls:
        call()  # finds no memory and no threads
        numbers.append(max(1, min(MAX_CALLS, int(ROUND_SECONDS / (_seconds(call, 1) + 1e-9)))))
    for _ in with_progress(range(rounds), "timing"):
        for call, number, found in zip(calls, numbers, times, strict=True):
            found.append(_seconds(call, number))
    return [sorted(found)[rounds // 2] for found in times]


def _seconds(call: Callable[[], Any], number: int) -> float:
    """The mean seconds of some calls in a row."""
    begin = time.perf_counter()
    for _ in range(number):
        call()
    return (time.perf_counter() - begin) / number


def with_progress(items: Iterable[T], what: str) -> Iterator[T]:
    """The items, with a progress bar on a terminal if the package rich is installed."""
    if sys.stderr.isatty():
        with suppress(ImportError):
            progress = importlib.import_module("rich.progress")
            console = importlib.import_module("rich.console").Console(stderr=True)
            items = progress.track(items, what, console=console, transient=True)
    yield from items
