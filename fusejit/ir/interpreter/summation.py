"""The order of floating-point sums, written out once, slow and obvious.

`ordered_sum` is the definition: the interpreter calls it, and every reduction nest that codegen
emits gives its bits, jitted or not, serial or parallel, whatever the layout. It depends on the
reduced extent ``n`` alone:

- the ``n`` numbers are cut into blocks of ``BLOCK`` (the last one shorter);
- inside a block, number ``k`` is added to lane ``k mod LANES`` in order of ``k``, lanes starting
  from +0.0, and the lanes are merged by a halving tree (lane ``j`` takes lane ``j + half``); a
  block of fewer than ``FEWEST`` numbers has one lane, so they are added one after the other;
- the block sums are merged in pairs of neighbours, ``(b0 + b1) + (b2 + b3) ...``, an odd last one
  moving up a level as it is.

Several reduced axes are summed one after the other, the last axis first. The error grows with
log(n), as that of NumPy's pairwise sum does. Fewer than ``FEWEST`` numbers NumPy adds one after the
other too: the bits are the same.

`ordered_deviations` is the same for the sum of squared deviations from the mean, which `var` and
`std` are made of. It reads its numbers once: each lane of a block has the mean and the squares of
its (at most ``BLOCK / LANES``) numbers, less the first number of all, and two such pairs merge by
the formula of Chan, Golub and LeVeque, in the very order in which sums merge. Fewer than ``FEWEST``
numbers are not taken less the first one, and their sum is divided, so that NumPy's bits come out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

LANES = 128
BLOCK = 1024
FEWEST = 8
"""Numbers of a block for which it has all lanes; fewer have one."""


def lanes_of(numbers: int) -> int:
    """The lanes of a block of so many numbers."""
    return LANES if numbers >= FEWEST else 1


def ordered_sum(values: np.ndarray) -> Any:
    """Sum a 1-D array of shape (n,) in the written-out order; 0.0 if it is empty."""
    zero = values.dtype.type(0)
    sums = [_block_sum(values[at : at + BLOCK]) for at in range(0, len(values), BLOCK)]
    while len(sums) > 1:
        pairs = [sums[i] + sums[i + 1] for i in range(0, len(sums) - 1, 2)]
        sums = pairs + ([sums[-1]] if len(sums) % 2 else [])
    return sums[0] if sums else zero


def _block_sum(block: np.ndarray) -> Any:
    width = lanes_of(len(block))
    lanes = np.zeros(width, block.dtype)
    for at in range(0, len(block), width):
        part = block[at : at + width]
        lanes[: len(part)] += part
    while width > 1:
        width //= 2
        lanes = lanes[:width] + lanes[width : 2 * width]
    return lanes[0]


def ordered_sum_along(values: np.ndarray, axis: int) -> np.ndarray:
    """`ordered_sum` along one axis of an array of any rank."""
    return _along(ordered_sum, values, axis)


def _along(function: Callable[[np.ndarray], Any], values: np.ndarray, axis: int) -> np.ndarray:
    moved = np.moveaxis(values, axis, -1)
    result = np.empty(moved.shape[:-1], values.dtype)
    for index in np.ndindex(*moved.shape[:-1]):
        result[index] = function(moved[index])
    return result


# ------------------------------------------------------------------------ squares about the mean
def ordered_deviations(values: np.ndarray) -> Any:
    """``sum((v - mean(v)) ** 2)`` of a 1-D array in the written-out order; 0.0 if it is empty.

    Notes
    -----
    All numbers are taken less the first one, so that a large common offset costs no accuracy and
    equal numbers give exactly 0.0. NaN if any number is NaN or infinite.
    """
    if not len(values):
        return values.dtype.type(0)
    shifted = values - values[0] if len(values) >= FEWEST else values
    states = [_block_state(shifted[at : at + BLOCK]) for at in range(0, len(shifted), BLOCK)]
    while len(states) > 1:
        pairs = [_merged(*states[i : i + 2]) for i in range(0, len(states) - 1, 2)]
        states = pairs + ([states[-1]] if len(states) % 2 else [])
    return states[0][2]


_State = tuple[int, Any, Any]
"""Numbers, their mean, and the sum of their squared deviations from it."""


def _block_state(block: np.ndarray) -> _State:
    lanes = lanes_of(len(block))
    states = [_lane_state(block[lane::lanes], lanes) for lane in range(lanes)]
    while len(states) > 1:
        half = len(states) // 2
        states = [_merged(states[j], states[j + half]) for j in range(half)]
    return states[0]


def _lane_state(numbers: np.ndarray, lanes: int) -> _State:
    type_ = numbers.dtype.type
    total, squares = type_(0), type_(0)
    for number in numbers:
        total = total + number
    count = type_(max(len(numbers), 1))
    mean = total / count if lanes == 1 else total * (type_(1) / count)
    for number in numbers:
        squares = squares + (number - mean) * (number - mean)
    return len(numbers), mean, squares


def _merged(left: _State, right: _State) -> _State:
    (n, mean, squares), (m, other_mean, other_squares) = left, right
    if m == 0:
        return left
    type_ = type(mean)
    distance = other_mean - mean
    share = type_(np.float64(m) / np.float64(n + m))
    weight = type_(np.float64(n) * np.float64(m) / np.float64(n + m))
    mean = mean + distance * share
    return n + m, mean, squares + (other_squares + distance * distance * weight)


def ordered_deviations_along(values: np.ndarray, axis: int) -> np.ndarray:
    """`ordered_deviations` along one axis of an array of any rank."""
    return _along(ordered_deviations, values, axis)
