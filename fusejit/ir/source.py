"""Where in the user's program an op comes from."""

from __future__ import annotations

from dataclasses import dataclass


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


UNKNOWN = Location("<unknown>", 0)
