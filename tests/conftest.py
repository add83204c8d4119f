"""Fixtures of all tests: a private kernel cache."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session", autouse=True)
def private_cache() -> Iterator[None]:
    """Kernels of the tests are kept in a folder of this session, never in ~/.cache."""
    before = os.environ.get("FUSEJIT_CACHE_DIR")
    with tempfile.TemporaryDirectory(prefix="fusejit-tests-") as folder:
        os.environ["FUSEJIT_CACHE_DIR"] = folder
        yield
        if before is None:
            del os.environ["FUSEJIT_CACHE_DIR"]
        else:
            os.environ["FUSEJIT_CACHE_DIR"] = before
