"""What a run is at, from its first second on: a bar in a terminal, else a line now and then."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

LINE_EVERY_S = 10.0
"""Where there is no terminal a log is written, in which a line for each case is too much."""


class RunProgress:
    """Tells on standard error which case is being measured, and of how many.

    Parameters
    ----------
    console
        Where to; a terminal gets a bar that is gone afterwards.
    total
        How many cases there are.
    clock
        Seconds; another one in tests.
    """

    def __init__(
        self, console: Console, total: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._console = console
        self._total = total
        self._clock = clock
        self._done = 0
        self._start = clock()
        self._told: float | None = None
        self._bar = Progress(
            TextColumn("{task.description:44}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._task = self._bar.add_task("", total=total)

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._bar.stop()

    def at(self, what: str) -> None:
        """Something begins: a case, or what comes before the first one."""
        self._bar.update(self._task, description=what)
        now = self._clock()
        is_due = self._told is None or now - self._told >= LINE_EVERY_S
        if not self._console.is_terminal and is_due:
            self._told = now
            self._console.print(
                f"{now - self._start:5.0f} s  {self._done}/{self._total}  {what}", soft_wrap=True
            )

    def advance(self) -> None:
        """A case is done."""
        self._done += 1
        self._bar.advance(self._task)
