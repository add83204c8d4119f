"""`np.place` of no values was expected to raise: it raises only if the mask has a True.

SciPy's ``ppf`` of an empty array does this.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fusejit_testing.oracle import check, check_not_compiled, decorate


def placed(x: Any, mask: Any, values: Any) -> Any:
    y = x + 1
    np.place(y, mask, values)
    return y


REASON = "np.place of no values raises if the mask is true anywhere"


@pytest.mark.parametrize("n", [0, 3])
def test_a_mask_without_true(n: int) -> None:
    check_not_compiled(placed, (np.ones(n), np.zeros(n, bool), np.ones(0)), REASON)


def test_a_mask_with_true() -> None:
    with pytest.raises(ValueError, match="Cannot insert from an empty array!"):
        decorate(placed, jit=False)(np.ones(3), np.ones(3, bool), np.ones(0))
    check(placed, (np.ones(3), np.array([True, False, True]), np.arange(2.0)))
