"""NumPy ran calls that store into `x[:, None]`: a stride of 0 was taken for a broadcast axis.

An axis of length 1 with a stride of 0 does not overlap. A segment receives such an array when an
earlier statement makes it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fusejit_testing.oracle import check, check_not_compiled, compare_outcomes, decorate, run


def halved(v: Any) -> Any:
    v -= v / 2
    return v


def test_new_axes_are_stored_into() -> None:
    x = np.arange(12.0).reshape(4, 3)
    for new in (x[::-2, None], x[:, :, None][::2], x[None, ::2, ::-1]):
        assert 0 in new.strides
        check(halved, (new,), variants=1, jit=False)


def test_broadcast_arrays_are_not() -> None:
    wide = np.lib.stride_tricks.as_strided(np.arange(4.0), (4, 3), (8, 0))
    check_not_compiled(halved, (wide,), "elements overlap")


@pytest.mark.filterwarnings("ignore:.*elements overlap")
def test_both_in_turns() -> None:
    """Which one it is, is asked of each call."""
    fused = decorate(halved, jit=False)
    new = np.arange(12.0).reshape(4, 3)[::2, None, 0]
    wide = np.lib.stride_tricks.as_strided(np.arange(4.0), (2, 3), (16, 0))
    for v in (new, wide, new, wide):
        compare_outcomes(run(halved, (v,)), run(fused, (v,)))
    assert len(fused.variants) == 1
