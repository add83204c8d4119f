"""The clock decides between a variant and Python where both give the same bits.

Regression: A segment with a short ``while`` ran at 0.74x: its number of iterations was a guess. The
clock now decides after 16 calls where both forms have equal bits.
"""

import functools

import numpy as np
import pytest

import fusejit.dispatch.tiering_policy
from fusejit import fuse_jit
from fusejit.ir.analysis.exactness import is_exact, is_repeatable
from fusejit.outcome import MISS
from fusejit.segments.find_dispatcher import dispatcher_of
from fusejit.tiering.cost_estimate import CostEstimate
from fusejit.tiering.segment_profiler import FIRST_REPROFILE
from fusejit.tiering.timed_trial import (
    ENOUGH_NS,
    MIN_CALLS,
    MIN_DECISIVE_CALLS,
    WARM_UP,
    TimedTrial,
    may_take_long,
)
from fusejit.tiering.timings import CALLS, LONG_NS, discard_timings

TRIED = WARM_UP + CALLS


def first_above(x, limit):
    i = 0
    while i < len(x) and x[i] <= limit:
        i += 1
    return i


class Machine:
    """A clock, and what the two forms take by it."""

    def __init__(self, ours: int, pythons: int) -> None:
        self.now, self.compiled_times, self.python_times = 0, ours, pythons
        self.computed = []

    def clock(self) -> int:
        return self.now

    def launch(self, *args):
        self.now += self.compiled_times
        self.computed.append("ours")
        return sum(args)

    def plain(self, *args):
        self.now += self.python_times
        self.computed.append("pythons")
        return sum(args)


class Variant:
    def __init__(self, launch) -> None:
        self.launch = launch


ESTIMATE = CostEstimate(3.0, 1.0, False, False)


def trial_of(machine, decided, launch=None, plain=None, estimate=ESTIMATE, **how):
    variant = Variant(launch or machine.launch)
    return TimedTrial(variant, plain or machine.plain, estimate, decided, machine.clock, **how)


@pytest.mark.parametrize(("ours", "pythons"), [(5, 9), (9, 5), (7, 7)])
def test_each_form_computes_a_few_calls(ours, pythons):
    told = []
    machine = Machine(ours, pythons)
    trial = trial_of(machine, lambda trial, python_is_faster, args: told.append(python_is_faster))
    for _ in range(TRIED + 3):
        assert trial.launch(1, 2) == 3
    assert told == [pythons < ours]
    assert (trial.compiled_times, trial.python_times) == (CALLS * [ours], CALLS * [pythons])
    assert machine.computed[: WARM_UP + 4] == ["ours"] * WARM_UP + ["ours", "pythons"] * 2
    assert machine.computed[-3:] == ["ours"] * 3


def test_long_calls_are_not_computed_by_python():
    """A loop over a million elements takes Python a second."""
    told = []
    machine = Machine(LONG_NS + 1, 100 * LONG_NS)
    trial = trial_of(machine, lambda trial, python_is_faster, args: told.append(python_is_faster))
    for _ in range(TRIED):
        trial.launch(1, 2)
    assert told == [False]
    assert "pythons" not in machine.computed
    told.clear()
    machine = Machine(9, 5)
    trial = trial_of(machine, lambda trial, python_is_faster, args: told.append(python_is_faster))
    for at in range(TRIED + 1):
        machine.ours = LONG_NS + 1 if at == 5 else 9  # something else ran meanwhile
        trial.launch(1, 2)
    assert told == [True]
    assert machine.computed.count("pythons") == CALLS


def test_long_calls_are_computed_by_either_form_where_the_estimate_takes_them_for_near():
    told = []
    machine = Machine(3 * LONG_NS, 2 * LONG_NS)
    trial = trial_of(
        machine,
        lambda trial, python_is_faster, args: told.append(python_is_faster),
        tries_long=True,
    )
    calls = 0
    while not told:
        assert trial.launch(1, 2) == 3
        calls += 1
    assert told == [True]
    assert len(machine.computed) <= calls + 1  # but for the first one, each is computed once
    assert may_take_long(ESTIMATE) is True
    assert may_take_long(CostEstimate(9.0, 1.0, False, False)) is False


def test_two_calls_that_take_python_long_decide():
    told = []
    machine = Machine(LONG_NS // 9, 2 * ENOUGH_NS)
    trial = trial_of(machine, lambda trial, python_is_faster, args: told.append(python_is_faster))
    for _ in range(TRIED):
        trial.launch(1, 2)
    assert told == [False]
    assert machine.computed.count("pythons") == len(trial.compiled_times) == 2


@pytest.mark.parametrize(("ours", "pythons", "spared"), [(5, 9, 0), (9, 5, 0), (7, 9, 3)])
def test_either_form_computes_a_call_that_stores(ours, pythons, spared):
    told = []
    machine = Machine(ours, pythons)
    trial = trial_of(
        machine,
        lambda trial, python_is_faster, args: told.append(python_is_faster),
        is_repeatable=False,
        spared_ns=spared,
    )
    calls = 0
    while not told:
        assert trial.launch(1, 2) == 3
        calls += 1
    assert told == [pythons < ours + spared]
    assert len(machine.computed) == calls <= WARM_UP + 2 * CALLS + 1
    turns = "".join(form[0] for form in machine.computed[WARM_UP : WARM_UP + 8])
    assert turns == "oppopoop"  # no period that the calls could have too


@pytest.mark.parametrize(
    ("pythons", "numpy_ns", "calls"),
    [
        (ENOUGH_NS, 3.0, CALLS),
        (30 * ENOUGH_NS, 3.0, MIN_CALLS),
        (30 * ENOUGH_NS, 0.5, MIN_DECISIVE_CALLS),
    ],
)
def test_other_work_in_other_calls_is_a_reason_to_time_more_of_them(pythons, numpy_ns, calls):
    """Fewer are enough where the clock agrees with the estimate."""
    told = []
    machine = Machine(LONG_NS // 2, pythons)
    trial = trial_of(
        machine,
        lambda trial, python_is_faster, args: told.append(python_is_faster),
        estimate=CostEstimate(numpy_ns, 1.0, False, False),
        is_repeatable=False,
    )
    while not told:
        trial.launch(1, 2)
    assert told == [False]
    assert min(len(trial.compiled_times), len(trial.python_times)) == calls


@pytest.mark.parametrize("is_repeatable", [True, False])
def test_calls_in_which_another_trial_runs_or_something_is_compiled_do_not_count(is_repeatable):
    told = []
    machine = Machine(9, 1)
    inner = trial_of(machine, lambda trial, python_is_faster, args: told.append("inner"))
    again = [True]

    def outer(*args):
        if again:
            again.pop()
            machine.now += 10**9
            discard_timings()
        return inner.launch(*args)

    trial = trial_of(
        machine,
        lambda trial, python_is_faster, args: told.append(("outer", python_is_faster)),
        plain=outer,
        is_repeatable=is_repeatable,
    )
    for _ in range(4 * TRIED + 2):
        assert trial.launch(1, 2) == 3
    assert told == ["inner", ("outer", False)]
    assert set(trial.python_times) == {9}


def test_what_ends_a_trial():
    told = []
    machine = Machine(9, 5)

    def decided(trial, python_is_faster, args):
        told.append(python_is_faster)

    def fails(*args):
        raise ValueError("only in Python")

    trial = trial_of(machine, decided, plain=fails)
    assert [trial.launch(k) for k in range(WARM_UP + 2)] == [*range(WARM_UP + 2)]
    assert told == [False]
    missing = trial_of(machine, decided, launch=lambda *args: MISS)
    assert [missing.launch(1) for _ in range(2 * TRIED)] == [MISS] * 2 * TRIED
    assert told == [False]

    def interrupted(*args):
        raise KeyboardInterrupt

    trial = trial_of(machine, decided, plain=interrupted)
    for _ in range(WARM_UP):
        trial.launch(1)
    with pytest.raises(KeyboardInterrupt):
        trial.launch(1)
    assert told == [False]
    trial = trial_of(machine, decided, plain=lambda *args: trial.launch(*args))  # a recursion
    for _ in range(TRIED):
        assert trial.launch(4) == 4
    assert len(told) == 2


@pytest.fixture(autouse=True)
def retiring(monkeypatch):
    """Calls that do not pay are left to Python, as they are without a setting of the tests."""
    monkeypatch.setenv("FUSEJIT_TIERING", "1")


@pytest.fixture
def timed(monkeypatch):
    """What the forms of a function take while they are tried."""
    machine = Machine(0, 0)

    class Timed(TimedTrial):
        def _run_python(self, args):
            machine.now += machine.pythons
            return super()._run_python(args)

        def _runs_compiled(self, args):
            machine.now += machine.ours
            return super()._runs_compiled(args)

    monkeypatch.setattr(
        fusejit.dispatch.tiering_policy, "TimedTrial", functools.partial(Timed, clock=machine.clock)
    )
    return machine


def calls(fused, times):
    x = np.arange(9.0)
    for k in range(times):
        assert fused(x, k % 5 + 0.5) == k % 5 + 1


def test_a_slow_variant_is_left_to_python_and_tried_again(timed):
    timed.ours, timed.pythons = 9, 5
    fused = fuse_jit(first_above)
    calls(fused, TRIED + 2)
    state = dispatcher_of(fused)
    assert not fused.variants.compiled
    assert (
        "Python runs it, because compiling would gain nothing: NumPy 5 ns, compiled 9 ns, measured"
        in repr(fused.variants)
    )
    assert state.entry_stub.guard is not None
    calls(fused, FIRST_REPROFILE - 2)
    assert not fused.variants.compiled
    timed.ours, timed.pythons = 5, 9
    calls(fused, 2)  # looked at: the same variant is asked, and nothing traced
    assert len(fused.variants) == 1
    assert fused.variants[0] is state.tiering.interpreted.variants[0]
    calls(fused, TRIED + 1)
    assert state.tiering.timed_trials == []
    assert state.entry_stub.first is fused.variants[0].launch
    assert "interpreted" not in repr(fused.variants)


def test_a_fast_variant_stays(timed):
    timed.ours, timed.pythons = 5, 9
    fused = fuse_jit(first_above)
    calls(fused, 3 * TRIED)
    state = dispatcher_of(fused)
    assert state.tiering.timed_trials == []
    assert state.entry_stub.first is fused.variants[0].launch


@pytest.mark.parametrize(("ours", "pythons", "left"), [(9, 5, 0), (5, 9, 2)])
def test_other_arguments_during_a_trial(timed, ours, pythons, left):
    """Only a variant that was the only one was ever timed: with two, slow ones served for ever."""
    timed.ours, timed.pythons = ours, pythons
    fused = fuse_jit(first_above)
    for k in range(2 * TRIED):
        for dtype in (np.float64, np.int32):
            assert fused(np.arange(9, dtype=dtype), k % 5) == k % 5 + 1
    assert len(fused.variants) == left
    assert not dispatcher_of(fused).tiering.timed_trials
    for k in range(20 * FIRST_REPROFILE):  # both are asked again now and then, and nothing traced
        for dtype in (np.float64, np.int32):
            assert fused(np.arange(9, dtype=dtype), k % 5) == k % 5 + 1
    interpreted = dispatcher_of(fused).tiering.interpreted
    assert left or len(interpreted.variants) + len(fused.variants) == 2


def test_not_where_nothing_is_left_to_python(timed):
    timed.ours, timed.pythons = 9, 5
    fused = fuse_jit(first_above, fullgraph=True)
    calls(fused, 3 * TRIED)
    assert len(fused.variants) == 1
    assert dispatcher_of(fused).tiering.timed_trials == []


def stores(x, limit):
    i = 0
    while i < len(x) and x[i] <= limit:
        x[i] = 0
        i += 1
    return i


def of_functions(x, limit):
    i = 0
    while i < len(x) and np.exp(x[i]) <= limit:
        i += 1
    return i


def draws(x, rng):
    i = 0
    while i < len(x) and rng.random() < x[i]:
        i += 1
    return i


def total(x, limit):
    return float(x.sum()) > limit


def of_complex_products(x, limit):
    z = x * 1j
    for _ in range(3):
        z = z * z + x
    return np.abs(z) < limit, z.real


def of_complex_functions(x, limit):
    z = np.exp(x * 1j)
    return z / (z + limit)


@pytest.mark.parametrize(
    ("function", "repeats", "exact"),
    [
        (first_above, True, True),
        (stores, False, True),
        (of_functions, True, False),
        (draws, False, True),
        (total, True, True),
        (of_complex_products, True, True),
        (of_complex_functions, True, False),
    ],
)
def test_what_may_be_tried(function, repeats, exact):
    other = np.random.default_rng(0) if function is draws else 3.0
    graph = fuse_jit(function, fullgraph=True).trace(np.arange(5.0), other).graph
    assert (is_repeatable(graph), is_exact(graph)) == (repeats, exact)


def increments(x, n):
    k = 0
    while k < n:
        x[k] += 1
        k += 1
    return k


def test_stores_happen_once_whoever_is_the_faster_one(timed):
    timed.ours, timed.pythons = 9, 5
    fused, x = fuse_jit(increments), np.zeros(9, int)
    made = TRIED + CALLS + 1  # the first one is served before the trial begins
    for k in range(made):
        assert fused(x, 5) == 5
        assert x.tolist() == [k + 1] * 5 + [0] * 4
    assert not fused.variants.compiled
    for k in range(made, made + 40 * FIRST_REPROFILE):  # looked at now and then: nothing is traced
        assert fused(x, 5) == 5
        assert x.tolist() == [k + 1] * 5 + [0] * 4
    assert sum(fused.variants.fallbacks.values()) == 0
    assert not fused.variants.compiled or dispatcher_of(fused).tiering.timed_trials


def test_effects_happen_once():
    """A program with effects is not computed twice."""
    fused, x = fuse_jit(stores), np.arange(9.0)
    for k in range(2 * TRIED):
        x[:] = np.arange(9.0)
        assert fused(x, k % 5) == k % 5 + 1
        assert x[: k % 5 + 1].tolist() == [0] * (k % 5 + 1)
    drawn, ours, theirs = fuse_jit(draws), np.random.default_rng(1), np.random.default_rng(1)
    for _ in range(2 * TRIED):
        assert drawn(np.full(20, 0.7), ours) == draws(np.full(20, 0.7), theirs)
