"""Memory did not suffice to load a library, and the message spoke of a fault of fusejit."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fusejit.failures
from fusejit import FuseWarning
from fusejit.failures import is_out_of_memory
from fusejit_testing.oracle import decorate

LACKS = [
    MemoryError(),
    OSError(errno.ENOMEM, "Cannot allocate memory"),
    OSError("libllvmlite.so: failed to map segment from shared object"),
    ImportError("mtrand.so: failed to map segment from shared object"),
]


@pytest.mark.parametrize("lack", LACKS, ids=repr)
def test_it_is_said_plainly(lack: Exception, monkeypatch: Any, tmp_path: Path) -> None:
    def enter(*args: Any) -> None:
        try:
            raise lack
        finally:
            monkeypatch.undo()

    def doubled(x: Any) -> Any:
        return np.exp(x) * 2

    fused = decorate(doubled, jit=False, reports=tmp_path)
    monkeypatch.setattr(fusejit.failures.budget, "enter", enter)
    with pytest.warns(FuseWarning, match="memory does not suffice"):
        result = fused(np.ones(3))
    np.testing.assert_array_equal(result, doubled(np.ones(3)))
    assert not [*tmp_path.iterdir()]


def test_what_led_to_an_error_counts() -> None:
    outer = ImportError("no module")
    outer.__cause__ = LACKS[2]
    assert is_out_of_memory(outer)
    assert not is_out_of_memory(OSError("no such file"))
    assert not is_out_of_memory(ValueError("failed to map segment"))
