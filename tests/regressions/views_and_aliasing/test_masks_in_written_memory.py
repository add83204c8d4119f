"""`x[x.T] = v` chose other elements: NumPy reads the mask while it writes.

``x[x.T] = False`` depends on the order in which NumPy goes through the elements. Kernels took the
mask as it was before the store. Python runs such statements.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit_testing.oracle import check

VIEWS: dict[str, Callable[[Any], Any]] = {
    "reversed": lambda x: x[::-1],
    "transposed": lambda x: x.T,
    "rows": lambda x: x[:, 0],
    "itself": lambda x: x,
    "a copy": lambda x: x[::-1].copy(),
}


def copied(x: Any, v: Any, view: Any) -> Any:
    m = np.broadcast_to(view(x), x.shape)
    np.copyto(x, v, where=m)
    return x & v


def chosen(x: Any, v: Any, view: Any) -> Any:
    x[view(x)] = False
    return x | v


def cleared(x: Any, v: Any, view: Any) -> Any:
    # Stores of True would add to the mask: NumPy then reads memory after the end of the values.
    m = view(x)
    x[m] &= False
    return x, v


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
@pytest.mark.parametrize("function", [copied, chosen, cleared])
def test_masks_of_the_memory_that_is_written(function: Any, view: Any) -> None:
    rng = np.random.default_rng(3)
    calls = []
    for size in (2, 5, 40):
        x, v = rng.random((2, size, size)) < 0.5
        calls += [(x, v, view), (np.asfortranarray(x), v, view)]
    check(function, *calls, variants=None)
