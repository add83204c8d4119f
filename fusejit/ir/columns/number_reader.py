"""Reading the numbers of a long list into a column, by machine code if there is some.

The launchers have it set (`fusejit.codegen.launcher.native_columns`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

LONG = 6  # items of a list that machine code reads
READ = {int: np.dtype(np.int64), float: np.dtype(np.float64), np.float64: np.dtype(np.float64)}
"""The classes of numbers that it reads, and the dtypes of their columns."""

Reader = Callable[[list[Any], type, np.ndarray, int, type, int], bool]
"""``read(items, kind, column, part, tuple_class, length)``.

It stores the items, or one ``part`` of each if these are tuples of a ``length``, and says whether
all of them were of such a kind.
"""


class OtherItems(Exception):
    """Items that columns cannot hold."""


_makers: list[Callable[[], Reader | None]] = []
_made: list[Reader | None] = []


def set_reader(make: Callable[[], Reader | None]) -> None:
    """Have ``make()`` make the reader when a long list comes; None if there can be none."""
    _makers[:], _made[:] = [make], []


def read_numbers(
    items: Sequence[Any],
    kind: Any,
    dtype: np.dtype,
    part: int = -1,
    tuple_class: type = tuple,
    length: int = 0,
) -> np.ndarray | None:
    """A column of the numbers of a list; None if the list is short, or nobody can read such.

    Raises
    ------
    OtherItems
        If not all of them are of one ``kind``.
    """
    if len(items) < LONG or type(items) is not list or READ.get(kind) != dtype:
        return None
    if not _made:
        _made[:] = [make() for make in _makers] or [None]
    read = _made[0]
    if read is None:
        return None
    column = np.empty(len(items), dtype)
    if not read(items, kind, column, part, tuple_class, length):
        raise OtherItems
    return column
