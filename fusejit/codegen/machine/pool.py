"""The pool of threads behind `parallel_for`: TBB, started on first use, or nothing.

Compiled kernels see one symbol, ``fusejit_pool``: a few 64-bit words they read at each launch, so
the number of threads can change at run time and a process without a pool runs the same code
serially.

Neither OpenMP nor workqueue is ever started: one busy neighbour makes the first many times slower
than serial and it kills forked children; the second aborts on concurrent use.
"""

from __future__ import annotations

import ctypes
import importlib.machinery
import importlib.util
import os
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from fusejit.codegen.machine.cores import available_cores
from fusejit.support.interrupts import run_uninterruptible
from fusejit.support.locks import WorkLock

TBB = "libtbb.so.12"
POOL_SYMBOL = "fusejit_pool"
WORD_THREADS, WORD_BUSY, WORD_LAUNCH, WORD_STARTER, WORD_OTHERS = 0, 1, 2, 3, 4
"""Words of the pool's memory: threads to use, 1 during a launch, address of its parallel_for,
the thread that started it, 1 once another thread has launched."""
CAN_FORK = hasattr(os, "register_at_fork")

_TBB_MINIMUM_INTERFACE = 12060
_FORK_WAITS_S, _START_WAITS_S = 0.25, 2.0

_words = (ctypes.c_int64 * 8)()
_starting = WorkLock()
_started = False
_symbol_added = False
_forks: dict[int, bool] = {}
"""By the threads that fork: whether the child can start the pool anew, which there is already."""

_redirected: list[tuple[int, int]] = []
"""Output streams that lead to nowhere during a fork, and duplicates to restore them from."""


_num_threads = _words[WORD_THREADS] = available_cores()


def set_num_threads(n: int) -> None:
    """Let kernels use at most `n` threads from their next launch on; 1 is serial.

    Raises
    ------
    ValueError
        If `n` is below 1.
    """
    if n < 1:
        raise ValueError(f"set_num_threads({n}): the number of threads must be at least 1")
    global _num_threads
    _num_threads = int(n)
    if not _forks:  # else after the fork
        _words[WORD_THREADS] = _num_threads


def get_num_threads() -> int:
    """Most threads that a kernel's next launch may use."""
    return _num_threads


def pool_kind() -> str:
    """``"tbb"`` once the pool runs, else ``"serial"``."""
    return "tbb" if _words[WORD_LAUNCH] else "serial"


def _load_tbb() -> None:
    """Make libtbb findable for Numba's backend; PyPI's wheel is in a folder no loader looks into.

    Raises
    ------
    OSError
        If there is no TBB, or it is too old.
    """
    for candidate in _tbb_files():
        try:
            library = ctypes.CDLL(candidate, mode=ctypes.RTLD_GLOBAL)
        except OSError:
            continue
        if library.TBB_runtime_interface_version() >= _TBB_MINIMUM_INTERFACE:
            return
    raise OSError(f"no {TBB} of interface 12060 or later")


def _tbb_files() -> Iterator[str]:
    """Where libtbb may be: where PyPI's wheel puts it, where its metadata say, anywhere."""
    usual = Path(sys.prefix, "lib", TBB)
    if usual.exists():
        yield str(usual)
    from importlib import metadata  # slow to import

    try:
        files = metadata.files("tbb") or []
    except metadata.PackageNotFoundError:
        files = []
    yield from (str(f.locate()) for f in files if f.name == TBB)
    yield TBB


def _tbb_backend() -> ModuleType:
    """Numba's extension module for TBB, without importing Numba (a cached kernel does not need it).

    Raises
    ------
    ImportError
        If this Numba has none.
    """
    numba = importlib.util.find_spec("numba")
    for folder in (numba and numba.submodule_search_locations) or ():
        for suffix in importlib.machinery.EXTENSION_SUFFIXES:
            path = Path(folder, "np", "ufunc", "tbbpool" + suffix)
            spec = importlib.util.spec_from_file_location("numba.np.ufunc.tbbpool", path)
            if path.exists() and spec is not None and spec.loader is not None:
                module = importlib.util.module_from_spec(spec)
                spec.loader.exec_module(module)
                return module
    raise ImportError("this Numba has no TBB backend")


def register_pool_symbol() -> None:
    """Make `POOL_SYMBOL` known to LLVM, without starting anything."""
    global _symbol_added
    import llvmlite.binding  # not at import: parallel_for in Python needs no LLVM

    if not _symbol_added:
        llvmlite.binding.add_symbol(POOL_SYMBOL, ctypes.addressof(_words))
        _symbol_added = True


def start_pool() -> str:
    """Start the pool, once per process; return `pool_kind`.

    Without TBB it stays serial, and on one core, where a pool gains nothing: in a process that has
    forked, TBB would wait for ever at the end for a second thread.
    """
    global _started
    register_pool_symbol()
    with _starting:
        if not _started:
            tbbpool = run_uninterruptible(_loaded_backend) if available_cores() > 1 else None
            if tbbpool is not None:
                _wait_for_forks()
                _words[WORD_STARTER] = threading.get_ident()
                # keeps the GIL, so that no other thread forks meanwhile
                ctypes.PYFUNCTYPE(None, ctypes.c_int)(tbbpool.launch_threads)(available_cores())
                _words[WORD_LAUNCH] = tbbpool.parallel_for
            _started = True
    return pool_kind()


def _wait_for_forks() -> None:
    """Let forks end that have not asked TBB whether it can be shut down; none takes so long."""
    end = time.monotonic() + _START_WAITS_S
    while _forks and time.monotonic() < end:
        time.sleep(2e-4)


def _loaded_backend() -> ModuleType | None:
    """TBB and Numba's module for it; None without."""
    try:
        _load_tbb()
        return _tbb_backend()
    except (ImportError, OSError):
        return None


def _before_fork() -> None:
    """Wait until no kernel uses the pool: TBB may hang in both processes if it is at work then.

    Kernels that start meanwhile run serially. One that takes long is not waited for.
    """
    thread = threading.get_ident()
    _forks[thread] = False
    _words[WORD_THREADS] = 1
    if not _words[WORD_LAUNCH]:
        if _starting.is_anothers():  # it may start the pool now, for the parent alone
            _redirect_output()
        return
    end = time.monotonic() + _FORK_WAITS_S
    time.sleep(2e-5)  # the new number of threads is written before BUSY is read
    while _words[WORD_BUSY] and time.monotonic() < end:
        time.sleep(2e-5)
    _forks[thread] = _can_shut_down()
    if not _forks[thread]:
        _redirect_output()


def _can_shut_down() -> bool:
    """Whether Numba's hook can shut TBB down for a fork now, so that the child starts it anew.

    It cannot while TBB is at work, from a thread that did not start it, or if other threads have
    used it: TBB keeps an arena for each.
    """
    return (
        not _words[WORD_BUSY]
        and not _words[WORD_OTHERS]
        and _words[WORD_STARTER] == threading.get_ident()
    )


def _redirect_output() -> None:
    """Numba's hook prints that TBB may be invalid in the child, which does not use it then."""
    _flush_stdout()
    for stream in (1, 2):
        try:
            duplicate = os.dup(stream)
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, stream)
            os.close(null)
            _redirected.append((stream, duplicate))
        except OSError:  # there is none, or there are no more file descriptors
            pass


def _restore_output() -> None:
    if _redirected:
        _flush_stdout()
    while _redirected:
        stream, duplicate = _redirected.pop()
        os.dup2(duplicate, stream)
        os.close(duplicate)


def _flush_stdout() -> None:
    """Write what C's standard output holds: Numba's hook prints with ``puts``."""
    libc = ctypes.PyDLL(None)  # keeps the GIL, so that no other thread prints meanwhile
    libc.fflush(ctypes.c_void_p.in_dll(libc, "stdout"))


def _after_fork_in_parent() -> None:
    _restore_output()
    _forks.pop(threading.get_ident(), None)
    if not _forks:
        _words[WORD_THREADS] = _num_threads


def _after_fork_in_child() -> None:
    """TBB restarts in a child by itself, where it was shut down; elsewhere kernels stay serial."""
    is_usable = _forks.get(threading.get_ident(), False)
    _forks.clear()
    _restore_output()
    _words[WORD_THREADS] = _num_threads
    if not is_usable:
        _words[WORD_LAUNCH] = 0
        _words[WORD_BUSY] = 0


if CAN_FORK:
    os.register_at_fork(
        before=_before_fork,
        after_in_parent=_after_fork_in_parent,
        after_in_child=_after_fork_in_child,
    )
