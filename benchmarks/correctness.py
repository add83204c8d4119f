"""Is a result right? NumPy's result decides; the tolerance is stated here and nowhere else."""

from collections.abc import Sequence
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.programs.sensitivity import distance
from benchmarks.workload import Array

ULPS = 64
"""Elementwise allowance: a few transcendentals of 4 ulp each, amplified by the arithmetic."""

ULPS_PER_ROOT = 8
"""Times sqrt(size): rounding of sums in another order grows like a random walk."""


def tolerance(dtype: np.dtype[Any], size: int, reassociates: bool) -> float:
    """Relative tolerance, also applied to the largest magnitude as an absolute one.

    Integers and booleans: 0, exact.
    """
    if dtype.kind not in "fc":
        return 0.0
    ulps = ULPS + (ULPS_PER_ROOT * sqrt(size) if reassociates else 0.0)
    return ulps * float(np.finfo(dtype).eps)


def compare(
    expected: list[Array],
    found: list[Array],
    size: int,
    reassociates: bool,
    allowed: Sequence[float] | None = None,
) -> tuple[float, str | None]:
    """Largest error relative to the largest magnitude, and what is wrong (None: nothing).

    With `allowed` the largest difference of each result is given; otherwise `tolerance` says it.
    """
    if len(expected) != len(found):
        return float("inf"), f"{len(found)} results instead of {len(expected)}"
    worst = 0.0
    for position, (want, have) in enumerate(zip(expected, found, strict=True)):
        where = f"result {position}: "
        if want.shape != have.shape:
            return float("inf"), f"{where}shape {have.shape} instead of {want.shape}"
        if want.dtype != have.dtype:
            return float("inf"), f"{where}dtype {have.dtype} instead of {want.dtype}"
        if want.size == 0:
            continue
        wide = np.complex128 if want.dtype.kind == "c" else np.float64
        scale = max(_largest_finite(want.astype(wide)), np.finfo(np.float64).tiny)
        with np.errstate(invalid="ignore"):  # inf - inf; allclose decides about those
            error = have.astype(wide) - want.astype(wide)
        largest = _largest_finite(error) / scale
        worst = max(worst, largest)
        if not np.array_equal(np.isfinite(want), np.isfinite(have)):
            return float("inf"), f"{where}not finite where NumPy's is, or the other way round"
        if allowed is not None:
            apart = distance(want, have)
            if apart > allowed[position]:
                return worst, f"{where}{apart:.3g} apart, allowed {allowed[position]:.3g}"
            continue
        relative = tolerance(want.dtype, size, reassociates)
        if not np.allclose(have, want, rtol=relative, atol=relative * scale, equal_nan=True):
            return worst, f"{where}relative error {largest:.3g}, allowed {relative:.3g}"
    return worst, None


def _largest_finite(numbers: Array) -> float:
    magnitudes = np.abs(numbers)
    return float(np.max(magnitudes, where=np.isfinite(magnitudes), initial=0.0))


def load_results(path: Path) -> list[Array]:
    """Arrays that a worker saved with its ``check`` command."""
    with np.load(path) as saved:
        return [saved[name] for name in saved.files]
