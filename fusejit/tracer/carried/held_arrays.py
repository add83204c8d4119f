"""What holds the arrays of a storage: other names, containers, and attributes of objects."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from fusejit.tracer.builder.trace import Trace
from fusejit.tracer.carried.attributes import Objects
from fusejit.tracer.carried.outside_attributes import OutsideAttributes
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.storage import Storage

_DEPTH = 4  # of containers and objects within each other; deeper ones may hold anything


def is_held(trace: Trace, names: Mapping[str, Any], name: str, storage: Storage) -> bool:
    """Whether something other than ``name`` has an array of a storage."""
    others = [held for other, held in names.items() if other != name]
    others += trace.owned(OutsideAttributes).held()
    return _is_among(others, storage, trace.owned(Objects), _DEPTH)


def _is_among(items: Iterable[Any], storage: Storage, objects: Objects, depth: int) -> bool:
    return any(_holds(item, storage, objects, depth) for item in items)


def _holds(held: Any, storage: Storage, objects: Objects, depth: int) -> bool:
    if isinstance(held, TracedArray):
        root = held.storage.root
        return root is storage or storage in root.copied_from
    if isinstance(held, list | tuple):
        items: Sequence[Any] = held
    elif isinstance(held, dict):
        items = [*held.values()]
    else:
        items = objects.content(held)
    return bool(items) and (depth == 0 or _is_among(items, storage, objects, depth - 1))
