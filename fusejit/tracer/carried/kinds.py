"""The table of kinds: the first that can carries the object of a name through a loop."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fusejit.tracer.carried.buffers import LoopBuffer
from fusejit.tracer.carried.containers import CarriedContainer
from fusejit.tracer.carried.loop_region import Carried, LoopRegion
from fusejit.tracer.carried.numbers import Number
from fusejit.tracer.carried.rows import GrowingBuffer, ShrinkingBuffer
from fusejit.tracer.carried.unbound import Unbound
from fusejit.tracer.carried.unchanged import Unchanged

_KINDS = (Unbound, Number, GrowingBuffer, ShrinkingBuffer, LoopBuffer, CarriedContainer)


def carried_as(loop: LoopRegion, name: str, obj: Any, names: Mapping[str, Any]) -> Carried:
    """Choose what carries an object under a name; ``names`` are all that the program has."""
    for kind in _KINDS:
        found = kind.of(loop, name, obj, names)
        if found is not None:
            return found
    return Unchanged.of(loop, name, obj, names)
