"""A maximum along a short axis was -0.0: unrolled reductions lacked the rule for zeros."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fusejit_testing.graphs.written_sums import numpy_as_written as as_written
from fusejit_testing.oracle import check, check_not_compiled
from fusejit_testing.programs.program_facts import observe


def along_one(x: Any) -> Any:
    return np.max(x[None], axis=0), np.min(x[:, None], axis=1, keepdims=True)


def along_one_as_written(x: Any) -> Any:
    return as_written.max(x[None], axis=0), as_written.min(x[:, None], axis=1, keepdims=True)


def of_pairs(x: Any) -> Any:
    return np.max(x.reshape(-1, 2), axis=1), np.min(x.reshape(2, -1), axis=0)


def of_pairs_as_written(x: Any) -> Any:
    return as_written.max(x.reshape(-1, 2), axis=1), as_written.min(x.reshape(2, -1), axis=0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("function", "reference"),
    [(along_one, along_one_as_written), (of_pairs, of_pairs_as_written)],
    ids=["one", "pairs"],
)
def test_negative_zeros(function: Any, reference: Any, dtype: type) -> None:
    values = np.array([-0.0, -0.0, 0.0, -0.0, 1.0, -1.0, np.nan, -0.0], dtype)
    check(function, (values,), (values[:2],), reference=reference, variants=None)
    assert not np.signbit(reference(np.full(4, -0.0, dtype))[0]).any()


def test_numpy_scalar_of_a_number_known_to_the_trace() -> None:
    """``np.sqrt(n)[None]`` is an array that NumPy makes while tracing, if n is always 1."""

    def spread(x: Any) -> Any:
        root = np.sqrt(x.shape[0])
        return x + root[None], root[...], x * root[..., None]

    check(spread, (np.arange(1.0),), (np.arange(3.0),), variants=2)


def test_a_float16_made_of_a_number_is_numpys() -> None:
    """`np.sqrt` of a bool is a float16, which is no dtype of ours: declined, not a KeyError."""

    def root(x: Any, flag: bool) -> Any:
        return x + np.sqrt(flag)

    x = np.arange(3.0)
    check_not_compiled(root, (x, np.bool_(True)), "dtype float16")
    assert np.dtype(np.float16) in observe("def program():\n    np.sqrt(True)", ()).dtypes
