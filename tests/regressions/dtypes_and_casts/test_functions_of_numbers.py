"""Functions of computed numbers were refused or gave arrays: their types were incomplete.

Of a number that only the call knows (``len(x) * 0.5``) functions that move axes were declined as if
NumPy raised; `np.real` of a Python float was an array; ``.dot`` of a NumPy scalar was found, and
``.is_integer`` was not; a complex Python number had no type.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit_testing.compare import assert_same
from fusejit_testing.oracle import decorate, run

X = np.array([0.5, 0.25, 2.0])


def halves(x: np.ndarray, f: Callable[[Any], Any]) -> Any:
    return f(len(x) * 0.5)


def element(x: np.ndarray, f: Callable[[Any], Any]) -> Any:
    return f(x[1])


def strong(x: np.ndarray, f: Callable[[Any], Any]) -> Any:
    return f(np.float64(len(x)))


@pytest.mark.parametrize("number", [halves, element, strong])
@pytest.mark.parametrize(
    "function",
    [
        lambda s: np.atleast_1d(s),
        lambda s: np.atleast_2d(s) + 1,
        lambda s: np.atleast_3d(s),
        lambda s: np.broadcast_to(s, (2, 3)),
        lambda s: np.broadcast_to(s, (2,)).copy(),
        lambda s: np.transpose(s) + 1,
        lambda s: np.reshape(s, (1, 1)),
        lambda s: np.ravel(s),
        lambda s: np.squeeze(s) + 1,
        lambda s: np.expand_dims(s, 0),
        lambda s: np.flip(s) + 1,
        lambda s: np.roll(s, 1) + 1,
        lambda s: np.diagflat(s),
        lambda s: np.take(s, 0),
        lambda s: np.real(s),
        lambda s: np.imag(s),
        lambda s: s.is_integer(),
    ],
)
def test_functions_of_numbers(number: Callable[..., Any], function: Callable[[Any], Any]) -> None:
    fused = decorate(number, jit=False)
    for x in (X, X[:2]):
        assert_same(number(x, function), fused(x, function))
    assert not fused.variants.fallbacks


@pytest.mark.parametrize("name", ["dot", "nothing"])
def test_scalars_have_the_attributes_of_their_type(name: str) -> None:
    def asked(x: np.ndarray, name: str) -> Any:
        return getattr(x[1], name)

    expected = run(asked, (X, name)).error
    actual = run(decorate(asked, jit=False), (X, name)).error
    assert (type(actual), str(actual)) == (type(expected), str(expected))


def test_targets_are_arrays() -> None:
    def put(x: np.ndarray) -> None:
        np.put(len(x), 0, 1)  # type: ignore[call-overload]

    expected = run(put, (X,)).error
    actual = run(decorate(put, jit=False), (X,)).error
    assert isinstance(expected, TypeError)
    assert (type(actual), str(actual)) == (type(expected), str(expected))


def test_complex_numbers_of_python_have_a_type() -> None:
    def selected(x: np.ndarray) -> Any:
        return np.select([x > 1, x > 0], [x, 1j], 2), isinstance((x[0] + 0j).item(), complex)

    for x in (X, np.arange(3)):
        assert_same(selected(x), decorate(selected, jit=False)(x))


def test_sizes_that_are_not_as_assumed_are_told_as_such() -> None:
    def trimmed(x: np.ndarray) -> Any:
        (found,) = np.nonzero(np.abs(x) > 1)
        if len(found) == 0:
            return x[:1] * 0
        return x[: found[-1] + 1].copy()

    fused = decorate(trimmed, jit=False)
    fused(X)
    cause = "sizes that only the call knows are not as assumed"
    with pytest.warns(UserWarning, match=f"for this call: {cause}"):
        assert_same(trimmed(X[:2]), fused(X[:2]))
    assert [*fused.variants.fallbacks] == [cause]
