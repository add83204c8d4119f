"""Random programs give the same by NumPy and by `fusejit.numpy`: values, aliases, errors."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import numpy
import pytest

import fusejit.numpy as np
from fusejit.codegen.machine import pool
from fusejit.numpy import batches, blocks, recording
from fusejit_testing.programs.namespace_programs import ProgramMaker, outcome

NUM_LINES = 30


def differences(seed: int) -> str:
    """Return the program of a seed, if NumPy and the namespace differ on it."""
    lines = ProgramMaker(seed).program(NUM_LINES)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = outcome(lines, numpy)
        for most_operations in (64, 1, 0):  # deferred, flushed after each operation, not recorded
            with np.threshold(0), np.window(most_operations):
                if outcome(lines, np) != expected:
                    return "\n".join([f"seed {seed}, windows of {most_operations}:", *lines])
        with np.threshold(0), np.window(64), no_copies():
            if outcome(lines, np) != expected:
                return "\n".join([f"seed {seed}, large foreign arrays:", *lines])
        with np.threshold(0), np.window(64), small_blocks():
            if outcome(lines, np) != expected:
                return "\n".join([f"seed {seed}, small blocks on two threads:", *lines])
    return ""


@contextmanager
def no_copies() -> Iterator[None]:
    """Treat small foreign arrays as large ones, which are not copied to be read later."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(recording, "_LARGEST_COPIED", -1)
        yield


@contextmanager
def small_blocks() -> Iterator[None]:
    """Compute elementwise operations in blocks of two rows or little more, on two threads."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "BLOCK_BYTES", 16)
        patch.setattr(batches, "SHARED_FROM", 0)
        patch.setattr(pool, "_num_threads", 2)
        yield


def compiled_differences(seed: int) -> str:
    """Return the program of a seed, if NumPy and compiled windows differ on it."""
    lines = ProgramMaker(seed, is_exact=True).program(NUM_LINES)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = outcome(lines, numpy)
        with np.threshold(0), np.window(64):
            if outcome(lines, np) != expected:
                return "\n".join([f"seed {seed}, compiled:", *lines])
            with no_copies():
                if outcome(lines, np) != expected:
                    return "\n".join([f"seed {seed}, compiled, large foreign arrays:", *lines])
    return ""


def check(first: int, count: int) -> None:
    for seed in range(first, first + count):
        assert not differences(seed)


@pytest.mark.parametrize("first", range(0, 500, 100))
def test_random_programs(first: int) -> None:
    check(first, 100)


@pytest.mark.usefixtures("compiles_at_once")
def test_compiled_windows() -> None:
    np.report().clear()
    for seed in range(60):
        assert not compiled_differences(seed)
    report = np.report()
    assert report.runs > 200
    assert report.runs > 4 * sum(report.refused.values()), report


@pytest.mark.deep
@pytest.mark.parametrize("first", range(500, 50_500, 2_500))
def test_many_random_programs(first: int) -> None:
    check(first, 2_500)


def test_programs_do_compute() -> None:
    """Most lines of most programs run without an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        failed = sum(
            len(outcome(ProgramMaker(seed).program(NUM_LINES), numpy)[0]) for seed in range(50)
        )
    assert failed < 50 * NUM_LINES / 2
