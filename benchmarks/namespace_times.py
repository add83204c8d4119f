"""``python -m benchmarks --suite namespace``: the cost of `fusejit.numpy` beside NumPy.

| row | measurement | bar |
|---|---|---|
| small arrays | steps on arrays of 100 numbers, NumPy's time / ours | 1.00x |
| recording | an operation that is recorded, without its flush | 0.5 us |
| flush | 8 operations that a compiled window runs on 1,000 numbers | 3 us |
| chain | 3,000 additions to 1,000,000 numbers, beyond NumPy's time | 10 ms |
| peak memory | of the heat equation on 16,000,000 numbers, ours / NumPy's | 1.125 |
| small peak | the same on 1,000,000 numbers, where the compiler's own memory shows | 1.125 |

Medians of rounds in turn. Whole scripts are timed by ``python -m benchmarks.scripts_times``.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

ROUNDS = 30
COMMAND = [sys.executable, "-m", "benchmarks.namespace_times"]

_SMALL = """
x = np.linspace(0.0, 1.0, 100)
total = np.zeros(100)
for step in range(200):
    y = np.sin(x) * x + step
    total += np.where(y > 0.5, y, np.zeros(100))
"""
_HEAT = """
u = np.zeros((size, size))
u[0] = 1.0
for step in range(300_000 // size):
    laplacian = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * u[1:-1, 1:-1]
    u[1:-1, 1:-1] += 0.2 * laplacian
u.sum()
"""


def seconds(function: Callable[[], object]) -> float:
    """The time of one call."""
    begin = time.perf_counter()
    function()
    return time.perf_counter() - begin


def medians(*functions: Callable[[], object]) -> list[float]:
    """The median time of each function, run in turn."""
    times = [[seconds(function) for function in functions] for _ in range(ROUNDS)]
    return [statistics.median(each) for each in zip(*times, strict=True)]


def _run(source: Any, namespace: Any) -> Callable[[], None]:
    return lambda: exec(source, {"np": namespace})


def small_arrays() -> float:
    """NumPy's time / ours."""
    import numpy

    import fusejit.numpy as np

    source = compile(_SMALL, "<small>", "exec")
    by_numpy, ours = medians(_run(source, numpy), _run(source, np))
    return by_numpy / ours


def recording() -> float:
    """Microseconds to record an operation."""
    import fusejit.numpy as np

    source = compile("y = x\n" + "y = y + 1.0\n" * 60, "<chain>", "exec")
    with np.threshold(0), np.window(10_000):
        scope = {"x": np.ones(100)}

        def once() -> float:
            taken = seconds(lambda: exec(source, scope))
            str(scope.pop("y"))
            return taken / 60

        return statistics.median(once() for _ in range(ROUNDS)) * 1e6


def flush() -> float:
    """Microseconds for a compiled window of 8 operations, without recording them."""
    import fusejit.numpy as np
    from fusejit.numpy import programs
    from fusejit.numpy.window import CURRENT

    programs.COMPILE_SECONDS = 0.0, 0.0
    programs.LOAD_SECONDS = 0.0
    source = compile("y = x\n" + "y = y * 2.0 + 1.0\n" * 4, "<window>", "exec")
    with np.threshold(0), np.window(64):
        scope = {"x": np.ones(1000)}

        def once() -> float:
            exec(source, scope)
            return seconds(lambda: CURRENT.window.flush("measured"))

        for _ in range(5):
            once()
        return statistics.median(once() for _ in range(ROUNDS)) * 1e6


def chain() -> float:
    """Milliseconds that 3,000 additions take beyond NumPy's time."""
    import numpy

    import fusejit.numpy as np

    def added(namespace: Any) -> Callable[[], None]:
        def function() -> None:
            x = namespace.ones(1_000_000)
            for _ in range(3000):
                x = x + 1.0
            x.sum()

        return function

    rounds = [(seconds(added(numpy)), seconds(added(np))) for _ in range(3)]
    return statistics.median(ours - theirs for theirs, ours in rounds) * 1e3


def peak(module: str, size: int) -> int:
    """The peak memory of this process after the heat equation by a namespace, ``size`` squared."""
    import importlib
    import resource

    scope = {"np": importlib.import_module(module), "size": size}
    exec(compile(_HEAT, "<heat>", "exec"), scope)
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def peak_memory(size: int = 4000) -> float:
    """Peak memory with the namespace / with NumPy."""
    names = "fusejit.numpy", "numpy"
    ours, theirs = (int(_in_process("peak", name, str(size))) for name in names)
    return ours / theirs


def small_peak() -> float:
    """The same where the memory of libraries shows."""
    return peak_memory(1000)


def _in_process(*arguments: str) -> str:
    done = subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, check=True)
    return done.stdout.strip()


ROWS = {
    "small arrays": (small_arrays, "x", 1.0, True),
    "recording": (recording, "us", 0.5, False),
    "flush": (flush, "us", 3.0, False),
    "chain": (chain, "ms", 10.0, False),
    "peak memory": (peak_memory, "x", 1.125, False),
    "small peak": (small_peak, "x", 1.125, False),
}
"""What measures each row, its unit, the bar, and whether more is better."""


def main(arguments: list[str]) -> None:
    """Measure each row in a process of its own and print the table."""
    if arguments[:1] == ["peak"]:
        print(peak(arguments[1], int(arguments[2])))
        return
    if arguments:
        print(ROWS[arguments[0]][0]())
        return
    for name, (_, unit, bar, more_is_better) in ROWS.items():
        value = float(_in_process(name))
        is_met = value >= bar if more_is_better else value <= bar
        verdict = "pass" if is_met else "missed"
        print(f"{name:14s} {value:9.3f} {unit:3s} bar {bar:g} {unit}  {verdict}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
