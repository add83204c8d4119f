"""What costs more compiled than it gains is Python's: which parts, and when they come back.

Regression: Loops over lists, texts and ``zip`` ran at 0.01x as segments of a few statements: no
cost model decided whether compiling is faster.
"""

from __future__ import annotations

from queue import SimpleQueue
from typing import Any

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit.tiering.segment_profiler import FIRST_REPROFILE
from fusejit_testing.compare import assert_same
from fusejit_testing.oracle import decorate, without_warm_up


def retiring(function: Any) -> Any:
    """The fused form that a user has once it is traced, with kernels as plain Python."""
    return without_warm_up(decorate(function, jit=False, tiering=True))


def agree(function: Any, fused: Any, *calls: tuple[Any, ...]) -> None:
    for args in calls:
        assert_same(function(*args), fused(*args))


def compiled_lines(function: Any, segmented: Any) -> set[int]:
    """The first lines, counted from ``def``, of segments that are compiled."""
    found: set[int] = set()
    for segment in segmented.segments:
        inner = segment.state and segment.state.variants.newest_segmented
        if inner:
            found |= compiled_lines(function, inner)
        elif segment.state is not None and len(segment.state.variants):
            found.add(segment.lines[0] - function.__code__.co_firstlineno)
    return found


# ------------------------------------------------------------------------------------- whole loops
def waits(arrivals: Any, services: Any) -> Any:
    time, found = 0.0, {}
    for arrival, service in zip(arrivals, services, strict=True):
        start = max(arrival, time)
        found[len(found)] = [start - arrival, {"served": service}]
        time = start + service
    return np.array([found[k][0] for k in range(len(arrivals))])


def test_a_loop_of_numbers_is_python_s_and_the_function_itself_runs() -> None:
    fused = retiring(waits)
    rng = np.random.default_rng(0)
    agree(waits, fused, *[(rng.random(40), rng.random(40)) for _ in range(3)])
    segmented = fused.variants.newest_segmented
    assert segmented.runs_interpreted
    assert segmented.profiler.runs[-1] is waits
    assert "no segment gains from compiling" in repr(fused.variants)


def test_what_pays_stays_compiled_between_statements_that_do_not() -> None:
    log: list[Any] = []

    def program(x: Any, k: int) -> Any:
        log.append(k)
        y = np.sqrt(x * x + 1) - x / 3 + np.abs(x)
        k = k + 1
        log.append(k)
        return y

    fused = retiring(program)
    x = np.linspace(0, 1, 5000)
    agree(program, fused, *[(x, k) for k in range(3)])
    assert compiled_lines(program, fused.variants.newest_segmented) == {2}
    assert not fused.variants.newest_segmented.runs_interpreted
    assert log == [k for j in range(3) for _ in range(2) for k in (j, j + 1)]


def test_larger_arguments_bring_a_segment_back() -> None:
    log: list[Any] = []

    def program(x: Any) -> Any:
        log.append(len(x))
        return x + 1

    fused = retiring(program)
    for _ in range(3):
        agree(program, fused, (np.arange(4.0),))
    assert fused.variants.newest_segmented.runs_interpreted
    agree(program, fused, (np.arange(100_000.0),), (np.arange(100_000.0),))
    assert not fused.variants.newest_segmented.runs_interpreted
    assert compiled_lines(program, fused.variants.newest_segmented) == {2}


def test_a_settled_function_looks_again_at_growing_gaps() -> None:
    class Box:
        def __init__(self) -> None:
            self.x = np.arange(4.0)

    log: list[Any] = []

    def program(box: Any) -> Any:
        log.append(1)
        return box.x + 1

    fused, box = retiring(program), Box()
    agree(program, fused, (box,), (box,))
    assert fused.variants.newest_segmented.runs_interpreted
    box.x = np.arange(100_000.0)  # no argument tells
    for _ in range(FIRST_REPROFILE):
        agree(program, fused, (box,))
    assert not fused.variants.newest_segmented.runs_interpreted


def test_a_branch_that_is_met_later_is_decided_then() -> None:
    log: list[Any] = []

    def program(x: Any, flag: Any) -> Any:
        log.append(flag)
        if bool(log) and flag:
            y = np.sqrt(x) + np.abs(x) * 2 - x
        else:
            y = x
        log.append(0)
        return y

    fused, x = retiring(program), np.linspace(0, 1, 20_000)
    agree(program, fused, (x, False), (x, False), *[(x, True)] * FIRST_REPROFILE, (x, False))
    assert compiled_lines(program, fused.variants.newest_segmented) == {3}


def test_breadth_first_search_runs_as_python_with_its_queue() -> None:
    def distances(adjacency: Any, start: int) -> Any:
        found = np.full(len(adjacency), -1)
        found[start] = 0
        queue: SimpleQueue[int] = SimpleQueue()
        queue.put(start)
        while not queue.empty():
            u = queue.get()
            for v in np.flatnonzero(adjacency[u]):
                if found[v] < 0:
                    found[v] = found[u] + 1
                    queue.put(v)
        return found

    fused = retiring(distances)
    graph = np.random.default_rng(1).random((20, 20)) < 0.15
    agree(distances, fused, *[(graph, k) for k in range(4)])
    segments = fused.variants.newest_segmented.segments
    first = distances.__code__.co_firstlineno
    assert all(s.is_interpreted for s in segments if s.was_called and s.lines[0] - first > 3)


# ---------------------------------------------------------------------------------- whole functions
def test_a_function_of_numbers_is_python_s() -> None:
    def root(x: float) -> float:
        return x / 2 + x * 0.25

    fused = retiring(root)
    agree(root, fused, (2.0,), (3.0,))
    assert len(fused.variants) == 0
    assert "Python runs it, because compiling would gain nothing: NumPy" in repr(fused.variants)
    assert fused.__fusejit_state__.dispatcher.tiering.interpreted.guard.is_open


def test_a_function_of_numbers_with_branches_is_python_s_for_good_after_some_calls() -> None:
    def sign(k: int) -> int:
        return 1 if k > 0 else -1

    fused = retiring(sign)
    agree(sign, fused, *[(k % 3 - 1,) for k in range(400)])
    assert fused.__fusejit_state__.dispatcher.tiering.interpreted.guard.is_open


def test_functions_of_arrays_and_loops_over_elements_stay_compiled() -> None:
    def scaled(x: Any) -> Any:
        return (x - x.min()) * 2

    def total(x: Any) -> Any:
        found = 0.0
        for i in range(len(x)):
            found += x[i] * i
        return found

    for function in (scaled, total):
        fused = retiring(function)
        agree(function, fused, (np.arange(300.0),))
        assert len(fused.variants) == 1


def test_a_loop_of_host_calls_on_short_rows_is_python_s() -> None:
    def chain(table: Any, draws: Any) -> Any:
        state, path = 0, np.zeros(len(draws), dtype=int)
        for i in range(len(draws)):
            state = np.searchsorted(table[state], draws[i])
            path[i] = state
        return path

    fused = retiring(chain)
    rng = np.random.default_rng(2)
    agree(chain, fused, (np.cumsum(np.full((4, 4), 0.25), axis=1), rng.random(50)))
    assert len(fused.variants) == 0
    assert fused.variants.interpreted


def test_nothing_is_interpreted_under_fullgraph_or_when_told_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def root(x: float) -> float:
        return x / 2 + 1 / x

    monkeypatch.setenv("FUSEJIT_TIERING", "1")
    whole = fuse_jit(fullgraph=True)(root)
    assert whole(2.0) == root(2.0)
    assert len(whole.variants) == 1
    monkeypatch.setenv("FUSEJIT_TIERING", "0")
    told = fuse_jit(root)
    assert told(2.0) == root(2.0)
    assert len(told.variants) == 1


# -------------------------------------------------------------------------------- recursion, jumps
def test_a_recursion_comes_about_as_deep_as_undecorated() -> None:
    seen: list[int] = []

    def down(n: int) -> int:
        seen.append(n)
        return 0 if n == 0 else 1 + down(n - 1)

    def program(n: int) -> int:
        seen.append(n)
        return down(n)

    assert retiring(program)(300) == 300


@pytest.mark.parametrize("fails", [False, True])
def test_exceptions_pass_through_before_and_after_settling(fails: bool) -> None:
    log: list[Any] = []

    def program(x: Any, k: int) -> Any:
        try:
            log.append(k)
            y = x[k] + 1
        except IndexError:
            y = -1.0
        finally:
            log.append("end")
        return y

    fused = retiring(program)
    x = np.arange(4.0)
    calls = [(x, 9 if fails and k == 1 else k) for k in range(4)]
    agree(program, fused, *calls)
    assert log == [entry for args in calls for _ in range(2) for entry in (args[1], "end")]


@pytest.mark.filterwarnings("ignore::fusejit.api.FuseWarning")
def test_a_segment_that_is_opened_for_what_it_is_given_runs_itself_when_settled() -> None:
    def roman(number: int) -> str:
        text = ""
        for value, letters in [(10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i")]:
            while number >= value:
                text += letters
                number -= value
        return text

    def lengths(numbers: Any) -> Any:
        return np.array([len(roman(int(k))) for k in numbers])

    for function, calls in ((roman, (27, 4, 38)), (lengths, (np.arange(1, 40),) * 3)):
        fused = retiring(function)
        agree(function, fused, *[(call,) for call in calls])
