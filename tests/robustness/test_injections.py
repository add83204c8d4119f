"""A handler raises at each instruction while the main thread waits for the compiler.

`threading.Thread.start` and `threading.Event.wait`, which it used for that, put a RuntimeError in
the place of what was raised in them: then the call ran as plain NumPy, and a user's time limit, or
Ctrl-C, was lost. Seen once in some hundred interruptions at random times.

Regression: The first call hung after Ctrl-C during an import: Python's import, interrupted in its
own lock code, keeps the lock. An exception of a handler that fusejit's own code holds counted as an
internal error, because the innermost frame decided.
"""

import contextlib
import os
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit.dispatch.dispatcher import Dispatcher
from fusejit.support.interrupts import run_uninterruptible
from fusejit_testing.injections import lost_exceptions

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")


def works() -> None:
    assert run_uninterruptible(lambda: 6 * 7) == 42
    assert threading.active_count() == 1


@pytest.mark.parametrize("step", [pytest.param(1, marks=pytest.mark.deep), 7])
def test_each_instruction_of_the_wait_for_the_compiler(step: int) -> None:
    lost = lost_exceptions(works, within=run_uninterruptible.__code__, step=step)
    assert next(lost, None) is None


def test_each_step_of_a_first_launch() -> None:
    def chain(x):
        return np.exp(-x) + np.sqrt(np.abs(x))

    x = np.linspace(-1, 1, 40)

    def launches() -> None:
        np.testing.assert_allclose(fuse_jit(chain)(x), chain(x), rtol=1e-12)

    launches()  # all that it needs is loaded
    within = Dispatcher.try_launch.__code__
    assert next(lost_exceptions(launches, within=within), None) is None


def test_what_is_lost_is_found() -> None:
    def loses() -> None:
        with contextlib.suppress(Exception):  # what no code of ours may do
            run_uninterruptible(lambda: 6 * 7)

    assert next(lost_exceptions(loses, within=run_uninterruptible.__code__), None)


def test_the_interpreter_ends_behind_the_work(
    run_python: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    script = tmp_path / "ends.py"
    script.write_text(
        "import signal, threading, time\n"
        "from fusejit.support.interrupts import run_uninterruptible\n"
        "def late(number, frame):\n"
        "    raise TimeoutError\n"
        "signal.signal(signal.SIGALRM, late)\n"
        "signal.setitimer(signal.ITIMER_REAL, 0.2)\n"
        "def work():\n"
        "    time.sleep(1)\n"
        "    print('work has ended')\n"
        "try:\n"
        "    run_uninterruptible(work)\n"
        "except TimeoutError:\n"
        "    print('raised')\n"
    )
    done = run_python(script)
    assert done.stdout.split("\n") == ["raised", "work has ended", ""], done.stderr


def test_the_import_lock_that_an_interrupted_import_has_left(
    run_python: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    script = tmp_path / "imports.py"
    script.write_text(
        "import _imp, faulthandler\n"
        "import numpy as np\n"
        "from fusejit import fuse_jit\n"
        "faulthandler.dump_traceback_later(60, exit=True)\n"
        "_imp.acquire_lock()\n"
        "assert fuse_jit(lambda x: x + 1)(np.ones(3)).sum() == 6\n"
    )
    run_python(script)
