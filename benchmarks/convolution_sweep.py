"""``python -m benchmarks.convolution_sweep``: is the best algorithm chosen for convolutions?

Each row is one shape of ``conv_2d_nhwc_hwcf`` in float32: the time of loops in vector registers,
of a product of copied windows by BLAS, and of winograd with tiles of 2 (which rounds otherwise, so
that only a schedule asks for it), and the time that the choice loses against the better of the
first two. The choice is `fusejit.structured.library_calls.loops_are_faster`.
"""

import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any
from unittest import mock

import numpy as np

from fusejit import linalg
from fusejit.structured import library_calls
from fusejit.transform import schedule

SHAPES = [
    (batch, size, channels, filters, window)
    for batch, size in ((1, 28), (8, 14), (4, 56))
    for channels, filters in ((3, 8), (16, 12), (16, 16), (32, 32), (3, 64), (64, 64), (128, 20))
    for window in (1, 3, 5)
    if not (size == 56 and channels == 128)
]
SECONDS = 0.3


def convolution(image: Any, kernel: Any) -> Any:
    """The convolution that all forms compute."""
    return linalg.conv_2d_nhwc_hwcf(image, kernel)


def compiled(image: Any, kernel: Any, by_loops: bool) -> Callable[[], object]:
    """The convolution by loops or by BLAS, whatever would be chosen."""
    with mock.patch.object(library_calls, "loops_are_faster", return_value=by_loops):
        return partial(schedule(convolution, image, kernel).compile(), image, kernel)


def by_winograd(image: Any, kernel: Any) -> Callable[[], object]:
    """The convolution by winograd, whose products BLAS computes."""
    h = schedule(convolution, image, kernel)["conv_2d_nhwc_hwcf"]
    if h.op.library_call is None:
        h = h.generalize(reassociate=True)
    h = h.winograd(m=2, approximate=True, check=False)
    h = h if h.op.library_call else h.to_library()
    return partial(h.schedule.compile(), image, kernel)


def medians(forms: dict[str, Callable[[], object]]) -> dict[str, float]:
    """The median seconds of each form, run in turn."""
    times: dict[str, list[float]] = {name: [] for name in forms}
    for form in forms.values():
        form()
    end = time.perf_counter() + SECONDS
    while time.perf_counter() < end or len(times["loops"]) < 5:
        for name, form in forms.items():
            begin = time.perf_counter()
            form()
            times[name].append(time.perf_counter() - begin)
    return {name: statistics.median(found) for name, found in times.items()}


def main() -> None:
    """Print a row for each shape, and what the choice loses in the mean."""
    rng = np.random.default_rng(0)
    losses = []
    print(
        f"{'image':>16s} {'kernel':>14s} {'loops':>9s} {'BLAS':>9s} {'winograd':>9s}  chosen  loses"
    )
    for batch, size, channels, filters, window in SHAPES:
        image = rng.random((batch, size, size, channels), np.float32)
        kernel = rng.random((window, window, channels, filters), np.float32)
        forms = {
            "loops": compiled(image, kernel, by_loops=True),
            "BLAS": compiled(image, kernel, by_loops=False),
        }
        if window in (3, 5):
            forms["winograd"] = by_winograd(image, kernel)
        found = medians(forms)
        terms = kernel.size // filters
        is_by_loops = library_calls.loops_are_faster(filters, terms, window**2, kernel.itemsize)
        chosen = "loops" if is_by_loops else "BLAS"
        loss = found[chosen] / min(found["loops"], found["BLAS"])
        losses.append(loss)
        shown = " ".join(
            f"{found.get(name, np.nan) * 1e6:9.0f}" for name in ("loops", "BLAS", "winograd")
        )
        sizes = "x".join(map(str, image.shape)), "x".join(map(str, kernel.shape))
        print(f"{sizes[0]:>16s} {sizes[1]:>14s} {shown}  {chosen:6s} {loss - 1:6.0%}", flush=True)
    print(f"times in us; the choice loses {statistics.geometric_mean(losses) - 1:.1%} in the mean")


if __name__ == "__main__":
    main()
