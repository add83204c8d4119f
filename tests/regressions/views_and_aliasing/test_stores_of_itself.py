"""`x[...] = x` did not raise for a read-only `x`: the store was removed as it changes nothing."""

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


def copied_onto_itself(x: Any, mask: Any) -> Any:
    np.copyto(x, x, where=~mask, casting="unsafe")
    np.copyto(x[::2], x[::2], where=mask)
    return x.sum()


def test_copies_onto_itself_take_masks_of_any_shape() -> None:
    """NumPy looks at the memory first. Found by the campaign: an internal error was told."""
    calls = [(np.ones((4, 4)), np.ones(shape, bool)) for shape in ((4, 4), (4, 3), (2, 2))]
    check(copied_onto_itself, *calls, variants=1)
