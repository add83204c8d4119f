"""The matrices of Winograd's convolutions: those of MLIR's linalg dialect.

They are scaled so that most entries are powers of two.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from fusejit.dataclass import dataclass


@dataclass(frozen=True)
class Winograd:
    """F(m, r): the matrices G, BT and AT, and the scale of an axis of the output."""

    m: int
    r: int
    scale: float
    filter: np.ndarray
    input: np.ndarray
    output: np.ndarray


def _made(m: int, r: int, scale: float, *matrices: str) -> Winograd:
    rows = ([[float(Fraction(v)) for v in row.split()] for row in t.split(";")] for t in matrices)
    return Winograd(m, r, scale, *map(np.array, rows))


TABLE = {
    "F_2_3": _made(
        *(2, 3, 1.0),
        "-1 0 0; 1/2 -1/2 1/2; 1/2 1/2 1/2; 0 0 1",
        "-1 0 1 0; 0 -1 1 0; 0 1 1 0; 0 -1 0 1",
        "1 1 1 0; 0 -1 1 1",
    ),
    "F_4_3": _made(
        *(4, 3, 32.0),
        "1 0 0; -1/3 1/3 -1/3; -1/3 -1/3 -1/3; 1/12 -1/6 1/3; 1/12 1/6 1/3; 0 0 1",
        "1/4 0 -5/16 0 1/16 0; 0 1/4 -1/4 -1/16 1/16 0; 0 -1/4 -1/4 1/16 1/16 0;"
        "0 1/4 -1/8 -1/4 1/8 0; 0 -1/4 -1/8 1/4 1/8 0; 0 1/4 0 -5/16 0 1/16",
        "1/8 1/4 1/4 1/8 1/8 0; 0 -1/4 1/4 -1/4 1/4 0;0 1/4 1/4 1/2 1/2 0; 0 -1/4 1/4 -1 1 1/2",
    ),
    "F_2_5": _made(
        *(2, 5, 16.0),
        "1 0 0 0 0; 1/6 -1/6 1/6 -1/6 1/6; -1/6 -1/6 -1/6 -1/6 -1/6;"
        "-4/15 2/15 -1/15 1/30 -1/60; 1/60 1/30 1/15 2/15 4/15; 0 0 0 0 1",
        "1/8 3/16 -1/4 -3/16 1/8 0; 0 1/8 1/16 -5/16 1/8 0; 0 -1/8 -5/16 -1/16 1/8 0;"
        "0 1/4 -1/8 -1/4 1/8 0; 0 -1/8 -1/4 1/8 1/4 0; 0 1/8 3/16 -1/4 -3/16 1/8",
        "1/2 1 1 2 1 0; 0 -1 1 -1 2 1/2",
    ),
}
"""F(m, r) by name; the matrices are written as rows of fractions."""
