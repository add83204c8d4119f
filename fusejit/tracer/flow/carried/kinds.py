"""The table of kinds: what a name holds at the start of a loop is carried by the first that can."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fusejit.tracer.flow.carried.buffers import LoopBuffer
from fusejit.tracer.flow.carried.numbers import Number
from fusejit.tracer.flow.carried.rows import GrowingBuffer, ShrinkingBuffer
from fusejit.tracer.flow.carried.unbound import Unbound
from fusejit.tracer.flow.carried.unchanged import Unchanged
from fusejit.tracer.flow.loop_region import Carried, LoopRegion

_KINDS = (Unbound, Number, GrowingBuffer, ShrinkingBuffer, LoopBuffer)


def carried_as(loop: LoopRegion, name: str, obj: Any, names: Mapping[str, Any]) -> Carried:
    """What carries an object under a name; ``names`` are all that the program has there."""
    for kind in _KINDS:
        found = kind.of(loop, name, obj, names)
        if found is not None:
            return found
    return Unchanged.of(loop, name, obj, names)
