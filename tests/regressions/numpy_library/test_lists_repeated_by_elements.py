"""`[1.5] * x[2]` multiplied the list: it was taken for an array.

SciPy's ``_untabulate`` does this: ``*`` between a list and a NumPy integer repeats the list.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit.errors import ConcretizationError

COUNTS = np.array([0, 3, 2])


def untabulated(table: np.ndarray) -> np.ndarray:
    items = []
    for i in range(table.shape[0]):
        items.append([i] * table[i])
    return np.concatenate(items)


def in_place(x: np.ndarray) -> Any:
    items = [1.5]
    same = items
    items *= x[2]
    return items, same, items is same


def by_one_of_two_types(x: np.ndarray) -> Any:
    count = 2 if x[0] > 0 else x[1]
    return [1, 2] * count


PROGRAMS: list[Any] = [
    untabulated,
    in_place,
    by_one_of_two_types,
    lambda x: [1.5] * x[2],
    lambda x: x[2] * [1.5],
    lambda x: (1, 2) * x.sum(),
    lambda x: [1.5] * int(x[1]),
    lambda x: np.array([1.5] * x[2]) + x[0],
]


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
@pytest.mark.parametrize("program", PROGRAMS)
def test_a_list_is_repeated(program: Any) -> None:
    fused = fuse_jit(program)
    for counts in (COUNTS, COUNTS + 1, COUNTS.astype(np.uint8)):
        ours, theirs = fused(counts), program(counts)
        assert type(ours) is type(theirs)
        assert repr(ours) == repr(theirs)


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
@pytest.mark.parametrize("numbers", [COUNTS.astype(float), COUNTS > 0])
def test_numbers_that_are_no_integers_repeat_nothing(numbers: np.ndarray) -> None:
    with pytest.raises(TypeError, match="can't multiply sequence by non-int"):
        fuse_jit(lambda x: [1.5] * x[2])(numbers)


def test_arrays_of_rank_zero_are_multiplied() -> None:
    def program(x: np.ndarray) -> np.ndarray:
        return [1, 2] * x  # type: ignore[operator,no-any-return]

    for x in (np.array(3), np.array([3]), np.array([3, 4])):
        assert np.array_equal(fuse_jit(program, fullgraph=True)(x), program(x))


def test_tuples_are_refused_under_fullgraph() -> None:
    def program(x: np.ndarray) -> Any:
        return (1.5,) * x[2]

    with pytest.raises(ConcretizationError, match="needs the value of an array element"):
        fuse_jit(program, fullgraph=True)(COUNTS)
