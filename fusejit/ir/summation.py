"""The order of floating-point sums, written out once, slow and obvious.

`ordered_sum` is the definition: the interpreter calls it, and every reduction nest that codegen
emits gives its bits, jitted or not, serial or parallel, whatever the layout. It depends on the
reduced extent ``n`` alone:

- the ``n`` numbers are cut into blocks of ``BLOCK`` (the last one shorter);
- inside a block, number ``k`` is added to lane ``k mod LANES`` in order of ``k``, lanes starting
  from +0.0, and the lanes are merged by a halving tree (lane ``j`` takes lane ``j + half``);
- the block sums are merged in pairs of neighbours, ``(b0 + b1) + (b2 + b3) ...``, an odd last one
  moving up a level as it is.

Several reduced axes are summed one after the other, the last axis first. The error grows with
log(n), as that of NumPy's pairwise sum does.
"""

from __future__ import annotations

from typing import Any

import numpy as np

LANES = 128
BLOCK = 1024


def ordered_sum(values: np.ndarray) -> Any:
    """Sum a 1-D array of shape (n,) in the written-out order; 0.0 if it is empty."""
    zero = values.dtype.type(0)
    sums = [_block_sum(values[at : at + BLOCK]) for at in range(0, len(values), BLOCK)]
    while len(sums) > 1:
        pairs = [sums[i] + sums[i + 1] for i in range(0, len(sums) - 1, 2)]
        sums = pairs + ([sums[-1]] if len(sums) % 2 else [])
    return sums[0] if sums else zero


def _block_sum(block: np.ndarray) -> Any:
    lanes = np.zeros(LANES, block.dtype)
    for at in range(0, len(block), LANES):
        part = block[at : at + LANES]
        lanes[: len(part)] += part
    width = LANES
    while width > 1:
        width //= 2
        lanes = lanes[:width] + lanes[width : 2 * width]
    return lanes[0]


def ordered_sum_along(values: np.ndarray, axis: int) -> np.ndarray:
    """`ordered_sum` along one axis of an array of any rank."""
    moved = np.moveaxis(values, axis, -1)
    result = np.empty(moved.shape[:-1], values.dtype)
    for index in np.ndindex(*moved.shape[:-1]):
        result[index] = ordered_sum(moved[index])
    return result
