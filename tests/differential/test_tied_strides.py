"""Memory order of results for operands with any strides: equal, negative, zero, overlapping.

Regression: A transposed ``sliding_window_view`` plus 1 had another order: of equal strides the
outer one counted as larger.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.lib.stride_tricks import as_strided, sliding_window_view

from fusejit_testing.oracle import check

STEPS = (0, 1, -1, 2, -2, 3, 4, 8)


def strided_array(shape: tuple[int, ...], steps: tuple[int, ...]) -> np.ndarray:
    """A read-only array with these strides, in elements."""
    memory = np.arange(128.0 * 9) - 500
    strides = tuple(8 * s for s in steps)
    return as_strided(memory[600:], shape, strides, writeable=False)


def _copies(x: Any) -> Any:
    return x.T + 1, np.zeros_like(x.T), x.T.astype(np.float32), x.T.copy("K"), np.exp(x * 0)


def _pairs(x: Any, y: Any) -> Any:
    return x + y, x.T * y.T, np.where(x > y, x, 1.0), np.concatenate([x, y]).T * 2


def _triples(x: Any, y: Any, z: Any) -> Any:
    return x + y * z, np.where(x > 0, y, z), np.where(x.T > 0, y.T, z.T), np.clip(x, y, z)


def _reductions(x: Any) -> Any:
    return x.max(axis=0), x.T.max(axis=-1), np.cumsum(x.T, axis=0), np.sort(x.T, axis=0)


def test_windows_have_the_order_of_numpy() -> None:
    """The transpose of an array with equal strides came out in the order of the array itself."""
    x = np.arange(1000.0)
    arrays = [as_strided(x, (90, 30), (8, 8)), as_strided(x, (900, 30), (8, 8))]
    check(_copies, *((a,) for a in (*arrays, sliding_window_view(x, 30))), jit=True)


def test_a_variant_tells_equal_strides_from_others() -> None:
    """A variant for ``strides[0] > strides[1]`` must not serve an array where both are equal."""
    x = strided_array((4, 3), (8, 2))
    y = strided_array((4, 3), (2, 2))
    check(_copies, (x,), (y,), (x,), (x.T,), (y.T,), variants=None)


@st.composite
def operands(draw: Any, count: int, rank: int) -> tuple[np.ndarray, ...]:
    """Arrays of one shape, some axes of some of which are broadcast."""
    shape = draw(st.tuples(*[st.integers(1, 4)] * rank))
    return tuple(
        strided_array(shape, draw(st.tuples(*[st.sampled_from(STEPS)] * rank)))
        for _ in range(count)
    )


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_results_have_the_order_of_numpy(data: Any) -> None:
    """NumPy sorts axes by the strides of all operands, where equal ones leave C order as it is."""
    functions: list[tuple[Callable[..., Any], int]] = [
        (_copies, 1),
        (_pairs, 2),
        (_triples, 3),
        (_reductions, 1),
    ]
    function, count = data.draw(st.sampled_from(functions))
    rank = data.draw(st.integers(2, 4))
    calls = [data.draw(operands(count, rank)) for _ in range(2)]
    check(function, *calls, variants=None)
