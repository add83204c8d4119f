"""What reductions need of lanes: filling them, folding them, and numbering them.

``fold_add(lanes, m)`` merges lane ``j`` with lane ``j + half`` until one is left, as
`fusejit.ir.interpreter.summation` writes it for ``m`` numbers: one lane after the other where they
are fewer than `FEWEST`. The memory of the lanes is left as it was. ``small_add(lanes)`` does so
with `FEW` lanes where they are not, ``sequential_add`` with `FEWEST` where they are: the other
lanes would add nothing.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from fusejit.codegen.intrinsics.intrinsic_table import jit_path, python_implementation, register
from fusejit.codegen.intrinsics.raw_memory import Flat, put
from fusejit.ir.interpreter.summation import FEWEST, LANES, lanes_of

PLAIN_LANES = 128
"""Lanes where the order of merging does not show: the fastest number."""

FEW = 32
"""Lanes that reductions of at most so many numbers need."""

FOLDS: dict[str, tuple[int, str]] = {
    "add": (LANES, "add"),
    "multiply": (LANES, "multiply"),
    "max": (PLAIN_LANES, "maximum"),
    "min": (PLAIN_LANES, "minimum"),
}
"""Combiner -> number of lanes, what merges two of them."""


def _fold(combiner: str, lanes: int) -> Callable[..., Any]:
    merge: np.ufunc = getattr(np, FOLDS[combiner][1])

    def fold(pointer: Flat, numbers: int = lanes) -> Any:
        values = [pointer.memory[pointer.index(j)] for j in range(lanes)]
        if min(numbers, lanes - 1) < FEWEST:
            return functools.reduce(merge, values[:FEWEST])
        while len(values) > 1:
            half = len(values) // 2
            values = [merge(values[j], values[j + half]) for j in range(half)]
        return values[0]

    fold.__doc__ = f"Merge {lanes} lanes with {FOLDS[combiner][1]}, a handful of numbers in turn."
    return fold


for _combiner, (_lanes, _) in FOLDS.items():
    for _kind, _count in (("fold", _lanes), ("small", FEW), ("sequential", FEWEST)):
        _name = f"{_kind}_{_combiner}"
        register(_name, _fold(_combiner, _count), jit_path(__name__, _name))


for _name, _ufunc, _which in (
    ("lane_max", np.maximum, "larger"),
    ("lane_min", np.minimum, "smaller"),
):
    _doc = f"The {_which} float, NaN if either is; the sign of a zero is left open."
    register(_name, _ufunc, jit_path(__name__, _name), _doc)


@python_implementation
def fill(pointer: Flat, start: int, count: int, value: Any) -> None:
    """Store ``value`` into ``count`` elements from offset ``start`` on."""
    for offset in range(start, start + count):
        put(pointer, offset, value)


@python_implementation
def lane_width(n: int) -> int:
    """How many lanes n numbers fill, rounded up to a power of two, at least 1, at most LANES."""
    width = 1
    while width < min(n, lanes_of(n)):
        width *= 2
    return width


@python_implementation
def lane_spacing(n: int) -> int:
    """How far apart two numbers of one lane are, of n numbers: LANES, or 1 if there is one lane."""
    return lanes_of(n)


@python_implementation
def reverse_bits(value: int, width: int) -> int:
    """The bits of ``value`` in reverse, as a number below the power of two ``width``."""
    reverse = 0
    while width > 1:
        reverse = 2 * reverse + (value & 1)
        value >>= 1
        width //= 2
    return reverse
