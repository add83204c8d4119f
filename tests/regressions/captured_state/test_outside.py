"""`params["w"] -= g` was refused as a write to captured state, but only elements change."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from fusejit.errors import UnsupportedError
from fusejit_testing.oracle import check, decorate
from fusejit_testing.programs.segments_check import check_segments


def step_of_a_dict(g: Any, params: Any) -> Any:
    params["w"] -= params["lr"] * g
    params["w"][0] += 1
    return g


def step_of_a_list(g: Any, params: Any) -> Any:
    params[0] *= 2
    params[-1] += g
    return params


def test_augmented_items_of_containers() -> None:
    calls = [(np.ones(n), {"w": np.arange(float(n)), "lr": 0.5}) for n in (3, 5)]
    check(step_of_a_dict, *calls)
    check(step_of_a_list, *((np.ones(n), [np.ones(n), np.ones(n)]) for n in (3, 5)))


def test_augmented_attributes() -> None:
    def step(layer: Any, g: Any) -> Any:
        layer.w -= 0.5 * g
        return layer.w

    layer, other = SimpleNamespace(w=np.ones(3)), SimpleNamespace(w=np.ones(3))
    function = decorate(step, jit=False, fullgraph=True)
    for scale in (1, 2):
        expected = step(other, np.arange(3.0) * scale)
        assert function(layer, np.arange(3.0) * scale) is layer.w
        np.testing.assert_array_equal(layer.w, expected)
    assert len(function.variants) == 1


def test_other_writes_are_refused() -> None:
    def swapped(params: Any) -> None:
        params["a"] = params["b"]

    def number(params: Any) -> None:
        params["n"] += 1

    for function in (swapped, number):
        whole = decorate(function, jit=False, fullgraph=True)
        with pytest.raises(UnsupportedError, match="writes an item"):
            whole({"a": np.ones(2), "b": np.ones(2), "n": 1})
        check_segments(function, ({"a": np.ones(2), "b": np.zeros(2), "n": 1},))
