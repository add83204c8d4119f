"""``x[...] = x`` changes nothing, but NumPy refuses it for read-only arrays: calls returned."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fusejit_testing.oracle import check


def whole(x: Any) -> Any:
    x[...] = x
    return x.sum()


def transposed(x: Any) -> Any:
    np.swapaxes(x, 0, 1)[...] = x.T
    return x.sum()


@pytest.mark.filterwarnings("ignore:.* runs as plain NumPy")
@pytest.mark.parametrize("function", [whole, transposed])
def test_read_only_arrays(function: Any) -> None:
    x = np.arange(12.0).reshape(3, 4)
    read_only = x.copy()
    read_only.flags.writeable = False
    rows = np.broadcast_to(np.arange(4.0), (3, 4))
    check(function, (x,), (read_only,), (rows,), (rows[1:],), variants=None)
    check(function, (read_only,), (x,), variants=None)
    check(function, (x,), (x[:2],))
