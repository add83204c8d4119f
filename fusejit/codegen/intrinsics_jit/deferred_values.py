"""Jitted meaning of `codegen.intrinsics.deferred_values`: a slot taken atomically, two stores."""

from __future__ import annotations

from typing import Any

from fusejit.codegen.intrinsics.deferred_values import DEFERRED_SYMBOL, NUM_SLOTS, SLOT_SHIFT
from fusejit.codegen.intrinsics_jit.module_symbols import external, int64
from fusejit.codegen.machine.numba_api import are_int64, emitted, types


@emitted(are_int64, types.int64)
def deferred_values(builder: Any, status: Any, index: Any, size: Any) -> Any:
    """Keep an index and a size; the status with their slot."""
    words = external(builder.module, DEFERRED_SYMBOL)
    taken = builder.atomic_rmw("add", words, int64(1), "monotonic")
    slot = builder.and_(taken, int64(NUM_SLOTS - 1))
    first = builder.add(builder.shl(slot, int64(1)), int64(1))
    for at, value in enumerate((index, size)):
        place = builder.gep(words, [builder.add(first, int64(at))])
        builder.store(value, place)
    shown = builder.add(slot, int64(1))
    return builder.or_(status, builder.shl(shown, int64(SLOT_SHIFT)))
