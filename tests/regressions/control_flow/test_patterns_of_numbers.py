"""`case int(n)` took another case: the pattern tested the type of the tracer's placeholder."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit.errors import UnsupportedError
from fusejit_testing.compare import assert_same

X = np.array([1.5, -2.0, 0.25])


def in_a_tuple(x: Any, what: Any) -> Any:
    y = x * 2
    match what:
        case ("scale", int(n)):
            return y * n
        case ("scale", float(f)):
            return y * f * 10
        case [_, *rest]:
            return y + len(rest)
        case _:
            return y


def of_an_array(x: Any, what: Any) -> Any:
    match x:
        case np.ndarray(ndim=1):
            return x + 1
        case _:
            return x * what


def of_an_element(x: Any, what: Any) -> Any:
    match x[0]:
        case np.float64():
            return x + what
        case float():
            return x - what
    return x


def of_the_length(x: Any, what: Any) -> Any:
    match len(x):
        case int(n) if n > 2:
            return x * n
        case object():
            return x


@pytest.mark.parametrize(
    ("function", "what"),
    [
        (in_a_tuple, ("scale", 3)),
        (in_a_tuple, ("scale", 3.0)),
        (in_a_tuple, ("shift", 3.0, 4)),
        (in_a_tuple, 4),
        (of_an_array, 2),
        (of_an_element, 2),
        (of_the_length, 2),
    ],
)
def test_the_case_is_pythons(function: Callable[..., Any], what: Any) -> None:
    fused = fuse_jit(function)
    for _ in range(2):
        assert_same(function(X, what), fused(X, what))
    with pytest.raises(
        UnsupportedError, match=r"a pattern asks whether something is a .*isinstance"
    ):
        fuse_jit(fullgraph=True)(function)(X, what)


class Point:
    __match_args__ = ("x", "y")

    def __init__(self, x: Any, y: Any) -> None:
        self.x, self.y = x, y


def of_a_class_of_the_program(x: Any) -> Any:
    match Point(x * 2, x.sum()):
        case Point(a, b):
            return a + b
    return x


def test_patterns_of_other_classes_are_compiled() -> None:
    fused = fuse_jit(fullgraph=True)(of_a_class_of_the_program)
    assert_same(of_a_class_of_the_program(X), fused(X))
