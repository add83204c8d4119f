"""parallel_for: the cut, the pool, forks, threads, nesting; the same bits whatever runs."""

import importlib.metadata
import importlib.util
import os
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

from fusejit.codegen.backend.compile import ArgType, compile_kernel
from fusejit.codegen.intrinsics.parallel import (
    BORDER_MULTIPLE,
    ROUNDED_FROM,
    chunk_bounds,
    parallel_for,
)
from fusejit.codegen.machine import pool
from fusejit.codegen.machine.cores import available_cores

SOURCE = """
def body(lo, hi, p_a, p_o, c):
    for i in range(lo, hi):
        x = get(p_a, i)
        put(p_o, i, (x * c + 1.0) * x - c)

def kernel(o, a, c, work_ns):
    parallel_for(body, a.shape[0], work_ns, flat(a), flat(o), c)
    return 0
"""

VECTOR = ArgType("array", np.dtype(np.float64), 1)
NUMBER = ArgType("scalar", np.dtype(np.float64))
INTEGER = ArgType("scalar", np.dtype(np.int64))


@pytest.fixture(scope="module")
def kernel():
    return compile_kernel(SOURCE, (VECTOR, VECTOR, NUMBER, INTEGER), cache_enabled=False)


@pytest.fixture(autouse=True)
def _threads_as_before():
    threads = pool.get_num_threads()
    yield
    pool.set_num_threads(threads)


def expected(a, c):
    return (a * c + 1.0) * a - c


@pytest.mark.parametrize("extent", [0, 1, 2, 3, 63, 64, 65, 255, 256, 1000, 4097])
@pytest.mark.parametrize("wanted", [1, 2, 3, 8])
def test_chunks_cover_the_extent_once(extent, wanted):
    chunks = list(chunk_bounds(extent, wanted))
    assert [i for lo, hi in chunks for i in range(lo, hi)] == list(range(extent))
    assert len(chunks) <= wanted
    for lo, hi in chunks[:-1]:
        assert hi - lo < ROUNDED_FROM or lo % BORDER_MULTIPLE == hi % BORDER_MULTIPLE == 0


def test_the_python_implementation_cuts_and_runs_the_last_chunk_first():
    calls = []
    parallel_for(lambda lo, hi, tag: calls.append((lo, hi, tag)), 7, 0, "x")
    assert calls == [(6, 7, "x"), (3, 6, "x"), (0, 3, "x")]
    calls.clear()
    parallel_for(lambda lo, hi: calls.append((lo, hi)), 0, 0)
    assert calls == [(0, 0)]


@pytest.mark.parametrize("n", [0, 1, 2, 100, 1000, 100_003])
@pytest.mark.parametrize("threads", [1, 2, 3, 8])
@pytest.mark.parametrize("work_ns", [0, 49_999, 50_000, 10**6, 10**15])
def test_any_number_of_threads_gives_the_same_bits(kernel, n, threads, work_ns):
    pool.set_num_threads(threads)
    a = np.random.default_rng(n).random(n)
    out = np.full(n, np.nan)
    assert kernel.call(out, a, 1.5, work_ns) == 0
    np.testing.assert_array_equal(out, expected(a, 1.5))


def test_unjitted(kernel):
    a = np.random.default_rng(0).random(100)
    out = np.empty(100)
    assert kernel.python(out, a, 1.5, 10**9) == 0
    np.testing.assert_array_equal(out, expected(a, 1.5))


def test_work_may_be_a_float():
    signature = (VECTOR, VECTOR, NUMBER, NUMBER)
    kernel = compile_kernel(SOURCE, signature, cache_enabled=False)
    a = np.ones(100_000)
    for work in (0.0, 1e6, 1e300, np.inf, np.nan):
        out = np.zeros_like(a)
        assert kernel.call(out, a, 2.0, work) == 0
        np.testing.assert_array_equal(out, expected(a, 2.0))


def test_openmp_and_workqueue_are_never_loaded(kernel):
    if not os.path.exists("/proc/self/maps"):
        pytest.skip("no /proc")
    with open("/proc/self/maps") as maps:
        text = maps.read()
    assert "omppool" not in text
    assert "workqueue" not in text


def test_two_threads_take_part():
    """The process uses CPU time that the calling thread does not."""
    if pool.start_pool() == "serial" or available_cores() < 2:
        pytest.skip("no pool, or one core")
    source = """
def body(lo, hi, p_o, n):
    s = scratch(8, f64)
    put(s, 0, 1.0)
    for i in range(lo, hi):
        for j in range(n):
            put(s, 0, get(s, 0) * 0.999 + 0.5)
        put(p_o, i, get(s, 0))

def kernel(o, n):
    parallel_for(body, o.shape[0], 10**9, flat(o), n)
    return 0
"""
    kernel = compile_kernel(source, (VECTOR, INTEGER), cache_enabled=False)
    pool.set_num_threads(2)
    out = np.empty(64)
    deadline = time.monotonic() + 20
    by_others = 0.0
    while by_others < 0.01 and time.monotonic() < deadline:
        process, thread = time.process_time(), time.thread_time()
        kernel.call(out, 20_000)
        by_others += (time.process_time() - process) - (time.thread_time() - thread)
    assert by_others >= 0.01


def test_eight_python_threads_at_once(kernel):
    pool.set_num_threads(2)
    a = np.random.default_rng(5).random(50_000)
    wrong = []

    def work(c):
        out = np.empty_like(a)
        for _ in range(100):
            out[:] = np.nan
            kernel.call(out, a, c, 10**6)
            if not np.array_equal(out, expected(a, c)):
                wrong.append(c)

    threads = [threading.Thread(target=work, args=(float(c),)) for c in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert pool._words[pool.WORD_BUSY] == 0


def test_a_nested_launch_is_serial():
    source = """
def inner(lo, hi, p_o, row, n):
    for j in range(lo, hi):
        put(p_o, row * n + j, f64(row) + f64(j))

def outer(lo, hi, p_o, n):
    for i in range(lo, hi):
        parallel_for(inner, n, 10**9, p_o, i, n)

def kernel(o):
    parallel_for(outer, o.shape[0], 10**9, flat(o), o.shape[1])
    return 0
"""
    matrix = ArgType("array", np.dtype(np.float64), 2)
    kernel = compile_kernel(source, (matrix,), cache_enabled=False)
    pool.set_num_threads(2)
    out = np.empty((300, 50))
    assert kernel.call(out) == 0
    np.testing.assert_array_equal(out, np.add.outer(np.arange(300.0), np.arange(50.0)))


PROGRAM = f"""
import os, threading
import numpy as np
from fusejit.codegen.machine import pool
from fusejit.codegen.backend.compile import ArgType, compile_kernel

BEFORE
VECTOR = ArgType("array", np.dtype(np.float64), 1)
NUMBER = ArgType("scalar", np.dtype(np.float64))
INTEGER = ArgType("scalar", np.dtype(np.int64))
kernel = compile_kernel({SOURCE!r}, (VECTOR, VECTOR, NUMBER, INTEGER), cache_enabled=False)
pool.set_num_threads(2)
a = np.random.default_rng(0).random(200_000)

def check():
    out = np.empty_like(a)
    assert kernel.call(out, a, 1.5, 10**6) == 0
    assert np.array_equal(out, (a * 1.5 + 1.0) * a - 1.5)

"""


def require_pool():
    if importlib.util.find_spec("tbb") is None and not list(importlib.metadata.files("tbb") or ()):
        pytest.skip("no TBB here")
    if available_cores() < 2:
        pytest.skip("one core")


def run_program(text, before=""):
    """Run `text` in its own process, with the kernel of this file compiled after `before`."""
    program = PROGRAM.replace("BEFORE", before) + textwrap.dedent(text)
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout + result.stderr == ""


def test_a_forked_child_computes():
    text = """
    check()
    for _ in range(3):
        child = os.fork()
        if child == 0:
            check()
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        check()
    """
    run_program(text)


def test_fork_while_the_pool_is_busy():
    text = """
    import signal
    stop = threading.Event()
    def work():
        while not stop.is_set():
            check()
    threads = [threading.Thread(target=work) for _ in range(2)]
    for t in threads: t.start()
    bad = 0
    for _ in range(100):
        child = os.fork()
        if child == 0:
            signal.alarm(30)  # about one child in 600 hung when other threads had launched kernels
            check()
            os._exit(0)
        bad += os.waitpid(child, 0)[1] != 0
    stop.set()
    for t in threads: t.join()
    check()
    assert bad == 0
    """
    run_program(text)


@pytest.mark.parametrize(("seconds", "kind"), [(0.05, "tbb"), (5.0, "serial")])
def test_a_fork_waits_a_little_for_kernels_at_work(seconds, kind):
    """TBB hung in one of the processes, about once in some thousand forks."""
    require_pool()
    text = f"""
    check()
    pool._words[pool.WORD_BUSY] = 1
    timer = threading.Timer({seconds}, lambda: pool._words.__setitem__(pool.WORD_BUSY, 0))
    timer.start()
    child = os.fork()
    if child == 0:
        check()
        as_before = pool.get_num_threads() == pool._words[pool.WORD_THREADS] == 2
        os._exit(0 if as_before and pool.pool_kind() == {kind!r} else 1)
    assert pool.get_num_threads() == pool._words[pool.WORD_THREADS] == 2
    assert os.waitpid(child, 0)[1] == 0
    timer.cancel()
    """
    run_program(text)


def test_without_tbb_everything_is_serial():
    before = "def no_tbb():\n    raise OSError\npool._load_tbb = no_tbb"
    run_program("check()\nassert pool.pool_kind() == 'serial'", before)


def test_tbb_is_used_where_it_is_installed():
    require_pool()
    run_program("check()\nassert pool.pool_kind() == 'tbb'")


def test_importing_starts_no_thread():
    text = (
        "import os, fusejit.codegen.backend.compile, fusejit.codegen.machine.pool;"
        "print(len(os.listdir('/proc/self/task')))"
    )
    if not os.path.exists("/proc/self/task"):
        pytest.skip("no /proc")
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    result = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, check=True, env=environment
    )
    assert result.stdout.strip() == "1"


def test_the_number_of_threads_is_at_least_one():
    with pytest.raises(ValueError, match="at least 1"):
        pool.set_num_threads(0)
