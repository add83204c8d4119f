"""What each pass does to the IR, and how long it takes."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from fusejit.dataclass import dataclass, field

IR = TypeVar("IR")


@dataclass(frozen=True, slots=True)
class PassRecord:
    """One run of a pass.

    Attributes
    ----------
    of : str
        What it ran over: "graph", or "kernel 0".
    name : str
    seconds : float
        Real time, the verifier's included.
    lines : tuple of int or None
        Of the printed IR, before it and after it; None if it changed nothing, or if the log
        is not detailed.
    """

    of: str
    name: str
    seconds: float
    lines: tuple[int, int] | None = None


ShowFn = Callable[[str, str, str], None]
"""Shows the IR after a pass that has changed it: what it ran over, its name, and the text."""


@dataclass(slots=True)
class PassLog:
    """The runs of all passes for one variant, in order.

    Attributes
    ----------
    is_detailed : bool
        Whether the IR is printed around each pass, to tell what it changed.
    show : callable, optional
        Is given the text after each pass that changed it, if the log is detailed.
    records : list of PassRecord
    """

    is_detailed: bool = False
    show: ShowFn | None = None
    records: list[PassRecord] = field(default_factory=list)

    def run(
        self, of: str, name: str, apply: Callable[[IR], IR], ir: IR, text: Callable[[IR], str]
    ) -> IR:
        """What ``apply`` makes of ``ir``, recorded."""
        before = text(ir) if self.is_detailed else ""
        start = time.perf_counter()
        result = apply(ir)
        seconds = time.perf_counter() - start
        lines = None
        if self.is_detailed:
            after = text(result)
            if after != before:
                lines = before.count("\n") + 1, after.count("\n") + 1
                if self.show is not None:
                    self.show(of, name, after)
        self.records.append(PassRecord(of, name, seconds, lines))
        return result
