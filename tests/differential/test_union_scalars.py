"""Numbers that have one of several types, depending on elements: NumPy's types and values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fusejit.api import FuseWarning
from fusejit.ir.ops import Assert, walk
from fusejit_testing.oracle import check, compare_outcomes, decorate, run

DTYPES = ("float64", "float32", "int64", "int32", "uint8")
VALUES = ([0.1, 0.2, 0.9, 0.7, 0.3], [0.1, 0.2, 0.3, 0.2, 0.05], [0.9, 0.2, 0.3, 0.2, 0.05])


# ------------------------------------------------------------------------------ what loops leave
def last_or_none(x: Any) -> Any:
    last = None
    for i in range(len(x)):
        if x[i] > x[0]:
            last = x[i]
    return last


def last_or_zero(x: Any) -> Any:
    last = 0
    for i in range(len(x)):
        if x[i] > x[0]:
            last = x[i]
    return last


def some_total(x: Any) -> Any:
    total = 0
    for i in range(len(x)):
        if x[i] > x[0]:
            total += x[i]
    return total


def steps(x: Any) -> Any:
    total = 0
    for i in range(len(x)):
        if x[i] > x[0]:
            total += 1.5
    return total


def largest(x: Any) -> Any:
    best = 0
    for i in range(len(x)):
        best = max(best, x[i])
    return best


def smallest_with_bounds(x: Any) -> Any:
    low = 100
    for i in range(len(x)):
        low = min(max(x[i], 1), low, 50.0)
    return low


def largest_or_none(x: Any) -> Any:
    best = None
    for i in range(len(x)):
        if best is None or x[i] > best:
            best = x[i]
        elif x[i] < 0.06:
            best = None
    return best


def range_or_none(x: Any) -> Any:
    low = high = None
    for i in range(len(x)):
        if x[i] > x[0]:
            if low is None:
                low, high = x[i], x[i]
            else:
                low, high = min(low, x[i]), max(high, x[i])
    if low is not None:
        return high - low
    return None


def first_place(x: Any) -> Any:
    for i in range(len(x)):
        if x[i] > x[0]:
            return i
    return None


def place_or_float(x: Any) -> Any:
    for i in range(len(x)):
        if x[i] > x[0]:
            return i
    return -1.0


def three_types(x: Any) -> Any:
    v = None
    for i in range(len(x)):
        if x[i] > x[0]:
            v = 3
        elif x[i] < x[0]:
            v = x[i]
    return v


def of_a_while_loop(x: Any) -> Any:
    s = 0
    i = 0
    while i < len(x) and x[i] <= x[0]:
        s += x[i]
        i += 1
    return s, i


def place_of_the_largest(x: Any) -> Any:
    at = (0, 0.5)
    best = x[0]
    for i in range(len(x)):
        if x[i] > best:
            best = x[i]
            at = (i, best)
    return at


def in_order(x: Any) -> Any:
    a, b = (x[0], x[1]) if x[0] < x[1] else (x[1], x[0])
    return a - b, a


# -------------------------------------------------------------------------- what is done with them
def arithmetic(x: Any) -> Any:
    v = 2 if x[0] > x[1] else x[2]
    return v + 1, v * x[3], v - 0.5, -v, 3 - v, abs(v), v * v


def comparisons(x: Any) -> Any:
    v = 2 if x[0] > x[1] else x[2]
    return v > 1, v == 2, v <= x[3], 1 if v else 5


def conversions(x: Any) -> Any:
    v = 2.5 if x[0] > x[1] else x[2]
    return float(v), int(v), np.float32(v), bool(v), np.sqrt(v + 0.5), np.maximum(v, 1.0)


def stored(x: Any) -> Any:
    out = np.zeros(len(x), x.dtype)
    floats = np.zeros(len(x), np.float32)
    n = 0
    for i in range(len(x)):
        n += x[i] > x[0]
        out[i] = max(1, x[i])
        floats[i] = max(n, x[i])
    return out, floats


def on_arrays(x: Any) -> Any:
    v = 2.0 if x[0] > x[1] else np.float64(x[2])
    return x.astype(np.float64) * v, np.full(3, v)


def as_an_index(x: Any) -> Any:
    at = 1
    for i in range(len(x)):
        if x[i] > x[at]:
            at = np.int64(i)
    return x[at], x[:at], at


def operands_of_or(x: Any) -> Any:
    return x[0] or 5, x[1] and 0.5, not (x[2] or 0)


def with_a_helper(x: Any) -> Any:
    def clipped(v: Any) -> Any:
        return max(v, 1) if v < 2 else 2.5

    s = 0.0
    for i in range(len(x)):
        s += clipped(x[i])
    return s, clipped(x[0])


def two_of_them(x: Any) -> Any:
    a, b, c = 1.0, 2, 0.5
    for i in range(len(x)):
        if x[i] > x[0]:
            a = x[i]
        elif x[i] < x[0]:
            b = x[i]
        c = a * b + a / 2.0 - abs(b) * a
    return a * b, a + b, a > b, a / 4, a * a, b * b, c


def roots(x: Any) -> Any:
    out = np.zeros(len(x))
    for i in range(len(x)):
        y = 1.0
        while abs(y * y - x[i]) > 1e-3 * x[i]:
            y = 0.5 * (y + x[i] / y)
        out[i] = y
    return out, y


def place_and_value(x: Any) -> Any:
    for i in range(len(x)):
        for j in range(i):
            if x[i] > x[j]:
                return i, j, x[i] - x[j]
    return None


def pair_or_none(x: Any) -> Any:
    at = None
    for i in range(len(x)):
        if x[i] > x[0]:
            at = (i, x[i])
        elif x[i] < x[0] and at is not None:
            at = (at[0] - 1, at[1]) if at[0] > 3 else None
    return at


def uses_of_a_pair(x: Any) -> Any:
    at = None
    for i in range(len(x)):
        if x[i] > x[0] and not at:
            at = (i, i + 1)
    if at is None:
        return -1, 0, at
    first, second = at
    return first, at[1] + second, at


def pair_of_types(x: Any) -> Any:
    low = (0, None)
    for i in range(len(x)):
        if x[i] < x[0] and (low[1] is None or x[i] < low[1]):
            low = (i, x[i])
    return low


def arrays_in_a_tuple(x: Any) -> Any:
    if x[0] > x[1]:
        y, n = x * 2, 1
    else:
        y, n = x + 1, 2.5
    pair = (y, n) if x[2] > x[1] else (x - y, 0)
    return pair[0], pair[1]


def tuples_that_loops_carry(x: Any) -> Any:
    state = (0, (x[0], 1.0))
    for i in range(len(x)):
        count, (total, factor) = state
        if x[i] > x[0]:
            state = (count + 1, (total + x[i], factor * 0.5))
    return state


def return_that_is_not_reached(x: Any) -> Any:
    u = x[0]
    for i in range(len(x)):
        if u is None:
            return u
        if x[i] > x[0]:
            u = x[i]
    return u, 1


def none_early(x: Any) -> Any:
    for i in range(len(x)):
        if x[i] > x[0]:
            return None
        if x[i] < x[0]:
            return x[i], i
    return x[0], 1


def printed(x: Any) -> Any:
    v = 0
    for i in range(len(x)):
        if x[i] > x[0]:
            v = x[i]
    print("last", v, f"{v:.1f}", [v])
    return {"v": v}, [v]


PROGRAMS = (
    last_or_none,
    last_or_zero,
    some_total,
    steps,
    largest,
    smallest_with_bounds,
    largest_or_none,
    range_or_none,
    first_place,
    place_or_float,
    three_types,
    of_a_while_loop,
    place_of_the_largest,
    in_order,
    arithmetic,
    comparisons,
    conversions,
    stored,
    on_arrays,
    as_an_index,
    operands_of_or,
    with_a_helper,
    two_of_them,
    roots,
    place_and_value,
    pair_or_none,
    uses_of_a_pair,
    pair_of_types,
    arrays_in_a_tuple,
    tuples_that_loops_carry,
    return_that_is_not_reached,
    none_early,
)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_type_and_value(function: Any, dtype: str) -> None:
    """One variant gives the object that NumPy gives, whichever branches the elements take."""
    scale = 10 if dtype.startswith(("int", "uint")) else 1
    calls = [((np.array(v) * scale).astype(dtype),) for v in VALUES]
    check(function, *calls)


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_jitted(function: Any) -> None:
    """Compiled kernels and launchers give the same."""
    check(function, *((np.array(v),) for v in VALUES), jit=True)


def test_printed(capsys: pytest.CaptureFixture[str]) -> None:
    """Text is made of the number of its type."""
    decorated = decorate(printed, jit=False)
    for values in VALUES:
        results = [function(np.array(values)) for function in (printed, decorated)]
        assert repr(results[0]) == repr(results[1])
        lines = capsys.readouterr().out.splitlines()
        assert len(lines) == 2
        assert lines[0] == lines[1]
    assert len(decorated.variants) == 1


# ----------------------------------------------------------------------------------------- errors
def adds_none(x: Any) -> Any:
    v = None
    for i in range(len(x)):
        if x[i] > 1:
            v = x[i]
    return v + 1.0


def adds_none_late(x: Any) -> Any:
    v = None
    for i in range(len(x)):
        if x[i] > 1:
            v = x[i]
        x[i] = 0.0
    return 1.0 + v


def unpacks_none(x: Any) -> Any:
    at = None
    for i in range(len(x)):
        if x[i] > 1:
            at = (i, x[i])
        x[i] = 0.0
    i, v = at
    return i, v


def stores_a_large_int(x: Any, n: Any) -> Any:
    out = np.zeros(len(x), np.int8)
    for i in range(len(x)):
        out[i] = n if x[i] > 1 else np.int8(3)
    return out


@pytest.mark.parametrize("function", [adds_none, adds_none_late, unpacks_none])
def test_none_in_arithmetic(function: Any) -> None:
    """A number that is None in the end raises what Python raises, with what was stored before."""
    for jit in (False, True):
        decorated = decorate(function, jit=jit)
        for values in ([2.0, 0.5], [0.5, 0.25]):
            args = (np.array(values),)
            compare_outcomes(run(function, args), run(decorated, args))


def test_an_int_that_does_not_fit() -> None:
    """The int is checked where it is the int that is stored, and only there."""
    check(stores_a_large_int, (np.zeros(3), 3), (np.zeros(3), 1000), variants=None)
    decorated = decorate(stores_a_large_int, jit=False)
    args = (np.full(3, 2.0), 1000)
    compare_outcomes(run(stores_a_large_int, args), run(decorated, args))


def exact_or_not(x: Any, k: Any) -> Any:
    return int(k[0]) if x[0] > 0 else 0.5


def test_ints_that_no_float_holds() -> None:
    """Beyond 53 bits Python runs the call, so that no digit is lost."""
    decorated = decorate(exact_or_not, jit=False)
    for number in (3, -(2**53), 2**53):
        assert decorated(np.ones(1), np.array([number])) == number
    with pytest.warns(FuseWarning, match="runs as plain NumPy"):
        assert decorated(np.ones(1), np.array([2**53 + 1])) == 2**53 + 1
    assert decorated(-np.ones(1), np.array([2**62 + 1])) == 0.5


def counted(x: Any) -> Any:
    n = 0
    for i in range(len(x)):
        if x[i] > 0:
            n += 1
    return n if n > 2 else 0.5


def test_counters_need_no_check() -> None:
    """A counter is exact as a float: its range says so."""
    graph = decorate(counted, jit=False).trace(np.ones(5)).graph
    assert not any(isinstance(op, Assert) for op in walk(graph.block))


def same_type_after_a_test(x: Any) -> Any:
    best = None
    for i in range(len(x)):
        if x[i] > 0 and (best is None or x[i] < best):
            best = x[i]
    return best


def test_no_check_behind_a_test_for_none() -> None:
    """``best is None or x[i] < best``: after the ``or`` it is a number."""
    text = str(decorate(same_type_after_a_test, jit=False).trace(np.ones(5)))
    assert "TypeError" not in text
    check(same_type_after_a_test, (np.ones(5),), (-np.ones(5),), (np.arange(5.0) - 2,))


# ----------------------------------------------------------------------------------------- random
STARTS = {
    "none": lambda: None,
    "int": lambda: 1,
    "zero": lambda: 0,
    "float": lambda: 0.5,
    "true": lambda: True,
    "f4": lambda: np.float32(1.5),
    "i8": lambda: np.int64(2),
    "i2": lambda: np.int16(-1),
}
STEPS = {
    "element": lambda v, e, i: e,
    "place": lambda v, e, i: i,
    "a float": lambda v, e, i: 0.25,
    "an int": lambda v, e, i: 7,
    "none": lambda v, e, i: None,
    "a bool": lambda v, e, i: e > 2,
    "sum": lambda v, e, i: e if v is None else v + e,
    "with an int": lambda v, e, i: 1 if v is None else v + 1,
    "with a float": lambda v, e, i: 1 if v is None else v * 0.5,
    "larger": lambda v, e, i: e if v is None else max(v, e),
    "smaller": lambda v, e, i: 3 if v is None else min(e, v, 3),
    "np.int32": lambda v, e, i: np.int32(4),
}
ENDS = {
    "itself": lambda v, x: v,
    "sum": lambda v, x: v if v is None else v + x[0],
    "absolute": lambda v, x: v if v is None else abs(v),
    "of a type": lambda v, x: (isinstance(v, int), isinstance(v, np.generic)),
    "float": lambda v, x: v is not None and float(v),
    "larger": lambda v, x: v is None or max(v, 2),
    "compared": lambda v, x: (v == 1, v is None, 0.5 if v else v),
}


@st.composite
def cases(draw: st.DrawFn) -> tuple[Any, ...]:
    """A start, two steps under conditions, what is done at the end, and arrays."""
    parts = [draw(st.sampled_from(sorted(t))) for t in (STARTS, STEPS, STEPS, ENDS)]
    dtype = draw(st.sampled_from(DTYPES))
    numbers = st.lists(st.integers(0, 5), min_size=5, max_size=8)
    arrays = [np.array(draw(numbers), dtype) for _ in range(3)]
    return (*parts, arrays)


def program_of(start_name: str, first_name: str, second_name: str, end_name: str) -> Any:
    """A loop that leaves a number of several types."""
    start, end = STARTS[start_name], ENDS[end_name]
    first, second = STEPS[first_name], STEPS[second_name]

    def program(x: Any) -> Any:
        v = start()
        for i in range(len(x)):
            if x[i] > 3:
                v = first(v, x[i], i)
            elif x[i] < 2:
                v = second(v, x[i], i)
        return end(v, x)

    return program


@settings(max_examples=80, deadline=None)
@given(cases())
def test_random_types(case: tuple[Any, ...]) -> None:
    """Whatever types a loop may leave, and whatever is done with them."""
    *parts, arrays = case
    program = program_of(*parts)
    check(program, *((x,) for x in arrays), variants=None)


@pytest.mark.deep
@settings(max_examples=60, deadline=None)
@given(cases())
def test_random_types_jitted(case: tuple[Any, ...]) -> None:
    """The same, compiled."""
    *parts, arrays = case
    check(program_of(*parts), *((x,) for x in arrays), variants=None, jit=True)
