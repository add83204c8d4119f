"""A file of gaps: which programs of a corpus do not do yet what they should, and why.

Each line is ``program form: why``. Programs in it are expected to fail as it says there; with
``FUSEJIT_UPDATE_PROGRAMS=1`` the tests of a corpus write the file again.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

UPDATE = os.environ.get("FUSEJIT_UPDATE_PROGRAMS") == "1"
_REASON_LENGTH = 200


class Gaps:
    """The gaps of a file, and those that a run of tests finds.

    Attributes
    ----------
    path : Path
        The file.
    known : dict
        ``(program, form) -> why``, as the file says.
    """

    def __init__(self, path: Path, root: Path) -> None:
        self.path = path
        self.known = self._read()
        self._root = root
        self._found: dict[tuple[str, str], str] = {}
        self._tried: set[tuple[str, str]] = set()

    def _read(self) -> dict[tuple[str, str], str]:
        gaps = {}
        for line in self.path.read_text().splitlines():
            place, _, reason = line.partition(": ")
            name, form = place.split()
            gaps[name, form] = reason
        return gaps

    def try_now(self, name: str, form: str) -> str:
        """Say that a program runs now; returns why it is expected to fail, or an empty text."""
        self._tried.add((name, form))
        return self.known.get((name, form), "")

    def note(self, name: str, form: str, reason: str) -> str:
        """Keep a gap for the file, in one line that holds no path of this clone; the line."""
        text = re.sub(r"\s+", " ", reason).replace(f"{self._root}/", "")[:_REASON_LENGTH]
        self._found[name, form] = text
        return text

    def write(self, names: Iterable[str], forms: Sequence[str]) -> None:
        """Write the file, in the order of ``names``; the lines of programs not run stay."""
        gaps = {p: why for p, why in self._read().items() if p not in self._tried} | self._found
        places = [(name, form) for name in names for form in forms]
        lines = [f"{p[0]} {p[1]}: {gaps[p]}\n" for p in places if p in gaps]
        self.path.write_text("".join(lines))
