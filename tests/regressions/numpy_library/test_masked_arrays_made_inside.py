"""`ma.zeros(3)` was a plain array: constants lost their array subclass."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.ma as ma
import pytest

from fusejit import FuseWarning, fuse_jit

MADE: dict[str, Callable[[Any], Any]] = {
    "zeros": lambda x: (ma.zeros(3), x + 1),
    "asarray": lambda x: (ma.asarray([]), x * 2),
    "array": lambda x: (ma.array([1.0, 2.0]), x - 1),
    "used": lambda x: (x + ma.ones(3), ma.asarray([1.0, 2.0]).mask),
    "compressed": lambda x: (ma.asarray([]).compressed(), x),
}


@pytest.mark.parametrize("function", MADE.values(), ids=MADE)
def test_the_class_is_numpys(function: Any) -> None:
    fused = fuse_jit(function)
    x = np.arange(3.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FuseWarning)
        for _ in range(2):
            for ours, numpys in zip(fused(x), function(x), strict=True):
                assert type(ours) is type(numpys)
                np.testing.assert_array_equal(ours, numpys)
    assert not any("internal error" in why for why in fused.variants.fallbacks)
