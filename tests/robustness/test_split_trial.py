"""The clock compares a split function as a whole with Python: `fusejit.tiering.split_trial`."""

from __future__ import annotations

from typing import Any

import pytest

from fusejit.tiering.segment_profiler import SegmentProfiler
from fusejit.tiering.split_trial import WARM_UP, SplitTrial
from fusejit.tiering.timings import CALLS, LONG_NS, MAX_LONG


class Machine:
    """A clock that two forms of a function move on, and what serves calls."""

    def __init__(self, split_ns: int, python_ns: int, *, tries_long: bool = True) -> None:
        self.now = 0
        self.calls = {"split": 0, "python": 0}
        self.decided: list[bool] = []
        self.trial = SplitTrial(
            lambda n: self.run("split", split_ns, n),
            lambda n: self.run("python", python_ns, n),
            self.serve,
            lambda python_is_faster, args: self.decided.append(python_is_faster),
            lambda: self.now,
            tries_long=tries_long,
        )
        self.served: Any = self.trial.launch

    def serve(self, run: Any) -> None:
        self.served = run

    def run(self, form: str, spent: int, n: int) -> int:
        """A recursion: what it calls of itself goes through what serves calls."""
        self.calls[form] += 1
        self.now += spent
        return n + (self.served(n - 1) if n > 0 else 0)


@pytest.mark.parametrize("is_slower", [True, False])
def test_a_large_difference_decides_early(is_slower: bool) -> None:
    machine = Machine(*((3000, 1000) if is_slower else (1000, 3000)))
    for _ in range(20):
        if not machine.decided:
            assert machine.trial.launch(4) == 10
    assert machine.decided == [is_slower]
    calls = sum(machine.calls.values())
    assert calls % 5 == 0  # a call's calls of the function itself go by the same form
    assert calls // 5 < 8


def test_a_small_difference_takes_more_calls() -> None:
    machine = Machine(1000, 990)
    for _ in range(4 * CALLS):
        if not machine.decided:
            machine.trial.launch(0)
    assert machine.decided == [True]
    assert sum(machine.calls.values()) > 2 * CALLS


def test_long_calls_that_may_be_far_longer_in_python() -> None:
    machine = Machine(2 * LONG_NS, 1000 * LONG_NS, tries_long=False)
    while not machine.decided:
        machine.trial.launch(0)
    assert machine.decided == [False]
    assert machine.calls == {"split": 1 + MAX_LONG, "python": 0}


def test_an_exception_ends_it() -> None:
    """The split form serves calls again."""

    def split(n: int) -> None:
        pass

    def fails(n: int) -> None:
        raise ValueError(n)

    served: list[Any] = []
    trial = SplitTrial(split, fails, served.append, lambda *args: None, tries_long=True)
    for _ in range(WARM_UP + 1):
        trial.launch(7)
    with pytest.raises(ValueError, match="7"):  # Python's turn
        trial.launch(7)
    assert not trial.is_open
    assert served[-2:] == [fails, split]


class Part:
    """A segment that pays, or a call of a fused function."""

    name, number = "s0", 0
    was_called = is_fused = may_take_long = True
    is_interpreted = depends_on_sizes = False

    def __init__(self, may_be_tried: bool) -> None:
        self.may_be_tried = may_be_tried

    def request_reprofile(self) -> None:
        """Nothing to forget."""


@pytest.mark.parametrize("of_segment", [True, False])
@pytest.mark.parametrize("of_call", [True, False])
def test_only_the_bits_of_python_are_tried(of_segment: bool, of_call: bool) -> None:
    """Which form is chosen must not be seen in last bits, those of called functions included."""

    def split(n: int) -> int:
        return n

    def original(n: int) -> int:
        return n

    served: list[Any] = []
    profiler = SegmentProfiler(
        split, original, lambda parts: split, [Part(of_segment)], [Part(of_call)]
    )
    profiler.serve = lambda run, guard: served.append(run)
    profiler.first(3)
    assert (served[-1] is not split) == (of_segment and of_call)
