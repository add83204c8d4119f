"""`np.array(x, copy=np._CopyMode.IF_NEEDED)` was an internal error: the mode was unknown."""

from __future__ import annotations

import numpy as np
import pytest

from fusejit_testing.oracle import decorate


@pytest.mark.parametrize("name", ["IF_NEEDED", "ALWAYS", "NEVER"])
def test_copy_modes(name: str) -> None:
    mode = getattr(np._CopyMode, name)  # type: ignore[attr-defined]

    def made(x: np.ndarray) -> np.ndarray:
        return np.array(x, copy=mode)

    x = np.arange(3.0)
    fused = decorate(made, jit=False)
    assert fused(x).tolist() == x.tolist()
    assert (fused(x) is x) == (made(x) is x)
    assert not fused.variants.fallbacks
