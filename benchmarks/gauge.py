"""Is the machine quiet? A fixed piece of work is timed and compared with its own best time.

The work runs on every core at once (SHA-256 releases the GIL), so a neighbour on any core shows:
the engines may use all of them. Spinning workers that a BLAS call leaves behind are no neighbours;
they stop within some tens of milliseconds, so the best of a few probes counts.
"""

import hashlib
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from benchmarks.machine import available_cores

WORK_BYTES = 1 << 20
PROBES = 4
TOLERANCE = 1.15


class Gauge:
    """Times a fixed piece of work and remembers the best time seen.

    Parameters
    ----------
    probe
        Returns the time of the fixed work in nanoseconds; a fake in tests.
    tolerance
        A probe above the best by this factor means that the machine is busy.
    """

    def __init__(self, probe: Callable[[], float], tolerance: float = TOLERANCE) -> None:
        self.probe = probe
        self.tolerance = tolerance
        self.best_ns = float("inf")

    def measure(self) -> float:
        """Slowness now: the time of the work relative to the best one ever seen (>= 1)."""
        now_ns = self.probe()
        self.best_ns = min(self.best_ns, now_ns)
        return now_ns / self.best_ns

    def is_busy(self, slowness: float) -> bool:
        """Whether a slowness is more than ordinary jitter."""
        return slowness > self.tolerance

    def warm_up(self, probes: int = 20) -> None:
        """Look for the best time before the first decision."""
        for _ in range(probes):
            self.measure()


class CoreProbe:
    """The best of a few timings of hashing one mebibyte on each core at once."""

    def __init__(self, cores: int | None = None, probes: int = PROBES) -> None:
        self.cores = cores or available_cores()
        self.probes = probes
        self.data = bytes(WORK_BYTES)
        self.pool = ThreadPoolExecutor(self.cores)

    def __call__(self) -> float:
        """Time of the fixed work in nanoseconds."""
        return min(self._once() for _ in range(self.probes))

    def _once(self) -> float:
        start_ns = time.perf_counter_ns()
        for _ in self.pool.map(_hash, [self.data] * self.cores):
            pass
        return float(time.perf_counter_ns() - start_ns)

    def close(self) -> None:
        """Stop the threads."""
        self.pool.shutdown()


def _hash(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()
