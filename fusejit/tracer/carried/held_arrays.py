"""Which names hold the arrays of a storage."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.storage import Storage


def is_held(names: Mapping[str, Any], name: str, storage: Storage) -> bool:
    """Whether another name than ``name`` has an array of a storage, or a container of such."""
    return any(_holds(held, storage) for other, held in names.items() if other != name)


def _holds(held: Any, storage: Storage) -> bool:
    if isinstance(held, list | tuple | dict):
        return any(_holds(o, storage) for o in (held.values() if isinstance(held, dict) else held))
    if not isinstance(held, TracedArray):
        return False
    root = held.storage.root
    return root is storage or storage in root.copied_from
