"""``python -m benchmarks.schedule_steps [--picture FILE]``: a product of matrices, step by step.

Prints the log of `benchmarks.recipes.product` for two float32 matrices of 1024 x 1024 with the
measured time of a call after each step, and the speed as a share of BLAS.
"""

import argparse
from pathlib import Path

import numpy as np

from benchmarks.recipes import product
from fusejit.transform import Schedule, schedule
from fusejit.transform.log import log_text

SIZE = 1024
ROUNDS = 9


def main() -> None:
    """Measure, print, and draw."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--picture", type=Path, help="where to draw the times")
    parser.add_argument("--size", type=int, default=SIZE)
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    a, b = (rng.random((options.size, options.size), np.float32) for _ in range(2))
    s = product(schedule(lambda a, b: a @ b, a, b))
    seconds = s.time(rounds=ROUNDS)
    print(log_text(s, seconds))
    print()
    for name, found in zip(labels(s), seconds, strict=True):
        print(f"{name:44s} {seconds[0] / found:8.1%} of BLAS")
    if options.picture is not None:
        draw(labels(s), seconds, options.picture)


def labels(s: Schedule) -> list[str]:
    """The bars: BLAS, which the traced function calls, and each step."""
    return ["BLAS", *(step.call for step in s.steps)]


def draw(names: list[str], seconds: list[float], path: Path) -> None:
    """A bar for the time after each step, and a line at that of BLAS."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.5, 0.45 * len(names) + 1), layout="constrained")
    axes = figure.subplots()
    times = [1000 * s for s in seconds]
    bars = axes.barh(names, times, color=["#6b7280", *["#c2410c"] * (len(names) - 1)])
    axes.bar_label(bars, fmt="%.1f ms", padding=3)
    axes.axvline(times[0], color="#6b7280", linewidth=1, linestyle="--")
    axes.invert_yaxis()
    axes.set_xlim(0, 1.15 * max(times))
    axes.set_xlabel("time of a call after the step, ms (float32, 1024 x 1024)")
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=120)


if __name__ == "__main__":
    main()
