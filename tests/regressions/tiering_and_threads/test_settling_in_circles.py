"""RecursionError in a self-recursive function: a tiering decision notified itself forever.

SciPy's ``quad`` calls itself for complex functions, so what serves its calls is reported to itself:
as long as a call had not settled it, that went round until Python's stack was full.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fusejit.segments.find_dispatcher import dispatcher_of
from fusejit.tiering.segment_profiler import FIRST_REPROFILE, SegmentProfiler
from fusejit.tiering.timings import CALLS
from fusejit_testing.oracle import decorate


class Segment:
    """A segment that Python may come to run."""

    name = "segment"
    was_called = True
    is_interpreted = False
    depends_on_sizes = False
    may_be_tried = False
    may_take_long = False

    def request_reprofile(self) -> None:
        """Nothing to forget."""


def test_a_function_that_is_told_of_itself_settles() -> None:
    segment = Segment()

    def opened(x: int) -> tuple[str, int]:
        return "opened", x

    def original(x: int) -> tuple[str, int]:
        return "original", x

    settling = SegmentProfiler(opened, original, lambda interpreted: opened, [segment], [])
    told: list[Any] = []

    def serve(run: Any, guard: Any) -> None:
        told.append(run)
        settling.again()

    settling.serve = serve
    assert settling.first(1) == ("opened", 1)
    for is_interpreted, name in ((True, "original"), (False, "opened")):
        segment.is_interpreted = is_interpreted
        told.clear()
        settling.again()
        settling.again()
        assert len(told) == 1
        settling.reprofile_call(2)
        assert told[-1](3) == (name, 3)


def test_a_call_that_raises_settles() -> None:
    """Every call of a part whose last statement raises, such as ``send`` at a generator's end."""
    segment = Segment()

    def opened(x: int) -> int:
        segment.is_interpreted = True  # as its first call says
        raise StopIteration(x)

    def original(x: int) -> tuple[str, int]:
        return "original", x

    settling = SegmentProfiler(opened, original, lambda interpreted: opened, [segment], [])
    served: list[Any] = []
    settling.serve = lambda run, guard: served.append(run)
    with pytest.raises(StopIteration):
        settling.first(1)
    assert settling.runs_interpreted
    assert served[-1](2) == ("original", 2)
    with pytest.raises(StopIteration):
        settling.reprofile_call(3)
    assert served[-1](4) == ("original", 4)  # nothing is to be asked at the next call


def test_parts_behind_what_raises_are_pythons() -> None:
    """A part that no call reached kept what stands around it in segments."""
    segment = Segment()
    segment.was_called = False

    def opened(x: int) -> int:
        if x < 0:
            raise ZeroDivisionError
        segment.was_called = True
        return x

    def original(x: int) -> tuple[str, int]:
        return "original", x

    settling = SegmentProfiler(opened, original, lambda interpreted: opened, [segment], [])
    guards: list[Any] = []
    settling.serve = lambda run, guard: guards.append(guard)
    with pytest.raises(ZeroDivisionError):
        settling.first(-1)
    assert not settling.runs_interpreted
    assert guards[-1].due == FIRST_REPROFILE  # it may have been by chance
    with pytest.raises(ZeroDivisionError):
        settling.reprofile_call(-2)
    assert settling.runs_interpreted
    assert settling.runs[-1](3) == ("original", 3)
    assert settling.reprofile_call(4) == 4
    assert not settling.runs_interpreted


def test_a_call_that_is_interrupted_does_not_settle() -> None:
    def opened(x: int) -> int:
        raise KeyboardInterrupt

    settling = SegmentProfiler(opened, opened, lambda interpreted: opened, [Segment()], [])
    served: list[Any] = []
    settling.serve = lambda run, guard: served.append(run)
    with pytest.raises(KeyboardInterrupt):
        settling.first(1)
    assert not served


def walked(graph: dict[int, list[int]], start: int) -> Any:
    order, seen = [], set()

    def visit(v: int) -> None:
        seen.add(v)
        order.append(v)
        for w in graph[v]:
            if w not in seen:
                visit(w)

    visit(start)
    return np.array(order)


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
def test_a_recursion_does_not_pay_for_itself() -> None:
    """``visit`` stayed in segments as it called a function in segments: itself."""
    graph: dict[Any, list[int]] = {k: [(3 * k + 1) % 40, (k + 7) % 40] for k in range(40)}
    graph["of another kind"] = []  # no kernel has a table of it
    fused = decorate(walked, jit=False, tiering=True)
    for _ in range(4 * CALLS):  # the clock decides, later on a busy machine
        np.testing.assert_array_equal(fused(graph, 0), walked(graph, 0))
        state = dispatcher_of(fused)
        assert state is not None
        if state.tiering.runs_interpreted:
            return
    pytest.fail("it stays in segments")


def reached(graph: dict[int, list[int]], start: int) -> Any:
    found, seen = [start], {start}
    waiting = [start]
    while waiting:
        for w in graph[waiting.pop()]:
            if w not in seen:
                seen.add(w)
                found.append(w)
                waiting.append(w)
    return np.array(found)


def test_the_clock_is_asked_where_a_list_leaves() -> None:
    """Reading a table took twice as long as Python's loop, for ever: a call of the host stood in
    the way of a trial, as if it rounded.
    """
    graph = {k: [(3 * k + 1) % 80, (k + 7) % 80] for k in range(80)}
    fused = decorate(reached, jit=False, tiering=True)
    np.testing.assert_array_equal(fused(graph, 0), reached(graph, 0))
    state = dispatcher_of(fused)
    assert state is not None
    assert len(state.variants) == 1
    assert state.tiering.timed_trials
