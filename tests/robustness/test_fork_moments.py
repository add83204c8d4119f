"""Forks while another thread makes a first call: nobody hangs, and results are NumPy's.

Regression: A fork waited for the compile lock, and its holder for the lock of `logging`, which an
earlier hook of the fork had taken. A child waited for locks of imports, Numba or LLVM that a thread
held which it does not have.
"""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from fusejit_testing.forks import run_processes

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")

BEFORE = """
import os, signal, sys, threading, time, warnings
import numpy as np
from numpy.testing import assert_array_equal
from fusejit_testing.forks import end_after, forked
from fusejit import fuse_jit
from fusejit.support import locks

warnings.simplefilter("ignore")  # of forks with threads, and of what runs as plain NumPy
end_after(50)
x = np.arange(5.0)

def new(constant, **options):
    def f(x):
        return x * constant + 1
    return fuse_jit(**options)(f)

def works(f, constant):
    assert_array_equal(f(x), x * constant + 1)
    return 0

def meanwhile(work):
    "Run work in a thread, which calls its argument and then waits until the body is done."
    at_work, done = threading.Event(), threading.Event()
    def stop():
        at_work.set()
        done.wait(30)
    thread = threading.Thread(target=work, args=(stop,))
    thread.start()
    assert at_work.wait(30)
    def end():
        done.set()
        thread.join()
    return end
"""


def run(folder: Path, text: str, *, caches: bool = False) -> None:
    """Run a program in a process of its own, which is killed if it hangs."""
    environment = {**os.environ, "FUSEJIT_CACHE": "1" if caches else "0"}
    environment["FUSEJIT_CACHE_DIR"] = str(folder / "kernels")
    program = folder / "program.py"
    program.write_text(BEFORE + textwrap.dedent(text), encoding="utf-8")
    command = [sys.executable, str(program)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment)
    assert result.returncode == 0, result.stderr


def test_two_hundred_moments() -> None:
    run_processes(0, 4, 50)


def test_a_fork_waits_for_no_lock_and_a_child_takes_them_all(tmp_path: Path) -> None:
    run(
        tmp_path,
        """
    f, g = new(2.0), new(3.0)
    works(f, 2.0)
    ours = list(locks._all())
    assert len(ours) > 5
    def hold(stop):
        for lock in ours:
            lock.acquire()
        stop()
        for lock in ours:
            lock.release()
    end = meanwhile(hold)
    def child():
        for lock in ours:
            assert lock.acquire(timeout=5)
            lock.release()
        assert "was forked" in g.explain(x)
        return works(f, 2.0) or works(g, 3.0)
    begin = time.monotonic()
    assert forked(child) == 0
    end()
    works(g, 3.0)
    assert "kernel" in g.explain(x, detail=True)
    """,
    )


def test_a_compiling_thread_may_wait_for_what_another_hook_holds(tmp_path: Path) -> None:
    """The case of `logging`: the thread waits for a lock that the fork has taken first."""
    run(
        tmp_path,
        """
    import fusejit.codegen.backend.compile  # whose hooks are there before the other one
    from fusejit.codegen.backend import numba_private
    others = threading.Lock()
    compile_loops, is_first = numba_private.compile_loops, [True]
    def waits(*args):
        if is_first and is_first.pop():
            stop()
            with others:
                pass
        return compile_loops(*args)
    numba_private.compile_loops = waits
    os.register_at_fork(
        before=others.acquire, after_in_parent=others.release, after_in_child=others.release
    )
    at_work = threading.Event()
    stop = lambda: (at_work.set(), time.sleep(0.3))
    f = new(2.0)
    thread = threading.Thread(target=works, args=(f, 2.0))
    thread.start()
    assert at_work.wait(30)
    for _ in range(3):
        assert forked(lambda: works(f, 2.0) or works(new(3.0), 3.0)) == 0
    thread.join()
    works(f, 2.0)
    """,
    )


def test_locks_of_others_and_imports_are_seen(tmp_path: Path) -> None:
    (tmp_path / "slow_module.py").write_text("import builtins\nbuiltins.stop()\n")
    run(
        tmp_path,
        f"""
    import builtins
    import llvmlite.binding.ffi, numba.core.compiler_lock
    sys.path.insert(0, {str(tmp_path)!r})
    def of_llvm(stop):
        with llvmlite.binding.ffi.lib._lock:
            stop()
    def of_numba(stop):
        with numba.core.compiler_lock.global_compiler_lock:
            stop()
    def importing(stop):
        builtins.stop = stop
        import slow_module
    f, g = new(2.0), new(3.0)
    works(f, 2.0)
    for work, told in (
        (of_llvm, "LLVM"), (of_numba, "with Numba"), (importing, "importing slow_module")
    ):
        end = meanwhile(work)
        def child():
            assert told in locks.cut_short()
            works(f, 2.0), works(g, 3.0)
            assert told in g.explain(x) and told in repr(g.variants)
            try:
                new(4.0, fullgraph=True)(x)
            except Exception as error:
                assert told in str(error)
            else:
                assert False
            return forked(lambda: works(f, 2.0) or works(g, 3.0))
        assert forked(child) == 0
        end()
        assert forked(lambda: bool(locks.cut_short()) or works(g, 3.0)) == 0
    """,
    )


def test_a_child_collects_garbage(tmp_path: Path) -> None:
    run(
        tmp_path,
        """
    import gc
    from fusejit.codegen.backend import compile as compile_module
    def hold(stop):
        with compile_module._compile_lock, compile_module._collector_held_back():
            stop()
    end = meanwhile(hold)
    assert not gc.isenabled()
    assert forked(lambda: not gc.isenabled()) == 0
    assert not gc.isenabled()
    end()
    assert gc.isenabled()
    """,
    )


def test_a_handler_of_a_signal_forks_while_the_compiler_is_loaded(tmp_path: Path) -> None:
    """The main thread waits for another one, which the child does not have."""
    run(
        tmp_path,
        """
    main, children = os.getpid(), []
    def fork(signum, frame):
        child = os.fork()
        if child:
            children.append(child)
        else:
            end_after(20)
    signal.signal(signal.SIGUSR1, fork)
    is_over = threading.Event()
    def send():
        while not is_over.wait(0.1) and len(children) < 8:
            os.kill(main, signal.SIGUSR1)
    thread = threading.Thread(target=send)
    thread.start()
    f = new(2.0)
    status = 1
    try:
        works(f, 2.0)
        status = works(f, 2.0)
    finally:
        signal.signal(signal.SIGUSR1, signal.SIG_IGN)  # a child made later would go on below
        if os.getpid() != main:
            os._exit(status)
    is_over.set()
    thread.join()
    assert children
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * len(children)
    """,
    )


def test_a_users_function_forks_in_a_first_call(tmp_path: Path) -> None:
    """Called while the function is compiled, by the policy, or when it runs."""
    run(
        tmp_path,
        """
    statuses = []
    def policy(candidate):
        if not statuses:
            child = os.fork()
            if not child:
                end_after(20)
                statuses.append(None)
            else:
                statuses.append(os.waitpid(child, 0)[1])
        return candidate.default
    f = new(2.0, fusion=policy)
    works(f, 2.0)
    works(new(3.0), 3.0)
    assert not locks.cut_short()
    if statuses == [None]:
        os._exit(0)
    assert statuses == [0]

    @fuse_jit
    def forks(x):
        y = x * 2
        child = os.fork()
        return y + 1, child
    for _ in range(3):
        y, child = forks(x)
        assert_array_equal(y, x * 2 + 1)
        works(new(4.0), 4.0)
        if not child:
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
    """,
    )


def test_a_pool_of_processes_while_a_thread_compiles(tmp_path: Path) -> None:
    run(
        tmp_path,
        """
    import multiprocessing
    f, g = new(2.0), new(3.0)
    works(f, 2.0)
    def called(constant):
        end_after(20)
        return works({2.0: f, 3.0: g}[constant], constant)
    def compile_many():
        k = 10
        while not is_over.is_set():
            works(new(float(k)), float(k))
            k += 1
    is_over = threading.Event()
    thread = threading.Thread(target=compile_many)
    thread.start()
    for _ in range(3):
        with multiprocessing.get_context("fork").Pool(3) as pool:
            assert pool.map_async(called, [2.0, 3.0] * 4).get(30) == [0] * 8
    is_over.set()
    thread.join()
    works(g, 3.0)
    """,
    )


def test_a_fork_while_a_kernel_is_written_to_disk(tmp_path: Path) -> None:
    run(
        tmp_path,
        """
    from fusejit.codegen.backend import cache
    write = cache._write_replacing
    def slow(*args):
        if threading.current_thread() is thread:
            at_work.set()
            done.wait(30)
        write(*args)
    cache._write_replacing = slow
    at_work, done = threading.Event(), threading.Event()
    f = new(2.0)
    works(new(3.0), 3.0)
    thread = threading.Thread(target=works, args=(f, 2.0))
    thread.start()
    assert at_work.wait(30)
    assert forked(lambda: works(f, 2.0) or works(new(3.0), 3.0)) == 0
    done.set()
    thread.join()
    assert forked(lambda: works(new(2.0), 2.0)) == 0
    """,
        caches=True,
    )


def test_recorded_operations_while_a_thread_compiles_them(tmp_path: Path) -> None:
    """A fork runs what is recorded, by NumPy; it does not wait for a compile."""
    run(
        tmp_path,
        """
    import fusejit.numpy as fnp
    from fusejit.numpy import programs, window
    programs.FEWEST_VISITS, programs.COMPILE_SECONDS, programs.LOAD_SECONDS = 0, (0, 0), 0
    mine, made = None, []
    run_program = programs.Program.run
    def slow(program, arguments):
        stop()
        run_program(program, arguments)
    def work(stop_):
        global stop
        stop = stop_
        programs.Program.run = slow
        with fnp.threshold(0), fnp.window(64), locks.WorkLock():
            y = fnp.arange(1000) * 2.0
            made.append(y + 1)
            made[0].tolist()
    end = meanwhile(work)
    def child():
        return made[0].tolist() != (np.arange(1000) * 2.0 + 1).tolist()
    assert forked(child) == 0
    end()
    assert child() == 0
    """,
    )


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="binds a process to a core")
@pytest.mark.parametrize("calls_again", [False, True])
def test_a_process_on_one_core_ends_after_a_fork(tmp_path: Path, calls_again: bool) -> None:
    """Regression: TBB waited for ever at the end of a process that had one thread and a child."""
    run(
        tmp_path,
        f"""
        os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])
        end_after(20)
        f, large = new(2.0), np.arange(3e6)
        f(large)
        assert forked(lambda: works(f, 2.0)) == 0
        if {calls_again}:
            f(large)
            works(f, 2.0)
        """,
    )
