"""`report`: what the operations on `Array` objects were, and how often each ran."""

from __future__ import annotations

from collections import Counter


class Report:
    """Counts of operations since the start of the process or the last `clear`."""

    def __init__(self) -> None:
        self.operations: Counter[str] = Counter()

    def count(self, operation: str) -> None:
        """Note one operation that NumPy ran at once."""
        self.operations[operation] += 1

    def clear(self) -> None:
        """Begin to count at zero."""
        self.operations.clear()

    def __str__(self) -> str:
        lines = [f"{sum(self.operations.values())} operations ran at once"]
        lines += [f"  {name}: {n}" for name, n in self.operations.most_common()]
        return "\n".join(lines)

    __repr__ = __str__


REPORT = Report()


def report() -> Report:
    """Return the counts of operations on arrays of `fusejit.numpy`; printing it shows a table."""
    return REPORT
