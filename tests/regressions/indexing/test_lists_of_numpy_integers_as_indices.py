"""`x[[i, j]]` of NumPy integers was refused: their dtype was taken from the object type.

The dtype of such a number was asked of its type, which as an array is an object: the list was said
to be no index (SciPy's ``_perturb_discrepancy``).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fusejit_testing.oracle import check, check_not_compiled

X = np.arange(8.0)


def read(x: Any, i: Any, j: Any) -> Any:
    return x[[i, j]] + 1


def stored(x: Any, i: Any, j: Any) -> Any:
    mask = np.ones(len(x), dtype=bool)
    mask[[i, j, -1]] = False
    return mask


@pytest.mark.parametrize("function", [read, stored])
@pytest.mark.parametrize("type_", [int, np.int64, np.int32, np.uint8])
def test_one_variant_reads_what_each_call_asks_for(function: Any, type_: Any) -> None:
    check(function, *((X, type_(i), type_(j)) for i, j in ((4, 6), (1, 2), (3, 3))))


def test_a_list_of_bools_is_a_mask() -> None:
    def masked(x: Any, a: Any) -> Any:
        return x[[a > 0, a < 0]]

    for a in (1.0, -1.0):
        check_not_compiled(masked, (X[:2], np.float64(a)), "a list of bools as a mask")
