"""Windows whose bounds are clamped: ``img[max(0, i - r):i + r + 1, ..].mean()``.

Both extents differ from iteration to iteration, so their product is a number of the kernel. The
mean asked whether it is 0, and Python ran the loop; so did ``ddof=1``, in one dim too.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fusejit_testing.compare import Bound
from fusejit_testing.oracle import compare_outcomes, decorate, run

LOOP = """
import numpy as np

def filtered(img, r):
    h, w = img.shape
    out = np.zeros(img.shape)
    for i in range(h):
        for j in range(w):
            p = img[max(0, i - r):i + r + 1, max(0, j - r):min(w, j + r + 1)]
            out[i, j] = {value}
    return out

def rolled(img, r):
    x = img.ravel()
    out = np.zeros(len(x))
    for i in range(len(x)):
        p = x[max(0, i - r):i + r + 1]
        out[i] = {value}
    return out
"""
VALUES = (
    *("p.sum()", "p.mean()", "np.mean(p)", "np.average(p)", "p.max()", "p.min()", "np.ptp(p)"),
    *("p.std()", "p.var()", "np.std(p, ddof=1)", "p.var(ddof=2)", "np.linalg.norm(p)"),
    *("p.any()", "p.all()", "np.count_nonzero(p > 0)", "(p > 0).mean()", "p.size", "len(p)"),
    *("(p * p).sum()", "np.abs(p - p.mean()).max()", "p.max() - p.min()", "np.clip(p, 0, 1).sum()"),
    *("np.nanmean(p)", "np.nanmax(p)", "np.sum(p, where=p > 0)", "p[p > 0].sum()"),
    *("p.mean(axis=0).max()", "p.sum(axis=-1).min()", "np.diff(p, axis=0).sum()", "p.T.sum()"),
)


@pytest.mark.filterwarnings("ignore:Degrees of freedom")  # known in the kernel alone, which is mute
@pytest.mark.parametrize("value", VALUES)
def test_clamped_windows(value: str, tmp_path: Path) -> None:
    path = tmp_path / "windows.py"
    path.write_text(LOOP.format(value=value))
    names: dict[str, Any] = {}
    exec(compile(path.read_text(), str(path), "exec"), names)
    img = np.random.default_rng(0).normal(size=(5, 6))
    img[1, 2] = 0.0
    for name in ("filtered", "rolled"):
        function = names[name]
        if name == "rolled" and "axis" in value:
            continue
        fused = decorate(function, jit=False)
        assert "host_call" not in str(fused.trace(img, 2))
        for r in (2, 1, 0, 7):
            expected, actual = run(function, (img, r)), run(fused, (img, r))
            compare_outcomes(expected, actual, Bound(absolute=1e-13), f"{name}, r = {r}")
        assert not fused.variants.fallbacks
        assert fused.variants.segmented is None
