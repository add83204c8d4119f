"""`report`: what the operations on `Array` objects were, and how often each ran."""

from __future__ import annotations

from collections import Counter


class Report:
    """Counts of operations since the start of the process or the last `clear`.

    Attributes
    ----------
    operations : Counter of str
        Operations that ran at once, by name.
    recorded : int
        Operations that were recorded.
    num_run : int
        Recorded operations that ran.
    num_left_out : int
        Recorded operations whose results nobody could see: they did not run.
    flushes : Counter of str
        Flushes, by their reasons.
    compiled : int
        Windows that were compiled.
    runs : int
        Flushes that a compiled function ran.
    refused : Counter of str
        Why windows could not be compiled.
    """

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Begin to count at zero."""
        self.operations: Counter[str] = Counter()
        self.recorded = self.num_run = self.num_left_out = 0
        self.flushes: Counter[str] = Counter()
        self.compiled = self.runs = 0
        self.refused: Counter[str] = Counter()

    def count(self, operation: str) -> None:
        """Note one operation that NumPy ran at once."""
        self.operations[operation] += 1

    def flushed(self, reason: str) -> None:
        """Note that recorded operations run."""
        self.flushes[reason] += 1

    def ran(self, count: int, left_out: int) -> None:
        """Note recorded operations that NumPy runs, and those that nobody needs."""
        self.num_run += count
        self.num_left_out += left_out

    def __str__(self) -> str:
        lines = [f"{sum(self.operations.values())} operations ran at once"]
        lines += [f"  {name}: {n}" for name, n in self.operations.most_common()]
        lines.append(f"{self.recorded} operations recorded, {self.num_left_out} of them left out")
        lines.append(f"{sum(self.flushes.values())} flushes")
        lines += [f"  {reason}: {n}" for reason, n in self.flushes.most_common()]
        if self.compiled:
            lines.append(f"{self.compiled} windows compiled, which ran {self.runs} of the flushes")
        lines += [f"  not compiled: {reason}" for reason in self.refused]
        return "\n".join(lines)

    __repr__ = __str__


REPORT = Report()


def report() -> Report:
    """Return the counts of operations on arrays of `fusejit.numpy`; printing it shows a table."""
    return REPORT
