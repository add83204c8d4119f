"""A child forked during a compilation hung: it waited for another thread's lock.

Since then a fork does not wait for the compilation, and such a child compiles nothing.
"""

from __future__ import annotations

import os
import signal
import threading
import warnings

import numpy as np

from fusejit import FuseWarning, fuse_jit
from fusejit.support.locks import ForkSafeLock


def test_child_forked_while_a_thread_holds_the_lock_calls_python() -> None:
    @fuse_jit
    def f(x):
        return x * 2 + 1

    state = f.__fusejit_state__.dispatcher
    held, done = threading.Event(), threading.Event()

    def hold() -> None:
        with state.state.lock:
            held.set()
            done.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # fork with threads, Python 3.12
        child = os.fork()
    if child == 0:
        signal.alarm(20)  # ends a child that waits for ever
        right = told = False
        with state.state.lock, warnings.catch_warnings():
            warnings.simplefilter("ignore", FuseWarning)
            right = np.array_equal(f(np.arange(3.0)), [1.0, 3.0, 5.0])
            told = "was forked" in f.explain(np.arange(3.0))
        os._exit(0 if right and told else 1)
    _, status = os.waitpid(child, 0)
    done.set()
    thread.join()
    assert status == 0


def test_child_forked_while_its_own_thread_holds_the_lock_gives_it_back() -> None:
    lock = ForkSafeLock()
    with warnings.catch_warnings(), lock:
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
        if child == 0:
            signal.alarm(20)
            try:
                lock.__exit__()
                with lock:
                    os._exit(0)
            finally:
                os._exit(1)
        _, status = os.waitpid(child, 0)
    assert status == 0
