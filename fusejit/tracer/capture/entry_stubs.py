"""Which functions stand for decorated ones: a trace goes through them to what they compute.

An attribute would not tell: `functools.wraps` copies attributes to wrappers of the user's.
"""

from __future__ import annotations

from typing import Any

from fusejit.identity import served_by


def is_entry_stub(function: Any) -> bool:
    """Whether it stands for a decorated function."""
    return served_by(function) is not None
