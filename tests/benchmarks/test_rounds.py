"""Interleaving, discarding and statistics, with fake clocks."""

import itertools

import pytest

from benchmarks.gauge import Gauge
from benchmarks.rounds import (
    MAX_ATTEMPTS_PER_ROUND,
    MAX_CALLS,
    TARGET_NS,
    calls_per_round,
    measure,
    paired_speedup,
    spread,
)

QUIET, BUSY = 100.0, 130.0


class FakeEngine:
    """Takes a fixed time per call and notes in a shared log when it had its turn."""

    def __init__(self, name, call_ns, log):
        self.name, self.call_ns, self.log = name, call_ns, log

    def __call__(self, calls):
        self.log.append(self.name)
        return self.call_ns


def gauge_of(times):
    """A gauge that knows its best time and then measures `times`."""
    gauge = Gauge(itertools.chain([QUIET], times).__next__)
    gauge.measure()
    return gauge


def engines(log, **call_ns):
    return {name: FakeEngine(name, ns, log) for name, ns in call_ns.items()}


def test_engines_take_turns_and_the_order_alternates():
    log = []
    runners = engines(log, numpy=1e7, numexpr=2e7, fusejit=1e6 * 5)
    rounds = measure(runners, gauge_of(itertools.repeat(QUIET)), 3)
    turns = [log[-9:][i : i + 3] for i in (0, 3, 6)]
    assert turns == [
        ["numpy", "numexpr", "fusejit"],
        ["fusejit", "numexpr", "numpy"],
        ["numpy", "numexpr", "fusejit"],
    ]
    assert rounds.discarded == 0
    assert not rounds.noisy
    assert {name: len(times) for name, times in rounds.times_ns.items()} == {
        "numpy": 3,
        "numexpr": 3,
        "fusejit": 3,
    }


def test_rounds_beside_a_busy_probe_are_repeated():
    # probes:    before 0    after 0   after 1  after 2  after 3  after 4
    gauge = gauge_of([QUIET, QUIET, BUSY, QUIET, QUIET, QUIET])
    rounds = measure(engines([], numpy=1e7), gauge, 3)
    assert rounds.discarded == 2, "the round before and the one after the busy probe"
    assert not rounds.noisy
    assert len(rounds.times_ns["numpy"]) == 3


def test_jitter_below_the_tolerance_counts():
    gauge = gauge_of([QUIET, QUIET * 1.1, QUIET * 1.14, QUIET])
    assert measure(engines([], numpy=1e7), gauge, 3).discarded == 0


def test_a_machine_that_stays_busy_gives_the_quietest_rounds_and_says_so():
    probes = itertools.chain([200.0], itertools.count(200.0, -5.0))
    attempts = iter(range(1, 100))

    def run(calls):
        return 1e7 + next(attempts)

    rounds = measure({"numpy": run}, gauge_of(probes), 2)
    assert rounds.noisy
    assert rounds.discarded == 2 * MAX_ATTEMPTS_PER_ROUND - 2
    first, second = rounds.times_ns["numpy"]
    assert (first - 1e7, second - 1e7) == (7, 6), "call 1 was the calibration, 7 the last round"


def test_settle_is_called_after_each_turn():
    log = []
    measure(
        engines(log, a=1e7, b=1e7),
        gauge_of(itertools.repeat(QUIET)),
        1,
        settle=lambda: log.append("settle"),
    )
    assert log[2:] == ["a", "settle", "b", "settle"]


@pytest.mark.parametrize("call_ns", [3.0, 250.0, 4_999.0, 1e6, 4e6])
def test_a_round_lasts_long_enough_but_not_much_longer(call_ns):
    calls = calls_per_round(lambda calls: call_ns)
    assert min(TARGET_NS, MAX_CALLS * call_ns) <= calls * call_ns <= 2.5 * TARGET_NS


def test_one_call_is_enough_where_it_is_slow():
    assert calls_per_round(lambda calls: 1e9) == 1


def test_a_slow_first_call_does_not_fix_the_number_of_calls():
    times = iter([4e6, *itertools.repeat(1e3, 50)])
    calls = calls_per_round(lambda calls: next(times))
    assert calls * 1e3 >= TARGET_NS


def test_gauge_compares_with_its_own_minimum():
    gauge = Gauge(iter([200.0, 100.0, 114.0, 116.0]).__next__)
    assert [gauge.is_busy(gauge.measure()) for _ in range(4)] == [False, False, False, True]


def test_speedup_pairs_times_of_the_same_round():
    # The second round ran on a machine half as fast; pairing takes that out.
    assert paired_speedup((10.0, 20.0, 10.0), (5.0, 10.0, 5.0)) == 2.0


def test_spread():
    assert spread((1.0,)) == 0.0
    assert spread((1.0, 1.0, 1.0)) == 0.0
    assert spread((1.0, 2.0, 3.0, 4.0, 5.0)) == pytest.approx(2 / 3)
