"""The function that stands for a decorated one, while Python runs it: one frame behind a guard.

Regression: Small helpers and methods that Python runs cost 0.3 to 10 us a call: entry stub,
dispatcher and guard were Python frames. The entry stub now holds the user's statements after a
native guard.
"""

from __future__ import annotations

import sys
import traceback
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fusejit.codegen.launcher.call_guard import NEVER, CallGuard, Expected, is_native
from fusejit.entry_stubs.entry_stub import MAX_AT_ONCE
from fusejit_testing.compare import assert_same
from fusejit_testing.oracle import decorate, without_warm_up

GLOBAL = 2.0


def retiring(function: Any) -> Any:
    """The fused form that a user has once it is traced, with kernels as plain Python."""
    return without_warm_up(decorate(function, jit=False, tiering=True))


def is_python_s(fused: Any) -> bool:
    """Whether the entry stub has the statements of the function."""
    return fused.__fusejit_state__.dispatcher.entry_stub.guard is not None


# ----------------------------------------------------------------------------------------- guards
VALUES = st.one_of(
    st.integers(-(2**70), 2**70),
    st.integers(-5, 5),
    st.booleans(),
    st.floats(),
    st.none(),
    st.text(max_size=5),
    st.binary(max_size=5),
    st.lists(st.integers(), max_size=5),
    st.sets(st.integers(), max_size=5),
    st.dictionaries(st.integers(), st.none(), max_size=5),
    st.lists(st.integers(), max_size=5).map(tuple),
    st.lists(st.integers(0, 3), max_size=3).map(lambda shape: np.zeros(shape)),
    st.integers(0, 9).map(lambda n: np.zeros(n, np.float32)),
    st.integers(0, 9).map(lambda n: np.zeros(n).view(np.matrix)),
)
EXPECTED = st.builds(
    Expected,
    st.sampled_from([None, np.ndarray, int, bool, str, list, float]),
    st.sampled_from([None, np.dtype(float), np.dtype(np.float32)]),
    st.integers(-1, 2),
    st.one_of(st.integers(-3, 9), st.just(NEVER)),
)


@given(st.lists(EXPECTED, max_size=4), st.lists(VALUES, max_size=4), st.integers(1, 4))
def test_the_builtin_says_what_python_says(
    expected: list[Expected], args: list[Any], due: int
) -> None:
    assert is_native()
    guard = CallGuard(expected, due)
    said = guard.rejects(*args)
    assert said == guard.would_reject(args)
    assert guard.calls == 1


def test_a_guard_sees_replaced_code_and_default_values() -> None:
    def one(a: Any = 1) -> Any:
        return a

    def other(a: Any = 1) -> Any:
        return -a

    guard: Any = CallGuard([Expected()], function=one)  # type: ignore[arg-type]
    assert not guard.rejects(1)
    one.__code__, kept = other.__code__, one.__code__
    assert guard.rejects(1)
    one.__code__ = kept
    assert not guard.rejects(1)
    one.__kwdefaults__ = {}
    assert guard.rejects(1)


# ------------------------------------------------------------------------------------------ frames
def test_a_recursion_comes_as_deep_as_undecorated() -> None:
    def depth(k: Any) -> Any:
        return 0 if k == 0 else 1 + fused(k - 1)

    fused = retiring(depth)
    for k in (1, 2, 3, 30, 3):
        assert fused(k) == k
    assert is_python_s(fused)
    limit = sys.getrecursionlimit()
    frames = len(traceback.extract_stack())
    assert fused(limit - frames - 60) == limit - frames - 60
    with pytest.raises(RecursionError):
        fused(2 * limit)


def test_a_traceback_shows_the_user_s_frames_alone() -> None:
    def third(k: Any) -> Any:
        return [1, 2, 3][k] / 2

    fused = retiring(third)
    assert [fused(k) for k in (0, 1, 2)] == [0.5, 1.0, 1.5]
    with pytest.raises(IndexError) as theirs:
        third(7)
    with pytest.raises(IndexError) as ours:
        fused(7)
    assert is_python_s(fused)
    shown, there = (
        [(entry.filename, entry.lineno, entry.name) for entry in traceback.extract_tb(error.tb)][1:]
        for error in (ours, theirs)
    )
    assert shown == there


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
def test_locals_holds_no_names_of_ours() -> None:
    def names(a: Any, b: Any) -> Any:
        c = a + b
        return sorted(locals()), c

    fused = retiring(names)
    for _ in range(40):
        assert fused(1, 2) == names(1, 2)


# ----------------------------------------------------------------------------- what names stand for
def test_cells_globals_and_defaults_are_the_user_s() -> None:
    count = 0

    def step(a: Any, /, b: Any = 3, *rest: Any, c: Any = 4, **more: Any) -> Any:
        nonlocal count
        count += 1
        return (lambda: (a, b, rest, c, sorted(more), GLOBAL, count))()

    fused = retiring(step)
    for _ in range(20):
        for args, kwargs in (((1,), {}), ((1, 2, 5), {"c": 6}), ((1,), {"z": 2, "b": 1})):
            ours = fused(*args, **kwargs)
            count -= 1
            assert ours == step(*args, **kwargs)


def test_methods_with_private_names_and_super() -> None:
    class Base:
        def value(self, k: Any) -> Any:
            return k + 1

    class Derived(Base):
        def __init__(self) -> None:
            self.__hidden = 5

        @retiring
        def value(self, __k: Any) -> Any:
            return super().value(__k) * self.__hidden

    for k in range(40):
        assert Derived().value(k) == (k + 1) * 5
    assert is_python_s(Derived.value)


def test_names_like_ours_are_the_user_s() -> None:
    fusejit_guard = 3

    def program(fusejit_slow: Any) -> Any:
        return fusejit_slow + fusejit_guard

    fused = retiring(program)
    assert [fused(k) for k in range(40)] == [k + 3 for k in range(40)]
    assert is_python_s(fused)


# ----------------------------------------------------------------------------------- what changes
def test_replaced_code_and_defaults_are_noticed() -> None:
    def program(k: Any, step: Any = 1) -> Any:
        return k + step

    def other(k: Any, step: Any = 1) -> Any:
        return k - step

    fused = retiring(program)
    assert [fused(k) for k in range(3)] == [1, 2, 3]
    assert is_python_s(fused)
    fused.__defaults__ = (10,)
    assert [fused(k) for k in range(3)] == [10, 11, 12]
    fused.__code__ = retiring(other).__code__
    assert [fused(k) for k in range(3)] == [-10, -9, -8]


def test_parts_of_the_undecorated_function_are_noticed_when_a_call_is_looked_at() -> None:
    def program(k: Any, step: Any = 1) -> Any:
        return k + step

    def other(k: Any, step: Any = 1) -> Any:
        return k - step

    fused = retiring(program)
    assert [fused(k) for k in range(3)] == [1, 2, 3]
    assert is_python_s(fused)
    program.__defaults__ = (10,)
    assert [fused(5) for _ in range(MAX_AT_ONCE + 1)][-1] == 15
    program.__code__ = other.__code__
    assert [fused(5) for _ in range(MAX_AT_ONCE + 1)][-1] == -5


def test_larger_arguments_are_compiled_and_smaller_ones_stay_right() -> None:
    def first(x: Any) -> Any:
        return x[0] * 2 + np.sqrt(x).max()

    fused = retiring(first)
    for n in (2, 3, 2, 200_000, 2, 300_000, 5):
        x = np.linspace(0, 1, n)
        assert_same(first(x), fused(x))
    assert len(fused.variants) == 1


def test_a_variant_outlives_the_code_of_a_helper() -> None:
    @retiring
    def helper(x: Any) -> Any:
        return x * 2 + 1

    def program(x: Any) -> Any:
        return np.sqrt(helper(x)) + helper(x) / 3

    fused = retiring(program)
    x = np.linspace(0, 1, 50_000)
    expected = np.sqrt(x * 2 + 1) + (x * 2 + 1) / 3
    assert_same(expected, fused(x))
    code = helper.__code__
    assert helper(1.0) == 3.0
    assert is_python_s(helper)
    assert helper.__code__ is not code
    assert_same(expected, fused(x))
    assert len(fused.variants) == 1


# ---------------------------------------------------------------------------------------- declined
class Pair:
    def __init__(self, a: Any, b: Any) -> None:
        self.a, self.b = a, b


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
def test_kinds_that_are_always_declined_are_python_s_and_counted() -> None:
    def swapped(pair: Any) -> Any:
        return [Pair(pair.b, pair.a)]

    fused = decorate(swapped, jit=False)
    for k in range(100):
        (made,) = fused(Pair(k, -k))
        assert (made.a, made.b) == (-k, k)
    assert is_python_s(fused)
    if fused.variants.segmented is None:
        (count,) = [line for line in repr(fused.variants).splitlines() if "fallback" in line]
        assert "fallback 100x" in count


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
def test_another_kind_of_call_is_compiled() -> None:
    def both(x: Any) -> Any:
        if isinstance(x, Pair):
            return Pair(x.b, x.a)
        return x * 2 + np.sqrt(np.abs(x))

    fused = decorate(both, jit=False)
    for k in range(50):
        assert fused(Pair(k, 1)).b == k
    if fused.variants.segmented is None:
        assert is_python_s(fused)
    x = np.linspace(-1, 1, 1000)
    assert_same(both(x), fused(x))
    assert fused(Pair(7, 1)).b == 7


def test_guards_that_ask_alike_share_the_statements() -> None:
    """The statements were compiled again whenever a guard was replaced: hexiom ran at 0.6x."""

    def halved(x: Any) -> Any:
        return x / 2

    fused = retiring(halved)
    dispatcher = fused.__fusejit_state__.dispatcher
    guards = [
        *(CallGuard([Expected()], due) for due in (10, 20)),
        *(CallGuard([Expected()], unwatched=calls) for calls in (16, 32, NEVER)),
        *(CallGuard([Expected(kind)], unwatched=NEVER) for kind in (list, dict, list)),
    ]
    codes = []
    for guard in guards:
        assert dispatcher.installer.install_python(guard)
        codes.append(fused.__code__)
        assert fused(3) == 1.5
    places = [codes.index(code) for code in codes]
    assert places == [0, 0, 2, 2, 4, 5, 6, 5]
    assert all(codes[place] is code for place, code in zip(places, codes, strict=True))
