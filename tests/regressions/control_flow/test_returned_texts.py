"""A function returned 0 instead of a text: another branch's number was used."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fusejit.errors import UnsupportedError
from fusejit_testing.oracle import compare_outcomes, decorate, run

CALLS = (np.arange(9.0), np.arange(9.0) - 3, np.arange(-9.0, 0.0))


def text_of_an_else(x: Any) -> Any:
    for v in x:
        if v > 7:
            break
    else:
        if x.size > 99:
            raise ValueError("too many")
        return "none"
    return v


def nested_text(x: Any) -> Any:
    if x.min() < 0:  # noqa: SIM102
        if x.max() > 5:
            return "both"
    return x.sum()


def none_early(x: Any) -> Any:
    for v in x:
        if v > 7:
            return None
    return x.size


def number(x: Any) -> Any:
    for v in x:
        if v > 7:
            return v
        if v < -7:
            return -v
    return np.float64(2)


@pytest.mark.parametrize("program", [text_of_an_else, nested_text, none_early])
def test_never_another_result(program: Any) -> None:
    decorated = decorate(program, jit=False)
    for x in CALLS:
        actual = run(decorated, (x,))
        if not isinstance(actual.error, UnsupportedError):
            compare_outcomes(run(program, (x,)), actual)


def test_numbers() -> None:
    decorated = decorate(number, jit=False)
    for x in CALLS:
        compare_outcomes(run(number, (x,)), run(decorated, (x,)))
    assert len(decorated.variants) == 1
