"""`report`: what became of the operations on `Array` objects, in all and line by line.

With ``FUSEJIT_REPORT=1`` in the environment the report is printed to stderr when Python exits.
"""

from __future__ import annotations

import atexit
import linecache
import os
import sys
from collections import Counter
from types import CodeType

LONGEST_SOURCE = 60  # characters of a line that are shown

_PACKAGES = ("fusejit", "numpy", "threading", "contextlib")


class Line:
    """Counts of one place in the source.

    ``num_bytes`` are bytes of results that compiled windows neither wrote nor read.
    """

    def __init__(self, code: CodeType, instruction: int) -> None:
        self.code, self.instruction = code, instruction
        self.recorded = self.compiled = self.left_out = self.num_bytes = 0
        self.at_once: Counter[str] = Counter()
        self.flushes: Counter[str] = Counter()

    def add(self, other: Line) -> None:
        """Add the counts of another place."""
        for name in ("recorded", "compiled", "left_out", "num_bytes"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.at_once += other.at_once
        self.flushes += other.flushes

    def __str__(self) -> str:
        parts = []
        if self.recorded:
            ran = f"{self.recorded} recorded, {self.compiled} of them ran in compiled windows"
            parts.append(ran + (f", {self.left_out} were left out" if self.left_out else ""))
        if self.num_bytes:
            parts.append(f"{self.num_bytes / 1e6:.1f} MB not moved")
        parts += [f"{n} at once: {name}" for name, n in self.at_once.most_common()]
        parts += [
            f"{n} flushes: {reason}" if n > 1 else f"a flush: {reason}"
            for reason, n in self.flushes.most_common()
        ]
        return "; ".join(parts)


class Report:
    """Counts since the start of the process or the last `clear`.

    Attributes
    ----------
    recorded, num_left_out : int
        Operations that were recorded; those that did not run, since nobody could see their results.
    flushes, refused : Counter of str
        Why recorded operations ran; why windows could not be compiled.
    compiled, runs, compile_seconds
        Windows that were compiled, flushes that these ran, seconds that the program waited for it.
    lines : dict
        A `Line` for the id of each code and each instruction.
    """

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Begin to count at zero."""
        self.recorded = self.num_left_out = self.compiled = self.runs = 0
        self.compile_seconds = 0.0
        self.flushes: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()
        self.lines: dict[tuple[int, int], Line] = {}

    @property
    def operations(self) -> Counter[str]:
        """Operations that NumPy ran at once, by name."""
        return sum((line.at_once for line in self.lines.values()), Counter())

    def line(self, code: CodeType, instruction: int) -> Line:
        """The counts of a place."""
        found = self.lines.get((id(code), instruction))
        if found is None:
            found = self.lines[id(code), instruction] = Line(code, instruction)
        return found

    def count(self, operation: str) -> None:
        """Note one operation that NumPy runs at once."""
        self._callers_line().at_once[operation] += 1

    def flushed(self, reason: str) -> None:
        """Note that recorded operations run."""
        self.flushes[reason] += 1
        self._callers_line().flushes[reason] += 1

    def _callers_line(self) -> Line:
        frame = sys._getframe(2)
        while frame.f_back and frame.f_globals.get("__name__", "").startswith(_PACKAGES):
            frame = frame.f_back
        return self.line(frame.f_code, frame.f_lasti)

    def __str__(self) -> str:
        at_once = self.operations
        lines = [f"{at_once.total()} operations ran at once"]
        lines += [f"  {name}: {n}" for name, n in at_once.most_common()]
        lines.append(f"{self.recorded} operations recorded, {self.num_left_out} of them left out")
        lines.append(f"{self.flushes.total()} flushes")
        lines += [f"  {reason}: {n}" for reason, n in self.flushes.most_common()]
        if self.compiled:
            took = f"in {self.compile_seconds:.2f} s"
            lines.append(f"{self.compiled} windows compiled {took}; they ran {self.runs} flushes")
        lines += [f"  not compiled: {reason}" for reason in self.refused]
        return "\n".join([*lines, *self._by_line()])

    __repr__ = __str__

    def _by_line(self) -> list[str]:
        by_line: dict[tuple[str, int], Line] = {}
        for line in self.lines.values():
            place = line.code.co_filename, line_of(line.code, line.instruction)
            by_line.setdefault(place, Line(line.code, line.instruction)).add(line)
        texts = []
        for (filename, number), line in sorted(by_line.items()):
            source = linecache.getline(filename, number).strip()[:LONGEST_SOURCE]
            texts += [f"{os.path.basename(filename)}:{number}: {source}".rstrip(" :"), f"  {line}"]
        return texts


def line_of(code: CodeType, instruction: int) -> int:
    """Return the line in the file of an instruction."""
    for at, (line, *_) in enumerate(code.co_positions()):
        if at == instruction // 2 and line is not None:
            return line
    return code.co_firstlineno


REPORT = Report()


def report() -> Report:
    """Return the counts of operations on arrays of `fusejit.numpy`; printing it shows a table."""
    return REPORT


if os.environ.get("FUSEJIT_REPORT", "0") not in ("", "0"):
    atexit.register(lambda: print(REPORT, file=sys.stderr))
