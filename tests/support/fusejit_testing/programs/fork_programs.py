"""Random programs whose process forks, between their calls and in the middle of one.

The child ends the call that it was made in, or makes it, and calls again; it ends with status 0 if
that gives what NumPy gives. A child of a first call may find the compiler half loaded.
"""

from __future__ import annotations

import os
import random
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from fusejit_testing.forks import forked, wait
from fusejit_testing.oracle import (
    Outcome,
    compare_outcomes,
    decorate,
    no_faults,
    run,
    without_late_text,
)
from fusejit_testing.programs.identities import inserted, with_identities
from fusejit_testing.programs.mutation_expressions import is_exact
from fusejit_testing.programs.mutation_fuzzer import LONGEST_IN_NUMPY, PROGRAMS
from fusejit_testing.programs.mutation_programs import MutationProgram, Statement, deadline

LONGEST_DELAY = 0.3  # seconds from the beginning of a call to a fork by another thread


class Forks:
    """What programs call: it forks at one of its passes, if it is to do so."""

    def __init__(self) -> None:
        self.begin(0)

    def begin(self, fork_at: int) -> None:
        """Count passes again; 0 is for none that forks."""
        self.fork_at, self.passes = fork_at, 0
        self.child: int | None = None  # 0 in the child itself

    def __call__(self) -> None:
        self.passes += 1
        if self.passes == self.fork_at:
            self.child = os.fork()


def fork_program(seed: int) -> MutationProgram:
    """The program of a seed, in which ``fork()`` stands at random places."""
    rng = random.Random(f"forks {seed}")
    program = rng.choice([*PROGRAMS.values()])(seed)
    if rng.random() < 0.3:
        program = with_identities(program)
    calls = (Statement("fork()"),)
    often = rng.choice((0.0, 0.2, 0.5))  # without any it may be one kernel

    def fork(names: Sequence[str]) -> tuple[Statement, ...]:
        return calls if rng.random() < often else ()

    return replace(program, body=tuple(inserted(rng, program.body, ("a",), fork)))


def check_forks(seed: int, folder: Path, *, jit: bool = False) -> str:
    """Run every call, most of them with a fork; how: compared or skipped.

    Raises
    ------
    AssertionError
        If a call gives something other than NumPy, in the process or in a child, or a child hangs.
    """
    program = fork_program(seed)
    rng = random.Random(f"moments {seed}")
    expecting, forks = Forks(), Forks()
    text = program.outside + program.text
    plain = program.names(folder, text, fork=expecting)["f"]
    function = program.names(folder, text, fork=forks)["f"]
    with warnings.catch_warnings(), no_faults() as reports:
        warnings.simplefilter("ignore")  # of forks with threads, and of what runs in Python
        fused = decorate(function, jit=jit, reports=reports)
        for call in range(len(program.calls)):
            args = program.arguments(call)
            expecting.begin(0)
            with deadline(LONGEST_IN_NUMPY):
                expected = run(plain, args)
            if isinstance(expected.error, TimeoutError):
                return "skipped"
            if not (is_exact(expected.result) and is_exact(expected.args)):
                return "skipped"
            way = rng.choice(("none", "before", "inside", "inside", "meanwhile"))
            again = partial(_check_again, fused, args, expected, f"call {call}, in a child")
            forks.begin(rng.randint(1, max(1, expecting.passes)) if way == "inside" else 0)
            if way == "before":
                assert forked(again) == 0, f"call {call}: what a child gives differs"
            if way == "meanwhile":
                forker = Forker(again, rng.random() ** 2 * LONGEST_DELAY)
                forker.start()
            actual = run(fused, args)
            child, forks.child = forks.child, None
            if child == 0:
                _end_child(partial(_compare, expected, actual, "in a child"), again)
            if way == "meanwhile":
                forker.join()
                assert forker.status == 0, f"call {call}: what a child of a thread gives differs"
            _compare(expected, actual, f"call {call}")
            assert forks.passes == expecting.passes, (forks.passes, expecting.passes)
            assert not child or wait(child) == 0, f"call {call}: what a child gives differs"
    return "compared"


class Forker(threading.Thread):
    """Forks after some seconds; the child does some work and ends with a status."""

    def __init__(self, work: Callable[[], int], delay: float) -> None:
        super().__init__()
        self.work, self.delay = work, delay
        self.status: int | None = None

    def run(self) -> None:
        """Fork, and wait for the child."""
        time.sleep(self.delay)
        self.status = forked(self.work)


def _compare(expected: Outcome, actual: Outcome, where: str) -> None:
    compare_outcomes(without_late_text(expected, actual), actual, where=where)


def _check_again(fused: Any, args: tuple[Any, ...], expected: Outcome, where: str) -> int:
    """Two more calls; 0 as the status of a child."""
    for _ in range(2):
        _compare(expected, run(fused, args), where)
    return 0


def _end_child(*checks: Callable[[], object]) -> None:
    """End this process; the status says whether the checks hold."""
    status = 1
    try:
        for check in checks:
            check()
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(status)
