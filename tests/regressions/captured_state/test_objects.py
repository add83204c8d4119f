"""`hasattr(x, "storage")` was True: traced arrays showed the tracer's own attributes."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit.api import FuseWarning
from fusejit.errors import UnsupportedError
from fusejit_testing.oracle import check, decorate

X = np.arange(3.0)


def writes_an_unknown_attribute(x: Any) -> Any:
    x[0] = 7
    x.path = 3
    return x + 0


def deletes_an_attribute(x: Any) -> Any:
    del x.storage


@pytest.mark.parametrize("name", ["storage", "extents", "map", "kind", "path", "value", "affine"])
def test_what_the_tracer_uses_is_hidden(name: str) -> None:
    check(lambda x: x + (1 if hasattr(x, name) else 2), (X,))
    check(lambda x, p: x + (1 if hasattr(p, name) else 2), (X, 3), (X, 4))
    check(lambda x: x + getattr(x, name, 5), (X,))
    check(lambda x: getattr(x, name), (X,), variants=None)


def test_attributes_that_cannot_be_written() -> None:
    check(writes_an_unknown_attribute, (X,), variants=None)
    check(deletes_an_attribute, (X,), variants=None)


def test_attributes_that_change_the_type() -> None:
    """A shape may be assigned; another dtype is a statement of Python's."""

    def shape(x: Any) -> Any:
        y = x + 1
        y.shape = (3, 1)
        return y

    def dtype(x: Any) -> Any:
        y = x + 1
        y.dtype = np.int64
        return y

    check(shape, (X,))
    with pytest.raises(UnsupportedError, match="dtype"):
        decorate(dtype, jit=False, fullgraph=True)(X)


@pytest.mark.parametrize(
    "function",
    [lambda x: x == None, lambda x: x != None, lambda x: x == "a", lambda x: x != "a"],  # noqa: E711
)
def test_comparisons_with_foreign_objects_are_numpys(function: Callable[[Any], Any]) -> None:
    fused = decorate(function, jit=False)
    with pytest.warns(FuseWarning, match="comparison"):
        result = fused(X)
    np.testing.assert_array_equal(result, function(X))


def test_the_identity_of_arguments_is_not_known() -> None:
    def same(x: Any, y: Any) -> Any:
        return x + 1 if x is y else y

    def different(x: Any, y: Any) -> Any:
        return x + 1 if x is not y else y

    for function in (same, different):
        for pair in ((X, X), (X, X + 1), (3, 4)):
            with pytest.raises(UnsupportedError, match="one object"):
                decorate(function, jit=False, fullgraph=True)(*pair)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", FuseWarning)  # of numbers, in the whole function
                actual = decorate(function, jit=False)(*pair)  # Python compares them
            np.testing.assert_array_equal(actual, function(*pair))


def test_the_identity_of_other_objects_is_known() -> None:
    def function(x: Any, out: Any = None) -> Any:
        y = x
        z = x + 0
        missing = None
        return (y is x, z is x, z is not x, out is missing, x is missing)

    check(function, (X,), (np.ones(2),))
