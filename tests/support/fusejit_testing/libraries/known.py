"""What is known of libraries: `known.txt`, a pattern and a reason a line.

A test of that name may fail under the judge. Of a function of that name (``module:name``) neither
the numbers in results nor the arguments after the call are compared, for the reason given;
``module:name in test`` says that of its calls in some tests alone.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence
from pathlib import Path

_KNOWN = Path(__file__).with_name("known.txt")


def known_reasons(path: Path = _KNOWN) -> list[tuple[str, str]]:
    """Patterns of tests that fail for another reason than a wrong result, and the reasons."""
    rows = []
    for line in path.read_text().splitlines():
        pattern, bar, reason = line.partition(" | ")
        if bar and not line.startswith("#"):
            rows.append((pattern.strip(), reason.strip()))
    return rows


def reason_of(test: str, known: Sequence[tuple[str, str]]) -> str | None:
    """Why a test may fail under the judge; None if it may not."""
    for pattern, reason in known:
        if fnmatch.fnmatchcase(test, pattern.replace("[", "[[]")):
            return reason
    return None
