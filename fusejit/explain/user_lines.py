"""Describe each line of the user's program: where it runs, and what holds it back."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fusejit.dataclass import dataclass, field
from fusejit.ir.analysis.lines import shortened
from fusejit.ir.source import Location

MAX_SOURCE = 72  # characters of a line of the user's program
MAX_HELD = 4  # kinds of lines in the second line of a report

COMPILED = "compiled"  # a line of numbers alone, which is in no loop
MIN_SENTENCE = 40  # characters of a remark that is not repeated

PYTHON = "Python runs"
NUMPY = "NumPy runs"
MEMORY = "stored in memory"
SERIAL = "on one thread"
SCALAR = "no vector form"
HELD = (PYTHON, NUMPY, MEMORY, SERIAL, SCALAR)
"""What may hold a line back, the most expensive first."""


@dataclass(slots=True)
class UserLine:
    """One line, or the lines of a part that Python runs.

    Attributes
    ----------
    runs : list of str
        What runs it, unless that is a loop.
    loops : list of int
        The numbers of the loops that compute it.
    remarks : list of str
        What else is to be said, as why it is held back.
    held : list of str
        What holds it back, of `HELD`.
    """

    location: Location
    last: int
    runs: list[str] = field(default_factory=list)
    loops: list[int] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    held: list[str] = field(default_factory=list)


class UserLines:
    """The lines of a function and of what it calls.

    Parameters
    ----------
    file : str
        That of the function, whose lines stand first.
    """

    def __init__(self, file: str) -> None:
        self._file = file
        self._lines: dict[tuple[str, int], UserLine] = {}

    def add(
        self,
        location: Location,
        *,
        runs: str = "",
        loop: int = 0,
        remark: str = "",
        held: str = "",
        last: int = 0,
    ) -> None:
        """Note where a line runs, or what holds it back; each remark once."""
        if not location.line:
            return
        key = location.file, location.line
        line = self._lines.setdefault(key, UserLine(location, location.line))
        line.last = max(line.last, last)
        if loop and loop not in line.loops:
            line.loops.append(loop)
        for note, notes in ((runs, line.runs), (remark, line.remarks), (held, line.held)):
            if note and note not in notes:
                notes.append(note)

    def knows(self, location: Location) -> bool:
        """Whether something is known of a line."""
        return (location.file, location.line) in self._lines

    def in_order(self) -> list[UserLine]:
        """All lines: those of the function's file first."""
        return sorted(
            self._lines.values(),
            key=lambda at: (at.location.file != self._file, at.location.file, at.location.line),
        )

    def rows(self) -> list[tuple[str, str, str]]:
        """Place, source and notes of each line; a sentence that stands above is not repeated."""
        said: dict[str, str] = {}
        rows = []
        for line in self.in_order():
            notes = [*line.runs]
            if line.loops:
                notes = [*(n for n in notes if n != COMPILED), _loops_text(line.loops)]
            here = _place(line, self._file)
            for remark in line.remarks:
                above = said.setdefault(remark, here) if len(remark) > MIN_SENTENCE else here
                notes.append(remark if above == here else f"as {above}")
            source = shortened(line.location.text, MAX_SOURCE)
            rows.append((_place(line), source, "; ".join(dict.fromkeys(notes))))
        return rows

    def held_text(self) -> str:
        """Which lines are held back, and how: the second line of a report."""
        parts = []
        for kind in HELD:
            held = [line for line in self.in_order() if kind in line.held]
            if held:
                parts.append(f"{numbers(held, self._file)} ({kind})")
        return "; ".join(parts)


def numbers(lines: Sequence[UserLine], file: str) -> str:
    """``lines 7, 9 to 12``, with the names of other files."""
    texts = [_place(line, file) for line in lines]
    plain = [text.removeprefix("line ").removeprefix("lines ") for text in texts]
    more = f" and {len(plain) - MAX_HELD} more" if len(plain) > MAX_HELD else ""
    one = len(plain) == 1 and texts[0].startswith("line ")
    is_here = any(text.startswith("line") for text in texts)
    word = ("line " if one else "lines ") if is_here else ""
    return word + ", ".join(plain[:MAX_HELD]) + more


def _loops_text(loops: Sequence[int]) -> str:
    """``loop 1``, ``loops 1 to 3`` or ``loops 1, 4``."""
    first, *others = sorted(loops)
    if not others:
        return f"loop {first}"
    if others[-1] - first == len(others):
        return f"loops {first} to {others[-1]}"
    return f"loops {', '.join(map(str, sorted(loops)))}"


def _place(line: UserLine, file: str = "") -> str:
    """``example.py:7 to 9``; in ``file``, ``lines 7 to 9``."""
    first, rest = line.location.line, f" to {line.last}" if line.last > line.location.line else ""
    if line.location.file == file:
        return f"{'lines' if rest else 'line'} {first}{rest}"
    return f"{Path(line.location.file).name}:{first}{rest}"
