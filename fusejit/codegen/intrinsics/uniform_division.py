"""Division of many integers by one, which is prepared before their loop.

    m = reciprocal_of(b)          # once
    floordiv_by(a, b, m)          # a // b with NumPy's answers, 0 for b == 0
    mod_by(a, b, m)               # a % b

No processor divides vectors of integers, but all multiply them. With ``N`` bits, a divisor ``d`` in
``[1, 2**N)`` and ``l = ceil(log2(d))``, the quotient of an unsigned `a` is::

    m = floor(2**N * (2**l - d) / d) + 1              fits N bits
    t = floor(m * a / 2**N)                           the upper half of the product
    a // d = (t + ((a - t) >> min(l, 1))) >> max(l - 1, 0)

Integers of 8 bits are computed in 16, where ``floor(2**16 / d) + 1`` is a multiplier without
the rest. Signed ones are divided by size, see `fusejit.codegen.intrinsics_jit.uniform_division`.

Source
------
Torbjorn Granlund, Peter L. Montgomery: Division by Invariant Integers using Multiplication,
PLDI 1994, figure 4.1. NumPy divides so as well (``npyv_divisor_u8`` and its family).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fusejit.codegen.intrinsics.arithmetic import operand
from fusejit.codegen.intrinsics.intrinsic_table import python_implementation

Scalar = Any


@python_implementation
def reciprocal_of(b: Scalar) -> Scalar:
    """The multiplier of a divisor, an unsigned integer of at least 16 bits; 0 for 0.

    Examples
    --------
    >>> reciprocal_of(np.uint32(7)), reciprocal_of(np.int8(-7))
    (np.uint32(613566757), np.uint16(9363))
    """
    divisor = operand(b)
    if divisor.dtype.kind not in "iu":
        raise TypeError(f"reciprocal_of: {divisor.dtype}")
    bits = 8 * max(divisor.dtype.itemsize, 2)
    made = np.dtype(f"u{bits // 8}").type
    d = abs(int(divisor))
    if d == 0 or (d == 1 and divisor.dtype.itemsize == 1):
        return made(0)
    if divisor.dtype.itemsize == 1:
        return made(2**bits // d + 1)
    length = (d - 1).bit_length()
    return made(2**bits * (2**length - d) // d + 1)


@python_implementation
def floordiv_by(a: Scalar, b: Scalar, m: Scalar) -> Scalar:
    """``a // b`` for ``m = reciprocal_of(b)``; 0 for b == 0, INT_MIN for INT_MIN // -1."""
    return _by(np.floor_divide, a, b, m)


@python_implementation
def mod_by(a: Scalar, b: Scalar, m: Scalar) -> Scalar:
    """``a % b`` with the sign of b for ``m = reciprocal_of(b)``; 0 for b == 0."""
    return _by(np.remainder, a, b, m)


def _by(ufunc: np.ufunc, a: Scalar, b: Scalar, m: Scalar) -> Scalar:
    left, right = operand(a), operand(b)
    if left.dtype != right.dtype or m != reciprocal_of(right):
        raise TypeError(f"{ufunc.__name__} of {left.dtype} by {right!r}, prepared as {m!r}")
    with np.errstate(all="ignore"):
        return ufunc(left, right)
