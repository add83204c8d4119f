"""A float32 norm was float64: the argument `ord=np.int64(3)` took part in type promotion.

NumPy computes ``size **= ord``, which keeps the dtype of the array.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fusejit_testing.oracle import decorate


def test_norms_of_float32() -> None:
    x = np.arange(4, dtype=np.float32)

    def norm(x: Any, ord: Any) -> Any:
        return np.linalg.norm(x, ord=ord)

    decorated = decorate(norm, jit=False)
    for order in (np.int64(3), 3, 2.5):
        assert decorated(x, order).dtype == norm(x, order).dtype == np.float32
        np.testing.assert_allclose(decorated(x, order), norm(x, order), rtol=1e-6)
