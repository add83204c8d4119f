"""Forked children of a process that compiled and ran a parallel kernel.

Regression: A fork of another thread printed a warning of Numba: only the thread that started TBB
can stop it. Kernels of that child are serial.
"""

from __future__ import annotations

import os
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit import fuse_jit

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")

LARGE = 600_000


def weigh(x: Any) -> Any:
    return np.exp(-x * x) + x


def other(x: Any) -> Any:
    return x * 3 - 1


def in_child(work: Callable[[], None]) -> None:
    """Run ``work`` in a forked child; it must end by itself with status 0."""
    sys.stdout.flush()
    with warnings.catch_warnings():
        # Python warns of every fork of a process with threads; that is what is tested here
        warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)
        child = os.fork()
    if child == 0:
        status = 1
        try:
            work()
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(status)
    deadline = time.monotonic() + 60
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            break
        if time.monotonic() > deadline:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            raise AssertionError("the child hangs")
        time.sleep(0.005)
    assert os.waitstatus_to_exitcode(status) == 0


@pytest.fixture(scope="module")
def fused() -> Any:
    """A function whose parallel kernel has run in this process."""
    result = fuse_jit(fullgraph=True)(weigh)
    large = np.linspace(-3, 3, LARGE)
    np.testing.assert_allclose(result(large), weigh(large), rtol=1e-14, atol=1e-14)
    return result


def test_a_child_calls_compiled_kernels(fused: Any) -> None:
    large, small = np.linspace(-2, 2, LARGE), np.linspace(0, 1, 5)
    expected = fused(large).copy(), fused(small).copy()

    def work() -> None:
        for _ in range(3):
            np.testing.assert_array_equal(fused(small), expected[1])
            np.testing.assert_array_equal(fused(large), expected[0])  # the same bits, serially

    in_child(work)
    np.testing.assert_array_equal(fused(large), expected[0])  # the parent goes on in parallel


def test_a_child_compiles(fused: Any) -> None:
    def work() -> None:
        new = fuse_jit(fullgraph=True)(other)
        for size in (4, LARGE):
            x = np.arange(float(size))
            np.testing.assert_array_equal(new(x), other(x))
        x32 = np.linspace(-2, 2, 7, dtype=np.float32)
        np.testing.assert_allclose(fused(x32), weigh(x32), rtol=1e-6)

    in_child(work)


def test_a_child_of_a_child(fused: Any) -> None:
    large = np.linspace(-2, 2, LARGE)
    expected = fused(large).copy()

    def work() -> None:
        np.testing.assert_array_equal(fused(large), expected)
        in_child(lambda: np.testing.assert_array_equal(fused(large), expected))

    in_child(work)


def iterate(a: Any, v: Any, steps: int) -> Any:
    for _ in range(steps):
        v = a @ v
        v = v / np.sqrt(v @ v)
    return v


def test_a_child_calls_blas_in_a_loop() -> None:
    """The parent's products ran on threads of BLAS, which a child does not have."""
    fused = fuse_jit(fullgraph=True)(iterate)
    rng = np.random.default_rng(0)
    a, v = rng.random((600, 600)), rng.random(600)
    expected = fused(a, v, 10)
    np.testing.assert_array_equal(expected, iterate(a, v, 10))

    def work() -> None:
        np.testing.assert_allclose(fused(a, v, 10), expected, rtol=1e-12)

    in_child(work)
