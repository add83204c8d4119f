"""What holds the arrays of a storage: other names, and all that these lead to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from fusejit.tracer.builder.trace import Trace
from fusejit.tracer.carried.attributes import Objects
from fusejit.tracer.carried.outside_attributes import OutsideAttributes
from fusejit.tracer.indexing.iteration import Items
from fusejit.tracer.program.python_state import content, may_hold_others
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.storage import Storage

_MAX_OBJECTS = 10_000  # that are looked at; more may hold anything


def is_held(trace: Trace, names: Mapping[str, Any], name: str, storage: Storage) -> bool:
    """Whether something other than ``name`` has an array of a storage.

    Another name, a container, an attribute, an iterator, a function that has it as a default value
    or in a cell, a bound method.
    """
    objects = trace.owned(Objects)
    pending = [held for other, held in names.items() if other != name]
    pending += trace.owned(OutsideAttributes).held()
    seen: set[int] = set()
    while pending:
        one = pending.pop()
        if isinstance(one, TracedArray):
            root = one.storage.root
            if root is storage or storage in root.copied_from:
                return True
        elif id(one) not in seen:
            seen.add(id(one))
            if len(seen) > _MAX_OBJECTS:
                return True
            pending += _held_by(one, objects)
    return False


def _held_by(obj: Any, objects: Objects) -> Iterable[Any]:
    if isinstance(obj, Items):
        return (obj.item,)
    return content(obj) if may_hold_others(obj) else objects.content(obj)
