"""Fixtures of the tests of `fusejit.numpy`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import fusejit.numpy as np


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
