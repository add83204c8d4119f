"""Fixtures of all tests: a private kernel cache.

What the tests decorate is compiled even where it does not pay: their arrays are small. Tests of
what is left to Python ask for it.
"""

from __future__ import annotations

import gc
import os
import tempfile
from collections.abc import Iterator

import pytest

os.environ.setdefault("FUSEJIT_RETIRE", "0")
os.environ.setdefault("FUSEJIT_LAZY", "1")  # what is tested of `fusejit.numpy` is its own arrays


def pytest_collection_finish(session: pytest.Session) -> None:
    """Modules and tests live as long as the session: collections need not go through them."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)


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
