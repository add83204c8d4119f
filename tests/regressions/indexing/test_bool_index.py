"""`a[k > 3]` read element 0 or 1: a computed bool was taken for an integer, not a mask.

Random programs found it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fusejit_testing.oracle import check_not_compiled


@pytest.mark.parametrize("k", [0, 5])
def test_bool_of_a_number_as_index_is_a_mask(k: int) -> None:
    def store(a: Any, k: Any) -> None:
        a[k > 3] = 3

    def load(a: Any, k: Any) -> Any:
        return a[k > 3]

    a = np.arange(4.0)
    for function in (store, load):
        check_not_compiled(function, (a, k), "index")
    np.testing.assert_array_equal(a, np.arange(4.0))  # under fullgraph=True nothing is stored
