"""Which call of a function is the first to be traced, and what runs before."""

from __future__ import annotations

import functools
import inspect
import math
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fusejit.codegen.launcher import call_guard
from fusejit.codegen.launcher.call_guard import SAMPLE
from fusejit.dispatch.dispatcher import Dispatcher
from fusejit.entry_stubs.entry_stub import MAX_AT_ONCE
from fusejit.segments.find_dispatcher import dispatcher_of
from fusejit.support import budget
from fusejit.support.budget import Allowance, Speculation
from fusejit.warm_up import first_calls
from fusejit.warm_up.counted_loops import LoopsTooLong, counting
from fusejit.warm_up.first_calls import SETTLED
from fusejit.warm_up.loop_trips import loop_trips
from fusejit.warm_up.reachable_code import reachable_code
from fusejit_testing.compare import assert_same
from fusejit_testing.oracle import decorate


def tiered(function: Any) -> Any:
    """The fused form that a user has, with kernels as plain Python."""
    return decorate(function, jit=False, tiering=True)


def is_traced(fused: Any) -> bool:
    """Whether a call was traced, or an attempt was made."""
    return fused.__fusejit_state__._dispatcher is not None


@pytest.fixture
def never_affordable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Speculation, "affords", lambda self, seconds=0.0: False)


@pytest.fixture
def traces(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of functions, one for each trace."""
    names: list[str] = []
    original = Dispatcher.compile_call

    def compile_call(self: Dispatcher, args: tuple[Any, ...]) -> Any:
        names.append(self.function.__name__)
        return original(self, args)

    monkeypatch.setattr(Dispatcher, "compile_call", compile_call)
    return names


# ------------------------------------------------------------------------- what is traced at once
class Holder:
    def __init__(self, x: Any) -> None:
        self.x = x

    def doubled(self) -> Any:
        return np.multiply(self.x, 2)


class Slotted:
    __slots__ = ("x",)

    def __init__(self, x: Any) -> None:
        self.x = x


def twice(x: Any) -> Any:
    return x + x


def items(x: Any) -> Any:
    return x[0] + 1


def held(x: Any) -> Any:
    return x.x * 2


def by_method(x: Any) -> Any:
    return x.doubled()


def by_library(n: Any) -> Any:
    return np.arange(n)


def by_helper(n: Any) -> Any:
    return by_library(n) + 1


def by_class(n: Any) -> Any:
    return Holder(n).doubled()


class Stepping:
    def __init__(self, x: Any) -> None:
        self.x = x

    def step(self) -> None:
        self.x = self.x * 2 + 1


def by_undecorated_method(stepping: Any) -> Any:
    for _ in range(3):
        stepping.step()
    return stepping.x


MODEL = Stepping(np.arange(3.0))


def of_a_global_object(n: Any) -> Any:
    return MODEL.x * n


@functools.lru_cache
def cached_table(n: Any) -> Any:
    return np.arange(n)


def by_cached_function(n: Any) -> Any:
    return cached_table(n) + 1


def by_partial(n: Any) -> Any:
    return THREE_MORE(n)


THREE_MORE = functools.partial(by_library)


class Called:
    def __call__(self, n: Any) -> Any:
        return np.arange(n)


CALLED = Called()


def by_called_object(n: Any) -> Any:
    return CALLED(n)


ROW = np.arange(3.0)
OF_ARRAYS: list[tuple[Callable[[Any], Any], Any]] = [
    (twice, ROW),
    (twice, np.float64(2)),
    (items, [ROW, 2]),
    (items, (ROW,)),
    (held, Holder(ROW)),
    (held, Slotted(ROW)),
    (held, Holder([ROW])),
    (by_method, Holder(2.0)),
    (by_library, 3),
    (by_helper, 3),
    (by_class, 3),
    (of_a_global_object, 3),
    (by_cached_function, 3),
    (by_partial, 3),
    (by_called_object, 3),
]


@pytest.mark.parametrize(("function", "argument"), OF_ARRAYS)
@pytest.mark.usefixtures("never_affordable")
def test_what_deals_with_arrays_is_traced_at_once(function: Any, argument: Any) -> None:
    fused = tiered(function)
    assert_same(fused(argument), function(argument))
    assert is_traced(fused)


@pytest.mark.usefixtures("never_affordable")
def test_arrays_of_an_object_that_its_method_uses_are_seen() -> None:
    fused = tiered(by_undecorated_method)
    assert_same(fused(Stepping(ROW)), by_undecorated_method(Stepping(ROW)))
    assert is_traced(fused)


@pytest.mark.parametrize("argument", [2, 2.0, True, 3j, "ab", [1], (1, 2)])
@pytest.mark.usefixtures("never_affordable")
def test_what_has_neither_arrays_nor_loops_is_python_s(argument: Any) -> None:
    fused = tiered(twice)
    for _ in range(500):
        assert_same(fused(argument), argument + argument)
    assert not is_traced(fused)
    assert "Python runs it: it has neither arrays nor loops" in repr(fused.variants)


@pytest.mark.usefixtures("never_affordable")
def test_arrays_that_come_later_are_compiled() -> None:
    def scaled(x: Any) -> Any:
        return x * 2 + 1

    large = np.arange(50_000.0)
    for before in (1, 63, 64, 65, 700):
        fused = decorate(scaled, jit=True, tiering=True)
        for k in range(before):
            assert fused(k) == 2 * k + 1
        for _ in range(first_calls.FIRST_UNWATCHED + before):
            assert_same(fused(large), scaled(large))
        assert len(fused.variants) == 1
        assert fused(5) == 11


def test_no_compiler_is_loaded_for_what_is_python_s(
    run_python: Callable[..., Any], tmp_path: Path
) -> None:
    script = tmp_path / "plain.py"
    script.write_text(
        "import sys\n"
        "import fusejit\n"
        "class Account:\n"
        "    def __init__(self): self.total = 0\n"
        "    @fusejit.fuse_jit\n"
        "    def add(self, amount): self.total += amount; return self\n"
        "@fusejit.fuse_jit\n"
        "def digits(n):\n"
        "    total = 0\n"
        "    while n: total, n = total + n % 10, n // 10\n"
        "    return total\n"
        "account = Account()\n"
        "for k in range(3000): account.add(k)\n"
        "assert account.total == sum(range(3000))\n"
        "assert [digits(k) for k in (0, 7, 123)] == [0, 7, 6]\n"
        "assert {digits(10**1000) for _ in range(9)} == {1}\n"
        "packages = {name.split('.')[0] for name in sys.modules}\n"
        "assert not packages & {'numba', 'llvmlite'}, packages\n"
        "assert 'fusejit.dispatch.dispatcher' not in sys.modules\n",
    )
    run_python(script, FUSEJIT_TIERING="1")


# ----------------------------------------------------------------------------- loops that run long
@pytest.mark.usefixtures("never_affordable")
def test_loops_that_run_long_by_the_arguments_are_traced_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(first_calls, "MANY_PASSES", 100)

    def total(data: Any) -> Any:
        result = 0
        for value in data:
            result += value
        return result

    short, long = tiered(total), tiered(total)
    assert short([*range(50)]) == 1225
    assert not is_traced(short)
    assert long([*range(200)]) == 19900
    assert is_traced(long)


def steps(n: Any) -> Any:
    count = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        count += 1
    return count


@pytest.mark.usefixtures("never_affordable")
def test_a_call_that_runs_long_begins_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(first_calls, "LOADING_PASSES", 100)
    fused = tiered(steps)
    assert fused(6) == 8
    assert not is_traced(fused)
    assert "Python runs it so far: its calls have taken " in repr(fused.variants)
    assert fused(27) == 111
    assert is_traced(fused)
    assert "so far" not in repr(fused.variants)


@pytest.mark.usefixtures("never_affordable")
def test_after_many_calls_only_larger_ones_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Regression: counting took 15 % of each call of a function with short loops."""
    counted: list[int] = []

    def counting_calls(function: Any, passes: int) -> Any:
        run = counting(function, passes)
        return run and (lambda *args: [counted.append(args[0]), run(*args)][1])

    monkeypatch.setattr(first_calls, "counting", counting_calls)
    monkeypatch.setattr(first_calls, "LOADING_PASSES", 100)
    fused = tiered(steps)
    for _ in range(SETTLED):
        assert fused(6) == 8
    assert len(counted) == SETTLED - 1  # the last one was like the others
    for _ in range(2 * SAMPLE):
        assert fused(6) == 8
        assert fused(7) == 16
    assert len(counted) == SETTLED - 1
    assert fused(27) == 111  # larger than any of them: counted, and traced
    assert counted[-1] == 27
    assert is_traced(fused)


TABLE = [1, 2]
LIMIT = 10


def stores(data: Any) -> Any:
    for k in range(len(data)):
        data[k] = 0


def prints(n: Any) -> Any:
    while n:
        print(n)
        n -= 1


def appends(n: Any) -> Any:
    for k in range(n):
        TABLE.append(k)


def aliases(n: Any) -> Any:
    table = TABLE
    for k in range(n):
        table[0] = k


def tries(n: Any) -> Any:
    while n:
        try:
            n -= 1
        finally:
            n -= 0


def calls_others(n: Any) -> Any:
    while n:
        n = twice(n) - n - 1


def yields(n: Any) -> Any:
    while n:
        yield n
        n -= 1


def calls_values(n: Any) -> Any:
    while n:
        n = n.conjugate.__call__() - 1


def writes_globals(n: Any) -> Any:
    global LIMIT
    while n:
        LIMIT = n
        n -= 1


def takes_the_names_of_the_count(fusejit_passes: Any) -> Any:
    while fusejit_passes:
        fusejit_passes -= 1
    return fusejit_passes


@pytest.mark.parametrize(
    "function",
    [
        *(prints, appends, aliases, tries, calls_others, yields, writes_globals),
        takes_the_names_of_the_count,
    ],
)
def test_calls_with_effects_are_not_restarted(function: Any) -> None:
    assert counting(function, 5) is None


def pure_roots(n: Any) -> Any:
    made = []
    k = 0
    while k < n:
        made.append(math.sqrt(k) + LIMIT)
        k += 1
    return made


@pytest.mark.parametrize("function", [steps, pure_roots])
def test_passes_are_counted(function: Any) -> None:
    counted = counting(function, 20)
    assert counted is not None
    assert_same(counted(6), function(6))
    assert_same(counted(6), function(6))  # each call from the beginning
    with pytest.raises(LoopsTooLong):
        counted(27)


@given(st.integers(0, 5), st.integers(0, 5), st.lists(st.integers(), max_size=5))
def test_trips_are_those_of_python(n: int, m: int, data: list[int]) -> None:
    def program(n: int, m: int, data: list[int]) -> int:
        count = 0
        for _ in range(n * 2 + 1):
            for _ in enumerate(data):
                count += 1
        for _ in range(len(data), m + n):
            count += 1
        return count + len([k + m for k in range(n)])

    tree = first_calls.find_source(program)
    assert not isinstance(tree, str)
    # a loop around one that runs never counts as one pass
    least = program(n, m, data)
    assert least <= loop_trips(tree.node.body, {"n": n, "m": m, "data": data}) <= least + 12


def test_what_a_function_reaches() -> None:
    assert not reachable_code(twice, (2,)).has_loops
    assert reachable_code(steps, (2,)).has_loops
    assert reachable_code(calls_others, (2,)).has_loops
    assert not reachable_code(steps, (2,)).has_arrays
    assert reachable_code(by_helper, (2,)).has_arrays


@pytest.mark.usefixtures("never_affordable")
def test_a_recursion_comes_as_deep_as_undecorated() -> None:
    def depth(n: Any) -> Any:
        return 0 if n == 0 else 1 + deeper(n - 1)

    def by_loop(n: Any) -> Any:
        for _ in range(1):
            return 0 if n == 0 else 1 + deeper(n - 1)

    for function in (depth, by_loop):
        deeper = tiered(function)
        most = sys.getrecursionlimit() - len(inspect.stack(0)) - 80
        assert deeper(most) == most


@pytest.mark.usefixtures("never_affordable")
def test_a_function_without_source() -> None:
    namespace: dict[str, Any] = {}
    exec("def bare(x):\n    return x * 2", namespace)
    made = tiered(namespace["bare"])
    for _ in range(300):
        assert made(2.0) == 4.0
    for _ in range(600):
        assert_same(made(ROW), ROW * 2)
    assert is_traced(made)


# ----------------------------------------------------------------------------------------- budgets
def test_a_process_spends_on_guesses_in_proportion() -> None:
    now = [0.0]
    speculation = Speculation(lambda: now[0])
    with speculation.spending():
        pass
    assert not speculation.affords()  # the program has only begun
    now[0] = 2 * budget.LOADING_SECONDS
    assert speculation.affords()
    now[0] = 10.0
    speculation.spent = 3.0
    assert not speculation.affords()
    now[0] = 100.0
    assert speculation.affords()


def test_a_graph_is_an_investment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its compilation has more time than a trace that may fail, and does not count as one."""
    now, thread = [0.0], [0.0]
    speculation = Speculation(lambda: now[0])
    monkeypatch.setattr(budget, "speculation", speculation)
    monkeypatch.setattr(budget.time, "thread_time", lambda: thread[0])
    allowance = Allowance(100.0)
    allowance.is_speculative = True
    with allowance.spending():
        pass
    now[0] = 2.0
    clock = lambda: thread[0]  # noqa: E731
    with allowance.spending(), budget.compiling("f", allowance, clock) as compile_:
        thread[0] = 0.5
        with allowance.investing(compile_, 100.0):
            thread[0] += 0.25
            budget.check_budget()
            with pytest.raises(budget.OutOfTime):
                budget.check_budget(70.0)
    assert speculation.spent == pytest.approx(0.5)
    assert speculation.invested == pytest.approx(0.25)
    with allowance.spending() as pays:
        thread[0] += 1.0
        pays()
        thread[0] += 2.0
    assert speculation.spent == pytest.approx(2.5)
    assert speculation.invested == pytest.approx(1.25)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks")
def test_a_forked_child_has_its_own_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its clock begins at zero: it would have had to run for as long as its parent first."""
    monkeypatch.setattr(budget.speculation, "_start", 1e9)
    child = os.fork()
    if not child:
        os._exit(0 if budget.speculation._start is None else 1)
    _, status = os.waitpid(child, 0)
    assert status == 0


def test_traces_without_time_become_rare(monkeypatch: pytest.MonkeyPatch) -> None:
    """A speculative trace that ended for lack of time waits for twice as many calls, and time."""
    asked: list[float] = []

    def affords(self: Speculation, seconds: float = 0.0) -> bool:
        asked.append(seconds)
        return True

    monkeypatch.setattr(Speculation, "affords", affords)
    allowance = Allowance(10.0)
    allowance.is_speculative = True
    traced = 0
    for _ in range(1000):  # calls of 10 ms; each trace needs a second
        allowance.plain += 0.01
        if not allowance.is_spent("of integers"):
            allowance.postpone(1.0)
            traced += 1
    assert 3 <= traced <= 5
    assert {*asked} == {0.0, 2.0}


def test_traces_in_vain_are_paid_for_by_calls() -> None:
    allowance = Allowance(10.0)
    assert not allowance.is_spent("of floats")
    allowance.waste("of floats", 2 * budget.WASTED_SECONDS)
    assert allowance.is_spent("of floats")
    assert not allowance.is_spent("of integers")
    allowance.plain = 2 * budget.WASTED_SECONDS / budget.WASTED_SHARE
    assert not allowance.is_spent("of floats")
    for k in range(budget.MAX_WASTED_SIGNATURES + 20):
        allowance.waste(k, budget.WASTED_SECONDS)
    assert allowance.is_spent("of integers")


def test_a_guess_has_no_more_time_than_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """And what it does not finish is no reason to leave calls to Python for good."""
    allowance = Allowance(10.0)
    assert allowance.limit(10.0) == 10.0
    allowance.is_speculative = True
    now = [0.0]
    speculation = Speculation(lambda: now[0])
    monkeypatch.setattr(budget, "speculation", speculation)
    with speculation.spending():
        pass
    speculation.spent = 0.0
    assert allowance.limit(10.0) == budget.LEAST_SECONDS
    now[0] = 10.0
    assert budget.LEAST_SECONDS < allowance.limit(10.0) < 4.0
    speculation.spent = 5.0
    assert allowance.limit(10.0) == budget.LEAST_SECONDS
    now[0] = 1000.0
    assert allowance.limit(10.0) == 10.0


def test_a_guess_that_runs_out_of_time_is_made_again_later(
    monkeypatch: pytest.MonkeyPatch, traces: list[str]
) -> None:
    def total(data: Any) -> Any:
        result = 0.0
        for value in data:
            result += value * 2
        return result

    monkeypatch.setattr(first_calls, "WORTH_SECONDS", 0.0)
    monkeypatch.setattr(Speculation, "affords", lambda self, seconds=0.0: True)
    monkeypatch.setattr(budget, "WASTED_SECONDS", 0.0)
    limits = [0.0]
    monkeypatch.setattr(Allowance, "limit", lambda self, seconds: limits[0])
    fused = tiered(total)
    data = [1.0, 2.0] * 5000
    for _ in range(3):
        assert fused(data) == 30000.0
    assert traces == ["total"]
    assert not fused.variants.fallbacks
    limits[0] = 10.0
    fused.__fusejit_state__.allowance.plain = 1e9
    for _ in range(MAX_AT_ONCE + 1):
        assert fused(data) == 30000.0
        if len(traces) > 1:
            return
    pytest.fail("no other trace")


class State:
    def __init__(self, n: int) -> None:
        self.coords = np.arange(3.0 * n).reshape(n, 3)
        self.weights = np.arange(1.0 * n)


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
def test_a_wrong_guess_is_not_made_again_and_again(
    monkeypatch: pytest.MonkeyPatch, traces: list[str]
) -> None:
    """Masks of other masks: a trace tries them with other numbers, for which NumPy raises."""
    monkeypatch.setattr(budget, "WASTED_SECONDS", 0.0)
    monkeypatch.setattr(budget, "WASTED_SHARE", 0.0)

    def update(old: Any, new: Any, accepted: Any, subset: Any) -> Any:
        first = subset & accepted
        second = accepted[subset]
        old.coords[first] = new.coords[second]
        old.weights[first] = new.weights[second]
        return old

    fused = tiered(update)
    subset = np.arange(8) % 2 == 0
    for k in range(60):
        accepted = np.zeros(8, bool)
        accepted[subset] = (np.arange(4) + k) % 3 == 0
        ours, plain = State(8), State(8)
        fused(ours, State(4), accepted, subset)
        update(plain, State(4), accepted, subset)
        assert_same(ours.coords, plain.coords)
        assert_same(ours.weights, plain.weights)
    assert len(traces) == 1
    assert "for now: failed traces" in repr(fused.variants)


def test_arrays_are_no_guess(monkeypatch: pytest.MonkeyPatch, traces: list[str]) -> None:
    """A function that was traced on a guess, and could not be afforded: arrays come."""

    def total(data: Any) -> Any:
        result = data[0] * 0
        for value in data:
            result = result + value
        return result

    monkeypatch.setattr(first_calls, "WORTH_SECONDS", 0.0)
    monkeypatch.setattr(Speculation, "affords", lambda self, seconds=0.0: True)
    fused = tiered(total)
    for _ in range(2):
        assert fused([1.0, 2.0]) == 3.0
    assert traces
    traces.clear()
    monkeypatch.setattr(Speculation, "affords", lambda self, seconds=0.0: False)
    large = np.arange(6000.0).reshape(3, 2000)
    for _ in range(call_guard.SAMPLE + 2):
        assert_same(fused(large), total(large))
    assert traces


# ---------------------------------------------------------------------------- calls not looked at
def test_threads_that_find_no_calls_left_go_on() -> None:
    """The second thread finds that the first one has let more calls pass."""

    def shown(k: Any) -> Any:
        return k, k

    fused = tiered(shown)
    for k in range(first_calls.SETTLED + 1):
        fused(k)
    stub = fused.__fusejit_state__.entry_stub
    for _ in stub._own.calls:
        pass
    miss = stub._own.dispatch_miss
    assert miss((1,)) == (1, 1)
    assert miss((2,)) == (2, 2)  # calls are left
    assert not is_traced(fused)


def test_what_may_pass_without_being_looked_at() -> None:
    class Plain:
        pass

    cases: list[tuple[tuple[Any, ...], int, bool, int]] = [
        ((Plain(),), 16, False, 0),
        ((Plain(),), 2048, False, call_guard.NEVER),
        ((Plain(), 1.5), 2048, False, call_guard.SAMPLE),
        ((Plain(), [1]), 2048, False, 0),  # sizes
        ((3,), 2048, False, 0),
        ((ROW,), 2048, False, 0),
        ((Plain(),), call_guard.NEVER, True, call_guard.NEVER),
        ((2.0,), call_guard.NEVER, True, call_guard.SAMPLE),
        ((ROW,), call_guard.NEVER, True, call_guard.SAMPLE),
    ]
    for args, due, is_open, expected in cases:
        assert call_guard.unwatched_calls(args, due, is_open=is_open) == expected, (args, due)


def test_attributes_are_read_without_making_dictionaries() -> None:
    """In Python 3.11 and 3.12 they would be slower to read ever after."""
    referents = __import__("gc").get_referents

    class Plain:
        def __init__(self) -> None:
            self.x = 1.5

    @tiered
    def read(one: Any) -> Any:
        return one.x

    one = Plain()
    assert not any(type(part) is dict for part in referents(one))
    for _ in range(200):
        assert read(one) == 1.5
    assert not any(type(part) is dict for part in referents(one))


def test_functions_that_others_ask_for_are_speculative() -> None:
    """A function that calls it makes its dispatcher: so its first calls had all of the budget."""

    def total(items: Any) -> Any:
        found = 0
        for item in items:
            found += item
        return found

    asked, called = (decorate(total, jit=False, tiering=True) for _ in range(2))
    state = dispatcher_of(asked)
    assert state is not None
    assert state.state.allowance.is_speculative
    called(np.arange(4.0))
    state = dispatcher_of(called)
    assert state is not None
    assert not state.state.allowance.is_speculative
