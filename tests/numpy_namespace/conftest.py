"""Fixtures of the tests of `fusejit.numpy`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import fusejit.numpy as np
from fusejit.numpy import programs


@pytest.fixture(autouse=True)
def arrays_of_32_kB_are_an_array() -> Iterator[None]:
    """Let tests use arrays that are smaller than the default threshold."""
    with np.threshold(32 * 1024):
        yield


@pytest.fixture
def everything_is_an_array() -> Iterator[None]:
    """Make every new array of numbers an `Array`, however small it is."""
    with np.threshold(0):
        yield


@pytest.fixture
def compiles_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compile each window when it first comes, to Python that is not jitted."""
    monkeypatch.setattr(programs, "FEWEST_VISITS", 0)
    monkeypatch.setattr(programs, "COMPILE_SECONDS", (0.0, 0.0))
    monkeypatch.setattr(programs, "LOAD_SECONDS", 0.0)
    monkeypatch.setattr(programs, "_PROGRAMS", {})
    monkeypatch.setenv("FUSEJIT_UNJITTED", "1")
    np.report().clear()
