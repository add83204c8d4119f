"""`dispatcher_of`: what finds or makes variants for the calls of a decorated function."""

from __future__ import annotations

from typing import Any

from fusejit.errors import CutShort


def dispatcher_of(function: Any) -> Any:
    """That of a decorated function; None for other objects, and where there can be none."""
    state = getattr(function, "__fusejit_state__", None)
    try:
        return None if state is None else state.dispatcher
    except CutShort:
        return None
