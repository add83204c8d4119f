"""The error state that is in force where NumPy itself runs between kernels, and its warnings.

Regression: Host calls warned within ``np.errstate(all="ignore")``: the state applied to tracing,
not to the launcher. A number that the launcher computes gave a FuseWarning where NumPy's warning is
an exception.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit.ir.text.parser import parse_graph
from fusejit.ir.text.printer import print_graph
from fusejit_testing.oracle import decorate

Z = np.array([1e5 + 1j, np.inf + 0j, 0j, -1e4j])
X = np.array([-np.inf, np.inf, np.nan, 1e308, 0.0])
A = np.array([[1e308, 1e308], [np.inf, 0.0]])


def host_calls(z: Any, x: Any, a: Any, s: Any) -> Any:
    with np.errstate(all="ignore"):
        return np.sinh(z), np.log(z), np.logaddexp(x, -x), np.divide(x, x, casting="unsafe")


def some_conditions(z: Any, x: Any, a: Any, s: Any) -> Any:
    with np.errstate(over="ignore"):
        return np.sinh(z), np.log(z), np.logaddexp(x, -x)


def without_a_state(z: Any, x: Any, a: Any, s: Any) -> Any:
    return np.sinh(z), np.log(z), np.divide(x, x, casting="unsafe")


def nested(z: Any, x: Any, a: Any, s: Any) -> Any:
    with np.errstate(all="ignore"):
        first = np.sinh(z)
        with np.errstate(over="warn"):
            second = np.sinh(z)
        return first, second, np.log(z)


def quiet(z: Any) -> Any:
    with np.errstate(all="ignore"):
        return np.log(z)


def helpers(z: Any, x: Any, a: Any, s: Any) -> Any:
    return quiet(z), np.sinh(z)


def inherited(z: Any, x: Any, a: Any, s: Any) -> Any:
    with np.errstate(over="ignore"):
        return quiet(z), np.sinh(z)


def in_a_loop(z: Any, x: Any, a: Any, s: Any) -> Any:
    total = np.zeros_like(z)
    for k in range(len(x)):
        with np.errstate(all="ignore"):
            total = np.where(k > 2, total, np.log(z))
    return total


def as_a_decorator(z: Any, x: Any, a: Any, s: Any) -> Any:
    return np.errstate(all="ignore")(np.log)(z), np.sinh(z), quietly(z)


@np.errstate(all="ignore")
def quietly(z: Any) -> Any:
    return np.log(z)


def products(z: Any, x: Any, a: Any, s: Any) -> Any:
    with np.errstate(all="ignore"):
        b = a @ a
    return b, np.dot(a[0], a[1])


def numbers(z: Any, x: Any, a: Any, s: Any) -> Any:
    with np.errstate(divide="ignore"):
        t = 1 / s
    return np.ones(3) * t, np.full(3, np.log(s))


PROGRAMS = (
    *(host_calls, some_conditions, without_a_state, nested, helpers, inherited, in_a_loop),
    *(as_a_decorator, products, numbers),
)
STATES: tuple[dict[str, Any], ...] = ({}, {"all": "ignore"}, {"over": "ignore"})


def outcome(function: Callable[..., Any], action: Any) -> list[tuple[type, str]]:
    """The warnings of a call, or what it raises if they are errors."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter(action)
        try:
            function(Z, X, A, np.float64(0))
        except Exception as error:
            return [(type(error), str(error))]
    return sorted({(w.category, str(w.message)) for w in told}, key=str)


@pytest.mark.parametrize("program", PROGRAMS)
def test_warnings_are_those_of_numpy(program: Callable[..., Any]) -> None:
    """``with np.errstate`` of the program was not in force for what NumPy runs between kernels."""
    with np.errstate(all="ignore"):
        traced_quietly = decorate(program, jit=False)
        outcome(traced_quietly, "ignore")
    for fused in (decorate(program, jit=False), traced_quietly):
        for state in STATES:
            for action in ("always", "error"):
                with np.errstate(**state):
                    assert outcome(program, action) == outcome(fused, action), (state, action)
        assert program is as_a_decorator or len(fused.variants) == 1


def test_the_state_is_part_of_the_printed_graph() -> None:
    """Two calls under different states are two: the text of a graph must tell them apart."""
    text = print_graph(decorate(nested, jit=False).trace(Z, X, A, np.float64(0)).graph)
    assert text.count('errstate "divide=ignore, over=ignore') == 2
    assert text.count("over=warn") == 1
    assert print_graph(parse_graph(text)) == text
    scalars = print_graph(decorate(numbers, jit=False).trace(Z, X, A, np.float64(1)).graph)
    assert 'errstate "divide=ignore"' in scalars
    assert print_graph(parse_graph(scalars)) == scalars
