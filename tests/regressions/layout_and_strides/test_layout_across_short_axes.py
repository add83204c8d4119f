"""Results had other strides: the guard compared neighbouring axes, even axes of length 1.

An axis of length 1 has no say. With one in the middle the axes beside it were not compared, and the
result lay in the order of other strides (SciPy's `_broadcast_concatenate`).
"""

from itertools import permutations
from typing import Any

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit_testing.compare import relevant_strides


def plus_one(x: Any) -> Any:
    return x + 1


def joined(x: Any) -> Any:
    return np.concatenate([x, x[..., :1]], axis=-1)


@pytest.mark.parametrize("function", [plus_one, joined])
@pytest.mark.parametrize("shape", [(3, 1, 4), (3, 1, 1, 4), (2, 1, 3, 4), (1, 3, 2), (3, 2, 1)])
def test_results_lie_as_in_numpy(function: Any, shape: tuple[int, ...]) -> None:
    steps = tuple(slice(None, None, 2) for _ in shape)
    fused = fuse_jit(function)
    fused(np.ones([4 * n for n in shape])[steps])  # strided, in C order
    for axes in permutations(range(len(shape))):
        x = np.ones([2 * shape[a] for a in axes])[steps].transpose(np.argsort(axes))
        expected, result = function(x), fused(x)
        np.testing.assert_array_equal(result, expected)
        assert relevant_strides(result) == relevant_strides(expected), (x.shape, x.strides)
