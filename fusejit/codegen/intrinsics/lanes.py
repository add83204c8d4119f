"""Folds of lanes and tiles, for maxima and minima of floats; `fill` for the memory of them.

A maximum or minimum is kept in `LANES` lanes, which ``fold_max(lanes)`` merges: lane ``j`` with
lane ``j + half`` until one is left. ``small_max(lanes)`` does so with `FEW` lanes.

Beside a sum of floats, whose numbers are put into a tile (`summation_tree`), they are, too, and
``tile_max(tile, 0, m)`` gives their largest.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fusejit.codegen.intrinsics.intrinsic_table import jit_path, python_implementation, register
from fusejit.codegen.intrinsics.raw_memory import Flat, put

LANES = 128
"""Lanes of a maximum: the fastest number."""

FEW = 32
"""Lanes that reductions of at most so many numbers need."""

EXTREMA = {"max": np.maximum, "min": np.minimum}
"""The ufunc that merges two lanes of a combiner."""


def _fold(merge: np.ufunc, lanes: int) -> Callable[..., Any]:
    def fold(pointer: Flat) -> Any:
        return merge.reduce([pointer.memory[pointer.index(j)] for j in range(lanes)])

    fold.__doc__ = f"The {merge.__name__} of {lanes} lanes."
    return fold


def tile_fold(reduce: Callable[[np.ndarray], Any]) -> Callable[..., Any]:
    """The Python implementation of what reduces neighbours in memory to one number."""

    def fold(pointer: Flat, start: int, numbers: int) -> Any:
        values = [pointer.memory[pointer.index(start + j)] for j in range(numbers)]
        return reduce(np.array(values, pointer.memory.dtype))

    fold.__doc__ = "Reduce so many neighbours in memory, from an offset on."
    return fold


for _combiner, _ufunc in EXTREMA.items():
    for _name, _python in (
        (f"fold_{_combiner}", _fold(_ufunc, LANES)),
        (f"small_{_combiner}", _fold(_ufunc, FEW)),
        (f"tile_{_combiner}", tile_fold(_ufunc.reduce)),
    ):
        register(_name, _python, jit_path(__name__, _name))


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
