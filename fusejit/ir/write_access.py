"""Whether NumPy lets a program store into an array: freely, with a warning, or not at all.

What ``np.broadcast_arrays`` makes is writeable for now, and NumPy warns of the first store. Views
of such an array are marked as it is.
"""

from __future__ import annotations

import enum
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

# Bits of ``flags.num``, a signed number; asking for ``flags.writeable`` itself may warn.
WRITEABLE_BIT = 0x0400  # NPY_ARRAY_WRITEABLE
ACCESS_BITS = WRITEABLE_BIT - (1 << 31)  # and NPY_ARRAY_WARN_ON_WRITE


class WriteAccess(enum.IntEnum):
    """What a store into an array does. A view allows at most what its array does."""

    WRITEABLE = 0
    WARNS = 1  # NumPy warns, stores, and warns no more
    READ_ONLY = 2

    @staticmethod
    def of(array: np.ndarray) -> WriteAccess:
        """What a store into an array does, without a warning for having asked."""
        bits = array.flags.num & ACCESS_BITS
        if bits == WRITEABLE_BIT:
            return WriteAccess.WRITEABLE
        return WriteAccess.WARNS if bits & WRITEABLE_BIT else WriteAccess.READ_ONLY


def is_writeable(array: np.ndarray) -> bool:
    """``array.flags.writeable``, without a warning."""
    return bool(array.flags.num & WRITEABLE_BIT)


def mark(array: np.ndarray, access: WriteAccess) -> None:
    """Mark an array, which owns its memory or is a view of what may be written, for stores."""
    if is_writeable(array) is (access is WriteAccess.READ_ONLY):  # setting it again may be refused
        array.flags.writeable = access is not WriteAccess.READ_ONLY
    if access is WriteAccess.WARNS:
        array.flags._warn_on_write = True  # type: ignore[attr-defined]


def strided(
    array: np.ndarray,
    shape: tuple[int, ...],
    strides: tuple[int, ...],
    corner: Sequence[int] = (),
) -> np.ndarray:
    """A view with that shape and those strides, which allows the stores that the array allows.

    It begins at the element ``corner`` of the array, unless it has no elements.
    Its ``base`` is the array that owns the memory, as that of views is which NumPy makes.
    ``as_strided`` puts an object of its own there, and makes a read-only view of an array that
    warns; it is asked where the owner is no array.
    """
    access = WriteAccess.of(array)
    owner = array
    while isinstance(owner.base, np.ndarray):
        owner = owner.base
    flags = owner.flags
    if flags.owndata and flags.forc and is_writeable(owner):
        memory = owner if flags.c_contiguous else owner.T
        at = 0
        if 0 not in shape:
            at = sum(map(operator.mul, corner, array.strides))
            at += 0 if array is owner else _address(array) - _address(owner)
        result = np.ndarray(shape, array.dtype, memory, at, strides)
        mark(result, access)
        return result
    if corner and 0 not in shape:
        where: tuple[Any, ...] = (*(slice(c, c + 1) for c in corner), ...)
        array = array[where]
    if access is not WriteAccess.WARNS:
        return as_strided(array, shape, strides, writeable=access is WriteAccess.WRITEABLE)
    quiet = array.view()
    quiet.flags.writeable = True
    result = as_strided(quiet, shape, strides)
    mark(result, access)
    return result


def _address(array: np.ndarray) -> int:
    """Of the first element."""
    return int(array.__array_interface__["data"][0])


def broadcast_access(source: WriteAccess) -> WriteAccess:
    """What a store into a view does that ``np.broadcast_arrays`` makes of an array.

    A NumPy that makes such views read-only at once is followed.
    """
    return max(source, _IN_BROADCAST)


_IN_BROADCAST = WriteAccess.of(np.broadcast_arrays(np.zeros(1), np.zeros(2))[0])
