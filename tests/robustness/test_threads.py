"""Threads that call one decorated function for the first time at once."""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from fusejit import fuse_jit
from fusejit.support.syntax import parse
from fusejit_testing.compare import assert_same
from fusejit_testing.oracle import decorate

NUM_THREADS = 8
LARGE = 400_000  # several chunks of a parallel kernel


def blend(x: Any, y: Any) -> Any:
    z = x * 2 - y
    z[1:] += x[:-1]
    return z, abs(z)


def together(work: Callable[[int], None]) -> None:
    """Run ``work(0), work(1), ...`` in threads that start at one moment; raise what one raised."""
    barrier = threading.Barrier(NUM_THREADS)
    errors: list[BaseException] = []

    def run(number: int) -> None:
        try:
            barrier.wait(60)
            work(number)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(k,)) for k in range(NUM_THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not any(t.is_alive() for t in threads)
    if errors:
        raise errors[0]


def test_first_calls_at_once() -> None:
    fused = fuse_jit(fullgraph=True)(blend)
    dtypes = [np.float64, np.float32, np.int64, np.float64]

    def work(number: int) -> None:
        rng = np.random.default_rng(number)
        dtype = dtypes[number % 4]
        for size in (3 + number, 1000 * (number + 1), LARGE, 1 + number % 2):
            x, y = (rng.integers(-50, 50, size).astype(dtype) for _ in range(2))
            assert_same(blend(x, y), fused(x, y))

    together(work)
    # one variant for each dtype, and one more where an axis of length 1 was seen
    classes = {
        (str(v.traced.checks[0].expected), *map(str, v.traced.graph.guards)) for v in fused.variants
    }
    assert len(classes) == len(fused.variants) <= 6
    assert not fused.variants.fallbacks


def test_traces_of_different_functions_do_not_mix() -> None:
    functions = []
    for k in range(NUM_THREADS):
        exec_names: dict[str, Any] = {}
        exec(
            f"def scale{k}(x):\n    y = x * {k}\n    y[::2] -= {k + 1}\n    return y\n", exec_names
        )
        functions.append(exec_names[f"scale{k}"])

    fused = [decorate(f, jit=False) for f in functions]

    def work(number: int) -> None:
        for round_ in range(4):
            at = (number + round_) % NUM_THREADS
            x = np.arange(5.0) + number
            assert_same(functions[at](x), fused[at](x))

    together(work)


def test_trees_are_built_in_threads() -> None:
    """CPython 3.11.7 counts tree depth for all threads together, and fails (gh-106905).

    Another thread comes between where the garbage collector runs Python code.
    """
    text = "\n".join(f"def f{k}(x):\n    return (((x + {k}) * 2) - 1) ** x" for k in range(50))

    def work(number: int) -> None:
        for _ in range(10):
            assert len(parse(text).body) == 50

    def give_way(phase: str, info: dict[str, int]) -> None:
        time.sleep(0)

    thresholds = gc.get_threshold()
    gc.callbacks.append(give_way)
    gc.set_threshold(50)
    try:
        together(work)
    finally:
        gc.callbacks.remove(give_way)
        gc.set_threshold(*thresholds)


def iterate(a: Any, v: Any, steps: int) -> Any:
    for _ in range(steps):
        v = a @ v
        v = v / np.sqrt(v @ v)
    return v


def test_products_in_loops_at_once() -> None:
    fused = fuse_jit(fullgraph=True)(iterate)

    def work(number: int) -> None:
        rng = np.random.default_rng(number)
        for n in (3, 40 + number, 300):
            a, v = rng.random((n, n)), rng.random(n)
            np.testing.assert_allclose(fused(a, v, 10), iterate(a, v, 10), rtol=1e-12)

    together(work)
    assert len(fused.variants) == 1
