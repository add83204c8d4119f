"""What is recorded, when it runs, and that nothing of it shows but in the report."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
import warnings
from collections.abc import Iterator

import numpy
import pytest

import fusejit.numpy as np
from fusejit.numpy import programs
from fusejit.numpy.window import CURRENT, Window

pytestmark = pytest.mark.usefixtures("everything_is_an_array")


@pytest.fixture(autouse=True)
def a_new_report() -> Iterator[None]:
    with np.window(64):
        np.report().clear()
        yield


def num_pending() -> int:
    """Operations that are recorded and did not run yet."""
    return len(CURRENT.window.operations)


def test_operations_wait_until_a_value_is_needed():
    x = np.arange(6.0).reshape(2, 3)
    y = np.sin(x) * 2 + x
    y[0] += 1
    y[:, 1:] = x[:, 1:]
    z = y.astype("f4").copy()
    z -= x > 1
    assert num_pending() == 9
    assert (z.shape, z.dtype, z.strides, z.base, len(z)) == ((2, 3), "f4", (12, 4), None, 2)
    assert y.T.reshape(3, 2).base is y
    assert np.shape(y) == (2, 3)
    assert np.shares_memory(y, np.transpose(y))
    assert y.flags.c_contiguous
    assert num_pending() == 9
    real = numpy.arange(6.0).reshape(2, 3)
    expected = numpy.sin(real) * 2 + real
    expected[0] += 1
    expected[:, 1:] = real[:, 1:]
    assert z.tolist() == (expected.astype("f4") - (real > 1)).tolist()
    assert num_pending() == 0
    assert np.report().flushes == {"a value is needed": 1}


def test_looks_at_values():
    looks = [
        float,
        bool,
        repr,
        str,
        list,
        numpy.asarray,
        lambda x: x.item(),
        lambda x: x.sum(),
        lambda x: x[0],
        lambda x: x[x > 0],
        lambda x: x.data,
        lambda x: np.sort(x),
        lambda x: np.concatenate([x, x]),
        lambda x: x.__reduce__(),
        lambda x: f"{x}",
        lambda x: 0 in x,
        lambda x: x.ravel("F").tolist(),
    ]
    for look in looks:
        x = np.ones(1)
        y = x + 1
        y += 1
        waiting = num_pending()
        look(y.reshape(()) if look is float else y)
        assert (waiting, num_pending()) == (2, 0)
        assert y.tolist() == [3]


def test_a_reshape_that_copies_reads_the_values():
    x = np.zeros((2, 3))
    x += np.arange(6).reshape(2, 3)
    assert x.T.reshape(6).tolist() == [0, 3, 1, 4, 2, 5]
    x += 1
    assert np.ravel(x.T).tolist() == [1, 4, 2, 5, 3, 6]


# --------------------------------------------------------------------------------- foreign memory
def test_small_foreign_arrays_are_read_at_once():
    x, real = np.zeros(3), numpy.ones(3)
    y = x + real
    real[:] = 5
    assert num_pending() == 1
    assert y.tolist() == [1, 1, 1]


def test_large_foreign_arrays_are_not_deferred():
    x, real = np.zeros(10_000), numpy.ones(10_000)
    y = x + real
    assert num_pending() == 0
    real[:] = 5
    assert y[0] == 1


def test_memory_that_was_given_away_is_never_deferred():
    x = np.zeros(3)
    x += 1
    real = numpy.asarray(x)
    assert real.tolist() == [1, 1, 1]
    x += 1
    assert real.tolist() == [2, 2, 2]
    y = x[1:] * 2
    real[:] = 7
    assert y.tolist() == [4, 4]
    assert num_pending() == 0


@pytest.mark.parametrize(
    "give",
    [
        lambda x: x.data,
        lambda x: x.flat,
        lambda x: iter(x),
        lambda x: x.ctypes,
        lambda x: x.__array_interface__,
        lambda x: numpy.from_dlpack(x),
        lambda x: np.nditer(x),
        lambda x: x.view(np.recarray),
        lambda x: np.apply_along_axis(lambda row: row, 0, x),
        lambda x: numpy.ma.masked_array(x, copy=False),
    ],
)
def test_ways_to_give_memory_away(give):
    x = np.zeros(3)
    view = x[:]
    given = give(view)
    x += 1
    assert num_pending() == 0
    del given


def test_writes_of_foreign_memory_come_after_what_is_recorded():
    x, real = np.arange(3.0), numpy.zeros(3)
    y = x * 2
    real += y
    np.copyto(x, real + 1)
    assert real.tolist() == [0, 2, 4]
    assert y.tolist() == [0, 2, 4]
    assert x.tolist() == [1, 3, 5]


def test_facts_that_are_assigned_while_values_are_pending():
    x = np.arange(6)
    x += 1
    flags = x.flags
    x.shape = (2, 3)
    x += 1
    flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        x += 1
    assert x.tolist() == [[2, 3, 4], [5, 6, 7]]
    flags["WRITEABLE"] = True
    x *= 2
    x.dtype = "u8"
    x.resize(2, refcheck=False)
    assert x.tolist() == [4, 6]


# ---------------------------------------------------------------------------------- flush points
def test_each_iteration_of_a_loop_is_a_window():
    x = np.arange(5)
    for _ in range(4):
        y = x * 2
        x = y + 1
    assert np.report().flushes == {"a loop has come around": 3}
    assert x.tolist() == [15, 31, 47, 63, 79]


def test_bounds_of_a_window(monkeypatch):
    x = np.arange(5)
    y = eval("+".join(["x"] * 70))  # 69 operations
    assert np.report().flushes == {"the window is full": 1}
    assert y.tolist() == [0, 70, 140, 210, 280]
    np.report().clear()
    inputs = [np.arange(3) for _ in range(40)]
    total = eval("+".join(f"i[{n}]" for n in range(40)), {"i": inputs})
    assert np.report().flushes == {"the window has many inputs": 1}
    assert total.tolist() == [0, 40, 80]
    np.report().clear()
    monkeypatch.setattr(sys.modules["fusejit.numpy.window"], "MAX_BYTES", 100)
    y = x + 1 + 2 + 3 + 4
    assert np.report().flushes == {"much memory is pending": 1}
    assert y.tolist() == [10, 11, 12, 13, 14]


def test_results_that_nobody_sees_are_left_out():
    x = np.arange(5)
    y = x + 1
    z = y * 2
    y = x - 1
    del z
    assert y.tolist() == [-1, 0, 1, 2, 3]
    assert np.report().num_left_out == 2
    kept = (x + 1)[1:]
    assert kept.tolist() == [2, 3, 4, 5]
    assert np.report().num_left_out == 2


def test_eager_records_nothing():
    with np.eager():
        x = np.ones(3) + 1
    y = np.ones(3)
    with np.eager():
        y += x
    assert np.report().recorded == 0


# ------------------------------------------------------------------------------ errors, warnings
def test_errors_are_raised_where_the_operation_stands():
    x = np.arange(3)
    x += 1
    for wrong in ("x + np.ones(4)", "x.reshape(2)", "x[7]", "x.astype('no')", "np.sin(x, out=x)"):
        with pytest.raises((ValueError, IndexError, TypeError)):
            eval(wrong)
    with pytest.raises(OverflowError):
        np.zeros(3, "u1")[1:] = 256
    with pytest.raises(OverflowError):
        np.zeros(3, "u1") + 256
    with pytest.raises(ValueError, match="negative integer powers"):
        x ** np.array([-1, 0, 0])
    assert x.tolist() == [1, 2, 3]


def test_floating_point_errors_that_raise_do_so_at_once():
    x = np.zeros(3)
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        1 / x
    seen = []
    with np.errstate(divide="call", call=lambda *args: seen.append(args)):
        _ = 1 / x
    assert seen == [("divide by zero", 1)]


def test_warnings_name_the_recorded_line():
    x = np.zeros(3)
    with np.errstate(all="ignore"):
        ignored = 1 / x
    with warnings.catch_warnings(record=True) as shown, np.window(64):
        warnings.simplefilter("always")
        y = 1 / x
        line = sys._getframe().f_lineno - 1
        assert shown == []
        assert (y + ignored)[0] == numpy.inf
    assert [(str(w.message), w.category, w.filename, w.lineno) for w in shown] == [
        ("divide by zero encountered in divide", RuntimeWarning, __file__, line)
    ]


def test_blocks_that_catch_warnings_see_those_of_their_statements():
    x = np.zeros(3)
    with pytest.warns(RuntimeWarning, match="divide by zero encountered in divide"):
        _ = 1 / x
    with pytest.warns(RuntimeWarning, match="invalid value encountered in cast"):
        (x * numpy.nan).astype(int)
    assert np.report().recorded == 0


def test_results_of_broadcast_arrays_warn_once():
    first, _ = np.broadcast_arrays(np.arange(2), np.zeros((2, 2)))
    with pytest.warns(DeprecationWarning, match="broadcast") as shown:
        first += 1
    assert len(shown) == 1


def test_integer_divisions_that_nobody_sees_warn():
    x = np.zeros(3, int)
    _ = 1 // x
    with pytest.raises(RuntimeWarning, match="divide by zero encountered in floor_divide"):
        CURRENT.window.flush("")


def test_warnings_that_are_errors_leave_the_values():
    x = np.zeros(3)
    y = 1 / x
    z = x + 1
    with pytest.raises(RuntimeWarning, match="divide by zero encountered in divide"):
        z.tolist()
    assert y.tolist() == [numpy.inf] * 3
    assert z.tolist() == [1, 1, 1]


# ----------------------------------------------------------------------- threads, forks, signals
def test_another_thread_sees_the_values():
    made: list[np.Array] = []

    def make() -> None:
        made.append(np.arange(4) * 2)

    for _ in range(20):
        thread = threading.Thread(target=lambda: _with_threshold(make))
        thread.start()
        thread.join()
    for x in made:
        x += 1
        assert num_pending() == 1
        assert x.tolist() == [1, 3, 5, 7]
    mine = np.arange(3) + 1
    seen: list[list[int]] = []
    thread = threading.Thread(target=lambda: seen.append((mine + 1).tolist()))
    thread.start()
    thread.join()
    assert seen == [[2, 3, 4]]


def _with_threshold(function) -> None:
    with np.threshold(0), np.window(64):
        function()


def test_many_threads_at_one_array():
    """Each thread adds to rows of its own, while others make the shared window run."""
    x = np.zeros((4, 64))
    row_lengths = [[] for _ in range(4)]

    def work(row: int) -> None:
        with np.threshold(0), np.window(64):
            for _ in range(300):
                x[row] += 1
                row_lengths[row].append(float(x[row].sum()))

    threads = [threading.Thread(target=work, args=(row,)) for row in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert row_lengths == [[64.0 * n for n in range(1, 301)]] * 4


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_child_process_has_the_values():
    x = np.arange(4) + 1
    child = os.fork()
    if child == 0:
        os._exit(0 if x.tolist() == [1, 2, 3, 4] else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert np.report().flushes == {"the process forks or ends": 1}


# An interrupt within a finaliser, Numba's of its types say, is printed by Python, not raised.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers")
def test_interrupts_lose_no_operation():
    class Interrupted(Exception):
        pass

    is_armed = False

    def interrupt(*_: object) -> None:
        nonlocal is_armed
        if is_armed:
            is_armed = False
            raise Interrupted

    before = signal.signal(signal.SIGALRM, interrupt)
    forty = compile("\n".join(["x += 1"] * 40), "<forty>", "exec")
    struck = 0
    try:
        for attempt in range(300):
            x = np.zeros(500)
            exec(forty)
            assert num_pending() == 40
            signal.setitimer(signal.ITIMER_REAL, 1e-5 + attempt * 1e-6)
            try:
                is_armed = True
                _ = x[0]
                is_armed = False
            except Interrupted:
                struck += 1
            signal.setitimer(signal.ITIMER_REAL, 0)
            assert x.tolist() == [40] * 500
    finally:
        signal.signal(signal.SIGALRM, before)
    assert struck > 50


def test_explain_shows_what_waits_and_runs_nothing():
    with np.window(64):
        x = np.linspace(0, 1, 5000)
        y = np.sqrt(x * x + 1)
        y[1:-1] += x[:-2]
        text = np.explain()
        assert num_pending() == 4  # the store of y[1:-1] into itself is none
        assert "np.sqrt(x2, out=m3)" in text
        assert " operations in 3 loops: " in text
        assert y[0] == 1
        assert np.explain() == "no operation waits"


def test_roll_without_an_axis_is_a_view():
    with np.threshold(0), np.window(64):
        x = np.arange(6).reshape(2, 3)
        assert np.roll(x, 1).base.shape == numpy.roll(numpy.zeros((2, 3)), 1).base.shape
        assert np.roll(x, 1, axis=0).base is None


@pytest.mark.usefixtures("compiles_at_once")
def test_forms_are_compiled():
    """Reductions, ``where``, ``roll``, ``clip`` and masked stores, each after other operations."""
    for run in range(2):
        results = []
        for namespace in (numpy, np):
            with np.threshold(0), np.window(64):
                x = namespace.linspace(-1, 2, 60).reshape(6, 10) + run
                x[x > 1] = 0.5
                y = namespace.roll(x * 2, (1, -2), (0, 1))
                z = namespace.where(y > 0, y, -1.5).clip(-1, 1)
                results.append([z.max(), (z + x).min(axis=0), np.abs(z - y).max(), z.tolist()])
                results[-1] += [np.sum(z > 0), (z > y).any(), np.all(z + 3 > x, axis=1)]
        for expected, found in zip(*results, strict=True):
            numpy.testing.assert_array_equal(expected, found)
    report = np.report()
    assert report.runs >= 4, report
    assert not report.refused, report


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers")
@pytest.mark.usefixtures("compiles_at_once")
def test_what_a_signal_handler_raises_leaves_a_compiled_window(monkeypatch):
    """It was swallowed, and the window was not compiled any more."""

    class Interrupted(Exception):
        pass

    def interrupt(*_: object) -> None:
        raise Interrupted

    def run(self: object, arguments: object) -> None:
        signal.raise_signal(signal.SIGALRM)

    before = signal.signal(signal.SIGALRM, interrupt)
    monkeypatch.setattr(programs.Program, "run", run)
    try:
        with np.threshold(0), np.window(64):
            x = np.zeros(3)
            x += 1
            with pytest.raises(Interrupted):
                x.tolist()
            assert x.tolist() == [1, 1, 1]
    finally:
        signal.signal(signal.SIGALRM, before)
    assert not np.report().refused


def test_an_operation_on_foreign_memory_ends_a_window():
    """It runs with what waits, before the foreign array can change."""
    with np.threshold(32 * 1024), np.window(64):
        foreign = numpy.ones(10_000)
        x = np.ones(10_000)
        y = x * 2 + foreign
        assert num_pending() == 0
        assert np.report().flushes == {"others may write an operand": 1}
        foreign[:] = 100
        assert y[0] == 3
        z = foreign * x  # nothing waits: NumPy runs it
        assert type(z) is np.Array
        assert np.report().operations["multiply"] == 1
        x *= foreign
        foreign[:] = 0
        assert x[0] == z[0] == 100


def test_a_large_result_of_a_reduction_waits():
    with np.threshold(32 * 1024), np.window(64):
        x = np.ones((10, 10_000))
        y = (x * 2).sum(axis=0)
        assert num_pending() == 2
        assert type(y) is np.Array
        assert y.tolist() == [20.0] * 10_000


@pytest.mark.usefixtures("compiles_at_once")
def test_attributes_of_views_are_compiled():
    results = []
    for namespace in (numpy, np):
        with np.threshold(0), np.window(64):
            z = namespace.arange(6).reshape(2, 3) * (1 + 2j)
            w = z + 1
            w.real[:, 1:] *= 3
            w.T[0] = w.imag.T[1]
            results.append((w.real**2 + w.imag**2).tolist())
    assert results[0] == results[1]
    assert np.report().runs
    assert not np.report().refused


def test_memory_of_dead_results_is_taken_again():
    with np.threshold(0), np.window(64):
        x = np.ones(1000)
        addresses = set()
        for _ in range(20):
            y = x + 1
            y = y * 2
            addresses.add(y.__array_interface__["data"][0])
            del y
        assert ((x + 1) * 2).tolist() == [4.0] * 1000
        assert len(addresses) <= 6


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "gnu_get_libc_version"), reason="not glibc")
def test_freed_memory_is_used_again_without_page_faults():
    text = """
    import resource
    import fusejit.numpy as np
    np.ones(10**6)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(100):
        a, b = np.ones(10**6), np.ones(10**6)
        (a + b).sum()
        del a, b
    print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
    """
    faults = []
    for lazy in "01":
        result = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(text)],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "FUSEJIT_LAZY": lazy, "FUSEJIT_LAZY_COMPILES": "0"},
        )
        faults.append(int(result.stdout))
    assert faults[1] < 2500 < faults[0] / 4, faults


def test_threads_that_begin_with_an_array_at_the_same_moment(monkeypatch):
    """Each took the array for its own, and the store of one was lost."""
    record = Window.record

    def slowly(*args: object) -> None:
        time.sleep(0.05)
        record(*args)

    def fill(row: np.Array) -> None:
        row[...] = 1.0

    monkeypatch.setattr(Window, "record", slowly)
    with np.threshold(0):
        x = np.zeros((2, 10))
        threads = [threading.Thread(target=fill, args=(row,)) for row in x]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert x.tolist() == [[1.0] * 10] * 2


def test_an_operand_that_is_read_twice_leaves_one_piece_of_memory():
    """It was given to two later results, if it was read for the last time."""
    with np.threshold(0), np.window(64):
        x = np.arange(6.0)
        for _ in range(3):
            y = x + 1
            y = y * y
            a = y + 1
            b = y + 2
            c = y + 3
            sums = a + b + c
        assert sums.tolist() == [3 * (n + 1) ** 2 + 6 for n in range(6)]
        assert not np.shares_memory(a, b)
        assert not np.shares_memory(b, c)
        assert not np.shares_memory(a, c)
