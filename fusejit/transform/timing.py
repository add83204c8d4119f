"""Measured times of schedules, and the progress of measuring."""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

T = TypeVar("T")


def median_seconds(
    calls: Sequence[Callable[[], Any]], rounds: int, what: str = "timing"
) -> list[float]:
    """The median seconds of each call, which take turns: what slows one round slows all."""
    times: list[list[float]] = [[] for _ in calls]
    for call in calls:  # the first call finds no memory and no threads
        call()
    for _ in with_progress(range(rounds), what):
        for call, found in zip(calls, times, strict=True):
            begin = time.perf_counter()
            call()
            found.append(time.perf_counter() - begin)
    return [sorted(found)[rounds // 2] for found in times]


def with_progress(items: Iterable[T], what: str) -> Iterator[T]:
    """The items, with a progress bar on a terminal if the package rich is installed."""
    if not sys.stderr.isatty():
        yield from items
        return
    try:
        progress = importlib.import_module("rich.progress")
        console = importlib.import_module("rich.console").Console(stderr=True)
    except ImportError:
        yield from items
        return
    yield from progress.track(items, what, console=console, transient=True)
