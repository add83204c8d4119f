"""The tree in which NumPy adds floats, written out once, slow and obvious.

`pairwise_sum` is the definition: the interpreter calls it, and every reduction nest that codegen
emits for the combiner ``add`` gives its bits, jitted or not, serial or parallel. It depends on the
count ``n`` alone:

- fewer numbers than there are accumulators, which are eight, are added one after the other;
- up to 16 times as many go to the accumulators in turn, which are added in pairs of neighbours;
  the remainder is added to their sum, one after the other;
- more numbers are cut in two, the first part being a multiple of the accumulators long.

Of complex numbers the same tree adds both parts in turn, so that there are four accumulators for
each.

Codegen cuts further down than to a leaf only where it says so: `blocks_of` counts the parts, all
equally deep in the tree, that it computes at a time, and `block_start` finds them.

Source: ``pairwise_sum`` of NumPy's ``loops_utils.h.src``; Higham, "The accuracy of floating point
summation", 1993.
"""

from __future__ import annotations

from typing import Any

import numpy as np

ACCUMULATORS = 8
ROUNDS = 16
"""Numbers of a leaf that one accumulator takes, at most."""

BLOCK = 1024
"""Numbers that fit into the memory of one block."""

BUFFER = 8192
"""Numbers that NumPy copies at a time: ``np.getbufsize()``."""

SLACK = 16
"""By how much the longest part of the tree may exceed the mean length of those as deep."""


def pairwise_sum(values: np.ndarray, accumulators: int = ACCUMULATORS) -> Any:
    """Sum an array of shape (n, ..) along its first axis in NumPy's tree; 0.0 if that is empty."""
    return values.dtype.type(0) + _tree(values, accumulators)


def sum_in_pieces(values: np.ndarray, piece: int) -> Any:
    """`pairwise_sum` of so many numbers at a time, the sums added one after the other."""
    parts = [pairwise_sum(values[at : at + piece]) for at in range(0, len(values), piece)]
    return _in_turn(np.zeros(values.shape[1:], values.dtype), np.array(parts, values.dtype))


def piece_of_rows(row: int) -> int:
    """How many numbers NumPy copies at a time, of rows of so many: whole rows, at least one."""
    return max(row, BUFFER - BUFFER % max(row, 1), 1)


def _tree(values: np.ndarray, accumulators: int) -> Any:
    n = len(values)
    if n < accumulators:
        return _in_turn(np.full(values.shape[1:], -0.0, values.dtype), values)
    if n <= ROUNDS * accumulators:
        whole = n - n % accumulators
        lanes = values[:accumulators]
        for at in range(accumulators, whole, accumulators):
            lanes = lanes + values[at : at + accumulators]
        while len(lanes) > 1:
            lanes = lanes[::2] + lanes[1::2]
        return _in_turn(lanes[0], values[whole:])
    half = first_part(n, accumulators)
    return _tree(values[:half], accumulators) + _tree(values[half:], accumulators)


def _in_turn(total: Any, values: np.ndarray) -> Any:
    for value in values:
        total = total + value
    return total


def first_part(n: int, accumulators: int = ACCUMULATORS) -> int:
    """How many of ``n`` numbers the left branch of the tree adds."""
    return n // 2 - n // 2 % accumulators


def blocks_of(n: int) -> int:
    """Into how many parts, all equally deep in the tree, ``n`` numbers are cut: a power of two.

    None has more than `BLOCK` numbers, and none is a part of a leaf.
    """
    blocks = 1
    while n > blocks * (BLOCK - SLACK):
        blocks *= 2
    return blocks


def block_start(n: int, blocks: int, block: int, accumulators: int = ACCUMULATORS) -> int:
    """Where a part begins, of `blocks_of`; ``n`` behind the last one."""
    if block >= blocks:
        return n
    start = 0
    while blocks > 1:
        blocks //= 2
        half = first_part(n, accumulators)
        if block & blocks:
            start, n = start + half, n - half
        else:
            n = half
    return start
