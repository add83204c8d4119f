"""Calls that are left to NumPy are not traced each time."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import fusejit.api
from fusejit.api import FuseWarning
from fusejit.testing.oracle import decorate

scale: Any = np.float16(2)


def scaled(x: Any, n: int = 3) -> Any:
    return x * n * scale


def test_a_call_like_a_declined_one_is_not_traced(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of them cost a trace, which took longer than NumPy."""
    traces = []
    trace = fusejit.api.trace
    monkeypatch.setattr(fusejit.api, "trace", lambda *a: (traces.append(a), trace(*a))[1])
    decorated = decorate(scaled, jit=False)
    x = np.arange(4.0)
    with pytest.warns(FuseWarning, match="float16"):
        decorated(x)
    for number in range(100):
        assert decorated(x)[1] == 6 * 1.0 == scaled(x)[1], number
    assert 1 < len(traces) < 10
    assert decorated.variants.declined.total() == 101
    before = len(traces)
    decorated(x[::2])
    decorated(x, 4)
    decorated(x, 4)
    assert len(traces) == before + 2


def test_what_was_refused_may_compile_later(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a function finds outside its arguments may change."""
    decorated = decorate(scaled, jit=False)
    x = np.arange(4.0)
    with pytest.warns(FuseWarning, match="float16"):
        decorated(x)
    monkeypatch.setitem(globals(), "scale", 2.0)
    for _ in range(4):
        assert decorated(x).tolist() == scaled(x).tolist()
    assert len(decorated.variants) == 1


def test_arguments_of_all_kinds() -> None:
    """Numbers of any length, and what has no hash."""
    decorated = decorate(lambda x, n: x[0] * 1, jit=False)
    for n in (10**5000, np.float64("nan"), [1, [2]], (1, (2.0, None)), {1: 2}, object()):
        for _ in range(3):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", FuseWarning)
                assert decorated(np.ones(2, np.float16), n) == 1
