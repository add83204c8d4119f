"""Whether NumPy lets a program store into an array: freely, with a warning, or not at all.

What ``np.broadcast_arrays`` makes is writeable for now, and NumPy warns of the first store. Views
of such an array are marked as it is.
"""

from __future__ import annotations

import enum

import numpy as np
from numpy.lib.stride_tricks import as_strided

# Bits of ``flags.num``, a signed number; asking for ``flags.writeable`` itself may warn.
WRITEABLE_BIT = 0x0400  # NPY_ARRAY_WRITEABLE
ACCESS_BITS = WRITEABLE_BIT - (1 << 31)  # and NPY_ARRAY_WARN_ON_WRITE


class Access(enum.IntEnum):
    """What a store into an array does. A view allows at most what its array does."""

    WRITEABLE = 0
    WARNS = 1  # NumPy warns, stores, and warns no more
    READ_ONLY = 2

    @staticmethod
    def of(array: np.ndarray) -> Access:
        """What a store into an array does, without a warning for having asked."""
        bits = array.flags.num & ACCESS_BITS
        if bits == WRITEABLE_BIT:
            return Access.WRITEABLE
        return Access.WARNS if bits & WRITEABLE_BIT else Access.READ_ONLY


def is_writeable(array: np.ndarray) -> bool:
    """``array.flags.writeable``, without a warning."""
    return bool(array.flags.num & WRITEABLE_BIT)


def mark(array: np.ndarray, access: Access) -> None:
    """Mark an array, which owns its memory or is a view of what may be written, for stores."""
    if is_writeable(array) is (access is Access.READ_ONLY):  # setting it again may be refused
        array.flags.writeable = access is not Access.READ_ONLY
    if access is Access.WARNS:
        array.flags._warn_on_write = True  # type: ignore[attr-defined]


def strided(array: np.ndarray, shape: tuple[int, ...], strides: tuple[int, ...]) -> np.ndarray:
    """``as_strided`` that allows the stores that the array allows.

    NumPy's own makes a read-only view of an array that warns.
    """
    access = Access.of(array)
    if access is not Access.WARNS:
        return as_strided(array, shape, strides, writeable=access is Access.WRITEABLE)
    quiet = array.view()
    quiet.flags.writeable = True
    result: np.ndarray = as_strided(quiet, shape, strides)
    mark(result, access)
    return result


def broadcast_access(source: Access) -> Access:
    """What a store into a view does that ``np.broadcast_arrays`` makes of an array.

    A NumPy that makes such views read-only at once is followed.
    """
    return max(source, _IN_BROADCAST)


_IN_BROADCAST = Access.of(np.broadcast_arrays(np.zeros(1), np.zeros(2))[0])
