"""A failing program lost its partial effects: its errors must come from NumPy or Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit_testing.oracle import check


def undefined_name(b: Any) -> Any:
    b[1:-1] = b[:-2] + b[2:]
    return (undefined,)  # type: ignore[name-defined]  # noqa: F821


def missing_attribute(b: Any) -> Any:
    b[0] = 1
    return b.no_such_attribute


def missing_key(b: Any) -> Any:
    b[0] = 1
    return {"a": b}["b"]


def wrong_text(b: Any) -> Any:
    b[0] = 1
    return int("one")


@pytest.mark.parametrize("function", [undefined_name, missing_attribute, missing_key, wrong_text])
def test_partial_effects_of_a_program_that_fails(function: Callable[[Any], Any]) -> None:
    check(function, (np.arange(5.0) + 2,), variants=0)
