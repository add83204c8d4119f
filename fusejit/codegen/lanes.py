"""Folding all lanes of a reduction at once: a halving tree, in registers when jitted.

``fold_add(lanes)`` merges lane ``j`` with lane ``j + half`` until one is left, as
`fusejit.ir.summation` writes it; the memory of the lanes is left as it was.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fusejit.codegen.intrinsics import INTRINSICS, load_providers, register
from fusejit.codegen.memory import Flat
from fusejit.ir.summation import LANES

PLAIN_LANES = 128
"""Lanes where the order of merging does not show: the fastest number."""

FOLDS: dict[str, tuple[int, str]] = {
    "add": (LANES, "add"),
    "multiply": (LANES, "multiply"),
    "max": (PLAIN_LANES, "maximum"),
    "min": (PLAIN_LANES, "minimum"),
}
"""Combiner -> number of lanes, what merges two of them."""


def _merge(name: str, left: Any, right: Any) -> Any:
    if name in ("add", "multiply"):
        return getattr(np, name)(left, right)
    load_providers()
    return INTRINSICS[name].twin(left, right)


def _twin(combiner: str) -> Callable[[Flat], Any]:
    lanes, merged = FOLDS[combiner]

    def fold(pointer: Flat) -> Any:
        values = [pointer.memory[pointer.index(j)] for j in range(lanes)]
        while len(values) > 1:
            half = len(values) // 2
            values = [_merge(merged, values[j], values[j + half]) for j in range(half)]
        return values[0]

    fold.__doc__ = f"Merge {lanes} lanes with {merged} in a halving tree."
    return fold


for _combiner in FOLDS:
    register(f"fold_{_combiner}", _twin(_combiner), f"fusejit.codegen.lanes_jit:fold_{_combiner}")
