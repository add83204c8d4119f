"""Elementwise operations are computed block by block, on several threads, as in one call each."""

from __future__ import annotations

import gc
import os
import signal
import threading
import warnings
from collections.abc import Iterator
from contextvars import copy_context
from typing import Any

import numpy
import pytest

import fusejit.numpy as np
from fusejit.codegen.machine import pool
from fusejit.numpy import batches, blocks
from fusejit.numpy.batches import Batch, Operation, Share
from fusejit.numpy.blocks import runs_of
from fusejit.numpy.window import CURRENT

pytestmark = pytest.mark.usefixtures("everything_is_an_array")


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 64)
    monkeypatch.setattr(batches, "SHARED_FROM", 0)
    monkeypatch.setattr(pool, "_num_threads", 2)
    with np.window(64):
        np.report().clear()
        yield


def pending_runs() -> list[tuple[int, int]]:
    """The runs of what is recorded, without those of one operation."""
    return [(run.start, run.stop) for run in runs_of(CURRENT.window.operations)]


# ------------------------------------------------------------------------------------------- runs
def test_a_chain_is_one_run() -> None:
    x = np.arange(100.0)
    y = np.where(x > 3, np.sqrt(x) * 2, x.astype(np.float32) + 1)
    y += x
    assert pending_runs() == [(0, 7)]
    expected = numpy.arange(100.0)
    expected = numpy.where(
        expected > 3, numpy.sqrt(expected) * 2, expected.astype(numpy.float32) + 1
    ) + numpy.arange(100.0)
    assert y.tolist() == expected.tolist()


def test_other_rows_of_what_is_written_end_a_run() -> None:
    x = np.arange(100.0)
    x[1:] += 1
    x[1:] *= 2
    y = x[:-1] + 1  # reads the row before
    z = y * 2
    y[:-1] = z[1:]
    assert pending_runs() == [(0, 2), (2, 4)]
    expected = numpy.arange(100.0)
    expected[1:] += 1
    expected[1:] *= 2
    assert z.tolist() == ((expected[:-1] + 1) * 2).tolist()
    assert y.tolist() == [*z[1:].tolist(), z[-1] / 2]


def test_what_is_read_may_not_be_written_by_other_rows() -> None:
    x = np.arange(100.0)
    y = x[1:] + 1
    x[:-1] = y  # the block before would be overwritten
    assert pending_runs() == []
    assert x.tolist() == [*range(2, 101), 99.0]


def test_broadcasting_and_other_shapes() -> None:
    x, row, column = np.ones((40, 3)), np.arange(3.0), np.arange(40.0).reshape(40, 1)
    y = (x + row) * column - row[None]
    z = y.T + 1  # another shape
    assert pending_runs() == [(0, 3)]
    plain = (1 + numpy.arange(3.0)) * numpy.arange(40.0).reshape(40, 1) - numpy.arange(3.0)
    assert z.tolist() == (plain.T + 1).tolist()


def test_rolls_along_rows_belong_to_a_run() -> None:
    x = np.arange(120.0).reshape(40, 3)
    y = np.roll(x, 1, 1) + np.roll(x, -1, 1)
    assert pending_runs() == [(0, 3)]
    plain = numpy.arange(120.0).reshape(40, 3)
    assert y.tolist() == (numpy.roll(plain, 1, 1) + numpy.roll(plain, -1, 1)).tolist()
    for axis, shift in [(0, 1), ((0, 1), 2), ((1, 0), (-4, 50)), (-1, 7)]:
        z = np.roll(x, shift, axis) + 1
        assert z.tolist() == (numpy.roll(plain, shift, axis) + 1).tolist()


def test_temporaries_need_memory_for_one_block(monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.arange(1000.0)
    made: list[Any] = []
    empty = numpy.empty
    for _ in range(3):  # from the second time on it is known which results are seen
        y = np.sqrt(x * 2 + 1) - 3
        with monkeypatch.context() as patch:
            patch.setattr(numpy, "empty", lambda *args: made.append(args[0]) or empty(*args))
            assert y[4] == 0
    assert {*made} == {(8,)}


# ------------------------------------------------------------------- warnings, errors, interrupts
def test_warnings_come_once_and_in_the_order_of_the_program() -> None:
    def warned(namespace: Any) -> list[str]:
        x = namespace.arange(-50.0, 50.0)
        y = namespace.sqrt(x) + 1  # some blocks warn
        z = 1 / x * 1e308 * 10  # one divides by zero, others overflow
        w = (namespace.arange(-50.0, 50.0) ** 301) - y
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            (z + w).sum()
            return [str(w.message) for w in seen]

    with warnings.catch_warnings(record=True) as expected:
        warnings.simplefilter("always")
        numpy.sqrt(numpy.arange(-50.0, 50.0)) + 1
        1 / numpy.arange(-50.0, 50.0) * 1e308 * 10
        numpy.arange(-50.0, 50.0) ** 301
    texts = [str(w.message) for w in expected]
    assert [text for text in warned(np) if text in texts][: len(texts)] == texts


def test_errors_are_raised_by_whole_operations() -> None:
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        (1 / (np.arange(100.0) - 50) + 1).sum()


def test_a_thread_that_has_not_begun_is_not_waited_for() -> None:
    made: list[int] = []
    place = Operation((), 0, "add", True, numpy.geterr(), make_batch.__code__, 0, {})
    share = Share(make_batch([(made.append, 1), (made.append, 2)], place))
    copy_context().run(share.finish, [])
    share.work([])
    assert made == [1, 2]


def test_what_a_worker_leaves_is_run_by_who_waits() -> None:
    made: list[int] = []
    failing = [True]

    def fail() -> None:
        if failing.pop():
            raise MemoryError

    place = Operation((), 0, "add", True, numpy.geterr(), make_batch.__code__, 0, {})
    share = Share(make_batch([(made.append, 1), (fail,), (made.append, 2)], place))
    share.work([])
    assert made == [1]
    with pytest.raises(MemoryError):
        copy_context().run(share.finish, [])
    copy_context().run(share.finish, [])
    assert made == [1, 2]


def test_no_finalizer_runs_on_a_worker() -> None:
    """It could wait for the thread that waits for the worker."""
    states: list[bool] = []
    place = Operation((), 0, "add", True, numpy.geterr(), make_batch.__code__, 0, {})
    inner = Batch(place.settings)
    inner.append([(lambda: states.append(gc.isenabled()),)], [place])
    batch = Batch(place.settings, [Share(inner)])
    batch.complete()
    copy_context().run(batch.run, [])
    assert states == [False]
    assert gc.isenabled()


def test_batches_of_two_threads_leave_the_collector_on() -> None:
    """One that was made while another one ran took the collector for off, and left it so."""
    place = Operation((), 0, "add", True, numpy.geterr(), make_batch.__code__, 0, {})
    second: list[Batch] = []

    def shared(call: Any) -> Batch:
        inner = Batch(place.settings)
        inner.append([(call,)], [place])
        batch = Batch(place.settings, [Share(inner)])
        batch.complete()
        return batch

    first = shared(lambda: second.append(shared(gc.isenabled)))
    copy_context().run(first.run, [])
    copy_context().run(second[0].run, [])
    assert gc.isenabled()
    gc.disable()
    try:
        copy_context().run(shared(gc.isenabled).run, [])
        assert not gc.isenabled()  # as the program has asked
    finally:
        gc.enable()


def make_batch(calls: list[Any], place: Operation) -> Batch:
    batch = Batch(place.settings)
    batch.append(calls, [place] * len(calls))
    batch.complete()
    return batch


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers")
@pytest.mark.skipif(
    threading.current_thread() is not threading.main_thread(), reason="signals of the main thread"
)
def test_interrupts_lose_and_repeat_nothing() -> None:
    class Interrupt(Exception):
        pass

    armed: list[bool] = []

    def interrupt(*_: object) -> None:
        if armed:
            armed.clear()
            raise Interrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    num_raised = 0
    try:
        for attempt in range(200):
            x = np.zeros((300, 4))
            y = np.ones((300, 4))
            for _ in range(6):
                x += y
                y = y * 1
            try:
                armed.append(True)
                signal.setitimer(signal.ITIMER_REAL, 1e-5 + attempt * 4e-6)
                CURRENT.window.flush("a test")
                armed.clear()
            except Interrupt:
                num_raised += 1
            assert (numpy.asarray(x) == 6).all()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert num_raised > 20


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_forked_child_computes() -> None:
    x = np.arange(1000.0)
    assert (x * 2 + 1).sum() == 1000000
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        child = os.fork()
    if not child:
        signal.alarm(60)
        os._exit(bool((x * 2 + 1).sum() != 1000000))
    assert os.waitpid(child, 0)[1] == 0


# ----------------------------------------------------------------------------- bits
def test_functions_do_not_depend_on_where_an_element_is() -> None:
    """Of all functions that are recorded, on floats and integers: blocks have the same bits."""
    rng = numpy.random.default_rng(0)
    names = [n for n, f in vars(numpy).items() if type(f) is numpy.ufunc and f.signature is None]
    checked = 0
    for name in names:
        ufunc = getattr(numpy, name)
        for dtype in (numpy.float64, numpy.float32, numpy.int64, numpy.complex128):
            operands = [(rng.random(1003) * 3).astype(dtype) for _ in range(ufunc.nin)]
            try:
                with numpy.errstate(all="ignore"):
                    whole = ufunc(*operands)
                    parts = [ufunc(*[o[at : at + 7] for o in operands]) for at in range(0, 1003, 7)]
            except TypeError:
                continue
            if ufunc.nout == 1:
                assert whole.tobytes() == numpy.concatenate(parts).tobytes(), (name, dtype)
                checked += 1
    assert checked > 150


def test_one_element_of_what_is_written_ends_a_run() -> None:
    """``c[..., 0]`` has no axes, and was taken for a number: later blocks were divided by 1."""
    c = np.full(100, 2.0)
    d = np.zeros(100)
    d += c
    c /= c[..., 0]
    d += c
    assert d.tolist() == [3.0] * 100


def test_a_temporary_of_an_earlier_run_is_whole() -> None:
    """It was updated in a later run, and had memory for one block only."""
    c = np.arange(300).reshape((100, 3)).astype("f8")
    b = np.arange(300).reshape((3, 100)).astype("u1")
    a = np.arange(300).reshape((100, 3)).astype("i4")
    c -= c
    c = np.isnan(a)
    assert not c.any()
    assert b[0, 1] == 1


def test_no_elements() -> None:
    x = np.zeros((5, 0))
    assert (x + 1).tolist() == [[]] * 5
    x[:0] += 1
    assert (x * 2 - 1).shape == (5, 0)
