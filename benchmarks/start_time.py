"""What fusejit costs a process before its first result: the import, and a function from the cache.

    python -m benchmarks.start_time [--rounds 9]

Each figure is the median of processes that take turns. "first call" begins when the imports are
done; its kernel is in the disk cache, which the first process of all has filled.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence

IMPORT = 1.4  # times `import numpy`
FIRST_CALL = 0.1  # seconds

_MEASURED = """
import json, time
start = time.perf_counter()
import numpy as np
told = {"import numpy": time.perf_counter() - start}
"""
_OF_FUSEJIT = """
from fusejit import fuse_jit
told["import numpy and fusejit"] = time.perf_counter() - start
@fuse_jit
def layer_norm(x, gain):
    centred = x - x.mean(axis=1, keepdims=True)
    return centred / np.sqrt((centred * centred).mean(axis=1, keepdims=True) + 1e-5) * gain
x, gain = np.ones((100, 64)), np.ones(64)
start = time.perf_counter()
layer_norm(x, gain)
told["first call"] = time.perf_counter() - start
"""
_OF_NUMBA = """
import numba
told["import numpy and numba"] = time.perf_counter() - start
"""
_END = "print(json.dumps(told))"


def seconds_of(program: str, cache: str) -> dict[str, float]:
    """What one process tells."""
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "FUSEJIT_CACHE_DIR": cache},
        check=True,
        capture_output=True,
        text=True,
    )
    told: dict[str, float] = json.loads(done.stdout)
    return told


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the medians, and the two ratios that have a bar."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.start_time")
    parser.add_argument("--rounds", type=int, default=9, help="processes of each kind")
    rounds = parser.parse_args(arguments).rounds
    seconds: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as cache:
        seconds_of(_MEASURED + _OF_FUSEJIT + _END, cache)
        for _ in range(rounds):
            for part in (_OF_FUSEJIT, _OF_NUMBA):
                for name, value in seconds_of(_MEASURED + part + _END, cache).items():
                    seconds.setdefault(name, []).append(value)
    medians = {name: statistics.median(values) for name, values in seconds.items()}
    for name, value in medians.items():
        print(f"{name:26}{value * 1e3:8.1f} ms")
    ratio = medians["import numpy and fusejit"] / medians["import numpy"]
    print(f"import: {ratio:.2f} times NumPy's (bar {IMPORT})")
    print(f"first call of a cached function: {medians['first call']:.3f} s (bar {FIRST_CALL})")


if __name__ == "__main__":
    main()
