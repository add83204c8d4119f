"""The timing of ordinary programs, with a clock that only the calls move."""

from __future__ import annotations

import pytest

from benchmarks.ordinary_times import SECONDS, Times, measured, row, summary


class Clock:
    """Time that passes in calls alone."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    def taking(self, *seconds: float) -> object:
        """A call that takes these times one after the other, then the last one."""
        left = list(seconds)

        def call() -> None:
            self.now += left.pop(0) if len(left) > 1 else left[0]

        return call


def test_first_calls_and_medians_are_told_apart() -> None:
    clock = Clock()
    ours = clock.taking(5.0, SECONDS / 50)
    theirs = clock.taking(9.0, SECONDS / 10)
    times = measured(ours, theirs, clock)  # type: ignore[arg-type]
    assert times.first == 5.0
    assert times.ours == pytest.approx(SECONDS / 50)
    assert times.theirs == pytest.approx(SECONDS / 10)
    assert times.misses() == ["first call"]


@pytest.mark.parametrize(
    ("times", "misses"),
    [
        (Times(0.1, 1e-6, 1e-6), []),
        (Times(0.1, 2.9e-6, 1e-6), []),
        (Times(0.1, 3.2e-6, 1e-6), ["slower"]),
        (Times(0.1, 3.2e-6, 1e-6, calls=2), ["5% and 2 us"]),
        (Times(0.1, 5.2e-6, 1e-6, calls=2), ["slower"]),
        (Times(0.1, 1.04, 1.0), []),
        (Times(2.5, 1.06, 1.0), ["slower", "first call"]),
    ],
)
def test_bars(times: Times, misses: list[str]) -> None:
    assert times.misses() == misses


def test_the_summary_counts_what_misses_a_bar() -> None:
    every = [Times(0.1, 1.0, 2.0), Times(2.5, 2.0, 1.0, True), Times(0.1, 1.0, 1.0)]
    every.append(Times(0.1, 1.1, 1.0, calls=50_000))
    assert summary(every) == [
        "4 programs: median 0.95x of undecorated, from 0.50x to 2.0x",
        "slower than 5% and 2 us a call: 1; than 5% and 2 us a run: 2",
        "first calls above 2 s: 1",
        "with a warning: 1",
    ]
    assert row("name", every[1]).endswith("0.50x        1 calls   slower, first call, told of")
