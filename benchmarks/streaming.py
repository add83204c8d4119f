"""Streaming stores against plain ones, interleaved: ``python -m benchmarks.streaming``.

One line per size: time of plain over time of streamed, median over rounds, for ``out=`` and for a
fresh result, alone and followed by a sum that reads the result. Before it the noise: the same
kernel compiled twice, which would be 1.00 on a quiet machine.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from fusejit import fuse_jit
from fusejit.codegen.backend.compile import ArgType, compile_kernel

SIZES = (300_000, 1_000_000, 3_000_000, 10_000_000)
ROUNDS = 60


def chain8(a: Any, b: Any, c: Any) -> Any:
    """The chain of `benchmarks.workloads.elementwise`."""
    t = a * b + c
    return (t * t - a) * 0.5 + b * t - c


def kernels() -> dict[str, Callable[..., int]]:
    """The kernel of `chain8` with streaming stores, and two without."""
    example = np.zeros(8)
    text = str(fuse_jit(chain8).trace(example, example, example).fuse().lower().source)
    streamed = text.partition("\n")[2]
    plain = streamed.replace("stream_for(", "parallel_for(").replace("32 * s0, 8 * s0, ", "")
    assert plain != streamed
    signature = tuple(ArgType("array", np.dtype(np.float64), 1) for _ in range(4))
    texts = {"plain": plain, "again": f"{plain}\n# again\n", "streamed": streamed}
    return {k: compile_kernel(t, signature, cache_enabled=False).call for k, t in texts.items()}


def compare(n: int, is_fresh: bool, calls: dict[str, Callable[..., int]]) -> str:
    """Ratios of one size."""
    a, b, c = (np.random.default_rng(k).random(n) for k in range(3))
    out = np.empty(n)
    names = list(calls)
    alone: dict[str, list[float]] = {name: [] for name in names}
    read: dict[str, list[float]] = {name: [] for name in names}
    for r in range(ROUNDS):
        for name in names if r % 2 else reversed(names):
            start = time.perf_counter()
            result = np.empty(n) if is_fresh else out
            calls[name](a, b, c, result)
            done = time.perf_counter()
            result.sum()
            alone[name].append(done - start)
            read[name].append(time.perf_counter() - start)
            del result

    def ratio(times: dict[str, list[float]], name: str) -> float:
        return float(np.median(np.array(times["plain"]) / np.array(times[name])))

    kind = "fresh" if is_fresh else "out="
    return (
        f"{n:>10,} {kind:5}  streamed {ratio(alone, 'streamed'):.2f}, then read "
        f"{ratio(read, 'streamed'):.2f}   noise {ratio(alone, 'again'):.2f} and "
        f"{ratio(read, 'again'):.2f}   load {os.getloadavg()[0]:.1f}"
    )


def main() -> None:
    """Print the table."""
    calls = kernels()
    fuse_jit(chain8)(*(np.zeros(1_000_000) for _ in range(3)))  # starts the threads
    for n in SIZES:
        for is_fresh in (False, True):
            print(compare(n, is_fresh, calls), flush=True)


if __name__ == "__main__":
    main()
