"""Ops in the user's lines."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fusejit.ir.ops import Origin
    from fusejit.ir.source import Location


def by_line(origins: Iterable[Origin]) -> list[tuple[Location, str]]:
    """Lines in order, each with its ops: ``(example.py:8, "3 multiply, 2 add")``."""
    counts: dict[Location, dict[str, int]] = {}
    for origin in origins:
        here = counts.setdefault(origin.location, {})
        here[origin.name] = here.get(origin.name, 0) + 1
    return [
        (location, ", ".join(name if n == 1 else f"{n} {name}" for name, n in names.items()))
        for location, names in counts.items()
    ]


def shortened(text: str, width: int) -> str:
    """The text, its end left off beyond ``width`` characters."""
    return text if len(text) <= width else text[: width - 3] + "..."
