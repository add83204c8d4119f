"""Where in the user's program an op comes from."""

from __future__ import annotations

import linecache
from pathlib import Path

from fusejit.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Location:
    """A line of the user's program, with the function it stands in.

    ``inlined_from`` is the call site when the line belongs to a helper the traced function calls.
    """

    file: str
    line: int
    function: str = ""
    inlined_from: Location | None = None

    def __str__(self) -> str:
        return f'"{self.file}":{self.line}'

    @property
    def short(self) -> str:
        """``f.py:3``, or the empty text where it is not known."""
        return f"{Path(self.file).name}:{self.line}" if self.line else ""

    @property
    def text(self) -> str:
        """The line as the user wrote it, or the empty text where there is no source."""
        return linecache.getline(self.file, self.line).strip()


UNKNOWN = Location("<unknown>", 0)
