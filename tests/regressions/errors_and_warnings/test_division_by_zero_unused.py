"""ZeroDivisionError was lost where nothing uses the quotient: the division was removed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fusejit_testing.oracle import check


def unused(x: Any, p: Any) -> Any:
    1.5 / p
    return x + 1


def unused_size(x: Any, p: Any) -> Any:
    7 // x.shape[0]
    p % len(x)
    return p + x * 2


def unused_of_arrays(x: Any, p: Any) -> Any:
    x + 3.7 // x.shape[0]
    return x * p


@pytest.mark.parametrize("function", [unused, unused_size, unused_of_arrays])
def test_later_calls_raise(function: Any) -> None:
    x = np.arange(4.0)
    check(function, (x, 2), (x[:0], 2), (x, 0), variants=1 if function is unused else None)
    check(function, (x, 2.5), (x[:0], 2.5), (x, 0.0), variants=None)


def test_numpy_scalars_do_not_raise() -> None:
    check(unused, (np.arange(3.0), np.float64(2)), (np.arange(3.0), np.float64(0)))
