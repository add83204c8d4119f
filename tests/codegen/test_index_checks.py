"""Checks of indices: proved, asked before a loop, or kept; NumPy's errors all the same."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit.codegen.analysis.integer_facts import (
    And,
    Equal,
    Facts,
    Inside,
    Known,
    NonNegative,
    Not,
)
from fusejit.ir.loops.polynomial import Polynomial
from fusejit_testing.oracle import decorate

pytestmark = pytest.mark.filterwarnings("ignore::fusejit.api.FuseWarning")

CHECK = "u64)\n"  # how a check reads a size


def source(function: Callable[..., Any], *args: Any) -> str:
    return fuse_jit(function).trace(*args).fuse().lower().source


def num_checks(text: str) -> int:
    return text.count(CHECK) // 2


# --------------------------------------------------------------------------------------- programs
def insertion(x: Any) -> Any:
    for i in range(1, len(x)):
        key = x[i]
        j = i - 1
        while j >= 0 and x[j] > key:
            x[j + 1] = x[j]
            j -= 1
        x[j + 1] = key
    return x


def insertion_from_two_before(x: Any) -> Any:
    for i in range(1, len(x)):
        key = x[i]
        j = i - 1
        while j >= -1 and x[j] > key:  # x[-1] is the last element
            x[j + 1] = x[j]
            j -= 1
        x[j + 1] = key
    return x


def windows(x: Any, starts: Any) -> Any:
    sums = np.zeros(len(starts))
    for i in range(len(starts) - 1):
        total = 0.0
        for j in range(starts[i], starts[i + 1]):
            total += x[j]
        sums[i] = total
    return sums


def windows_in_place(x: Any, starts: Any) -> Any:
    for i in range(len(starts) - 1):
        for j in range(starts[i], starts[i + 1]):
            x[j] = 2 * x[j] + 1
    return x


def ways(w: Any, coins: Any) -> Any:
    for coin in coins:
        for a in range(coin, len(w)):
            w[a] += w[a - coin]
    return w


def ways_too_far(w: Any, coins: Any) -> Any:
    for coin in coins:
        for a in range(coin, len(w) + 1):
            w[a] += w[a - coin]
    return w


def guarded(x: Any, shifts: Any) -> Any:
    for i in range(len(x)):
        for c in shifts:
            if i >= c:
                x[i] = max(x[i], x[i - c] + 1)
    return x


def guarded_wrongly(x: Any, shifts: Any) -> Any:
    for i in range(len(x)):
        for c in shifts:
            if i + 1 >= c:
                x[i] = max(x[i], x[i - c] + 1)
    return x


def packed(x: Any, y: Any) -> Any:
    j = 0
    for i in range(len(x)):
        if x[i] > 0:
            y[j] = x[i]
            j += 1
    y[j - 1] = -1
    return j


def packed_behind(x: Any, y: Any) -> Any:
    j = 0
    for i in range(len(x)):
        if x[i] > 0:
            j += 1
        y[j] = x[i]
    return j


def merged(x: Any, y: Any) -> Any:
    out = np.zeros(len(x) + len(y), dtype=x.dtype)
    i, j, k = 0, 0, 0
    while i < len(x) and j < len(y):
        if x[i] <= y[j]:
            out[k] = x[i]
            i += 1
        else:
            out[k] = y[j]
            j += 1
        k += 1
    while i < len(x):
        out[k] = x[i]
        i += 1
        k += 1
    while j < len(y):
        out[k] = y[j]
        j += 1
        k += 1
    return out


def bisected(x: Any, y: Any) -> Any:
    found = np.zeros(len(y), dtype=np.int64)
    for i in range(len(y)):
        low, high = 0, len(x)
        while low < high:
            middle = (low + high) // 2
            if x[middle] < y[i]:
                low = middle + 1
            else:
                high = middle
        found[i] = low
    return found


def stepped(x: Any, shifts: Any) -> Any:
    for s in shifts:
        j = len(x) - 1
        while j >= 0:
            x[j] += 1
            j -= s + 1
    return x


def stepped_from_the_end(x: Any, shifts: Any) -> Any:
    for s in shifts:
        j = len(x)
        while j >= 0:
            j -= s + 1
            x[j] += 1
    return x


def backwards(x: Any, shifts: Any) -> Any:
    for s in shifts:
        for i in range(len(x) - 1, -1, -1):
            x[i - s] += x[i]
    return x


def around(x: Any, shifts: Any) -> Any:
    for s in shifts:
        for i in range(len(x)):
            x[(i * 3 + s) % len(x)] += i
    return x


def histogram(x: Any, values: Any) -> Any:
    for v in values:
        x[v] += 1
    return x


def every_other(x: Any, starts: Any) -> Any:
    for s in starts:
        for i in range(s, len(x), 2):
            x[i] += x[i - s]
    return x


def moving_end(x: Any, starts: Any) -> Any:
    end = len(x)
    for s in starts:
        for i in range(s, end):
            x[i] += 1
        end += s
    return end


SHORT = [np.array(v, dtype=np.int64) for v in ([], [3], [2, 1], [5, -1, 2, 2])]
NUMBERS = [
    np.array(v, dtype=np.int64)
    for v in (
        *([], [0, 1], [1, 3], [0, 4], [-1, 2], [-4], [-5, 1]),
        *([4], [5], [3, 5], [2, 1, 4], [-5], [0, 0, 4]),
    )
]
FAR = [
    np.array(v, dtype=np.int64)
    for v in ([0, 2**62], [-(2**62), 1], [2**63 - 1, 3], [0, -(2**63)], [-(2**47), 0])
]

ALONE = [insertion, insertion_from_two_before]
OF_TWO = [packed, packed_behind, merged, bisected]
WITH_NUMBERS = [windows, windows_in_place, ways, ways_too_far, guarded, guarded_wrongly, stepped]
WITH_NUMBERS += [stepped_from_the_end, backwards, around, histogram, every_other, moving_end]


def calls_of(function: Callable[..., Any]) -> Iterator[tuple[Any, ...]]:
    if function in ALONE:
        yield from ((x,) for x in SHORT)
    elif function in OF_TWO:
        yield from itertools.product(map(np.sort, SHORT), map(np.sort, SHORT))
    else:
        yield from itertools.product(SHORT, NUMBERS)
        if function in (windows, windows_in_place, histogram):
            yield from itertools.product(SHORT[1:], FAR)


def ends(call: tuple[Any, ...]) -> bool:
    """Whether loops that step by an element end."""
    return len(call) < 2 or not len(call[1]) or bool(call[1].min() >= 0)


def outcome(function: Callable[..., Any], call: tuple[Any, ...]) -> tuple[Any, ...]:
    call = tuple(a.copy() for a in call)
    try:
        result = function(*call)
    except (IndexError, ZeroDivisionError) as error:
        return type(error).__name__, *(a.tolist() for a in call)
    return np.asarray(result).tolist(), *(a.tolist() for a in call)


@pytest.mark.parametrize("function", [*ALONE, *OF_TWO, *WITH_NUMBERS])
def test_results_errors_and_what_is_stored_are_numpys(function: Callable[..., Any]) -> None:
    f = decorate(function, jit=False)
    calls = [c for c in calls_of(function) if not function.__name__.startswith("step") or ends(c)]
    num_served = 0
    for call in calls:
        expected = outcome(function, call)
        assert outcome(f, call) == expected, call
        num_served += len(f.variants)
        if expected[0] == "IndexError":
            f = decorate(function, jit=False)  # which does not expect another error
    assert num_served


@pytest.mark.parametrize(
    "function", [insertion, windows_in_place, ways_too_far, guarded_wrongly, packed_behind, merged]
)
def test_machine_code_does_the_same(function: Callable[..., Any]) -> None:
    f = decorate(function, jit=True)
    for call in calls_of(function):
        assert outcome(f, call) == outcome(function, call), call
        f.variants.fallbacks.clear()


# --------------------------------------------------------------------------------------- structure
@pytest.mark.parametrize(
    ("function", "num"),
    [
        (insertion, 0),
        (insertion_from_two_before, 4),  # x[-1] in the condition, which is there twice
        (merged, 4),  # how far ``out`` is filled is not known
        (bisected, 0),
        (around, 0),
        (packed, 2),
    ],
)
def test_what_is_proved_is_not_checked(function: Callable[..., Any], num: int) -> None:
    args = (SHORT[3],) if function in ALONE else (SHORT[3], SHORT[3].copy())
    assert num_checks(source(function, *args)) == num


def test_both_ends_are_asked_in_front_of_a_loop() -> None:
    text = source(windows, np.zeros(4), NUMBERS[2])
    fast, slow = text.split(" >= y3v0:")[1].split("else:")
    assert num_checks(fast) == 0
    assert "select" not in fast
    assert num_checks(slow) == 1


def test_a_short_condition_is_asked_at_the_end_of_the_body() -> None:
    text = source(insertion, SHORT[3])
    assert "while True" not in text
    assert text.count("n19 = y20t1") == 2  # before the loop, and after its body
    loop = re.search(r"while n\d+:", text)
    assert loop is not None
    assert text.index("n19 = y20t1") < loop.start() < text.rindex("n19 = y20t1")


def test_an_element_as_index_is_compared_once() -> None:
    text = source(histogram, SHORT[3], NUMBERS[1])
    assert num_checks(text) == 1
    assert text.count("< u") + text.count(">=") <= 3


# ------------------------------------------------------------------------------------------- facts
AT, SIZE = (Polynomial.name(name) for name in "in")


def small() -> Facts:
    facts = Facts()
    for name in ("i", "n"):
        facts.add(Polynomial.name(name) + 2**47)
        facts.add(2**47 - Polynomial.name(name))
    return facts


def test_facts_are_forgotten_behind_a_branch() -> None:
    facts = small()
    mark = facts.mark()
    facts.assume(Inside(AT, SIZE))  # nothing: ``n`` may be negative
    assert not facts.proves(AT)
    facts.add(SIZE)
    facts.assume(Inside(AT, SIZE))
    assert facts.proves(AT)
    assert facts.proves(SIZE - 1 - AT)
    assert not facts.proves(SIZE - 2 - AT)
    facts.forget(mark)
    assert not facts.proves(AT)


def test_a_sum_that_may_leave_64_bits_says_nothing() -> None:
    facts = Facts()
    facts.assume(NonNegative(AT + 1, Polynomial.const(0)))  # i + 1 may have wrapped around
    assert not facts.proves(AT + 1)
    facts = small()
    facts.assume(NonNegative(AT + 1, Polynomial.const(0)))
    assert facts.proves(AT + 1)
    assert not facts.proves(AT)


def test_conditions() -> None:
    facts = small()
    zero = Polynomial.const(0)
    both = And(NonNegative(AT, zero), Not(NonNegative(AT, SIZE)))
    facts.assume(both, False)
    assert not facts.proves(AT)  # not both: which one is not known
    facts.assume(both)
    assert facts.proves(SIZE - 1 - AT)
    assert facts.decides(both)
    assert facts.decides(Not(both), False)
    assert facts.decides(Known(False), False)
    facts.assume(Equal(AT, zero), False)
    assert facts.proves(AT - 1)


# --------------------------------------------------------------------------------------- divisions
def common_divisors(x: Any) -> Any:
    out = np.zeros((len(x), len(x)), dtype=np.int64)
    for i in range(len(x)):
        for j in range(len(x)):
            a, b = i, j
            while b:
                a, b = b, a % b
            out[i, j] = a
    return out


def common_divisors_of_elements(x: Any) -> Any:
    out = np.zeros((len(x), len(x)), dtype=np.int64)
    for i in range(len(x)):
        for j in range(len(x)):
            a, b = x[i], x[j]
            while b:
                a, b = b, a % b
            out[i, j] = a
    return out


def checksum(x: Any) -> Any:
    low, high = 1, 0
    for byte in x:
        low = (low + int(byte)) % 65521
        high = (high + low) % 65521
    return high * 65536 + low


def falling_checksum(x: Any) -> Any:
    low = 1
    for byte in x:
        low = (low - int(byte)) % 65521 - 7
    return low // 9


@pytest.mark.parametrize(
    ("function", "is_unsigned"),
    [
        (common_divisors, True),
        (common_divisors_of_elements, False),
        (checksum, True),
        (falling_checksum, False),
    ],
)
def test_divisions_of_what_is_not_negative(function: Callable[..., Any], is_unsigned: bool) -> None:
    x = np.array([200, 3, 255, 9, 0, 77], dtype=np.uint8)
    if "sum" not in function.__name__:
        x = x.view(np.int8)
    assert ("mod(cast(" in source(function, x)) == is_unsigned
    f = decorate(function, jit=True)
    for call in (x, x[:1].copy(), x[::-1].copy()):
        assert outcome(f, (call,)) == outcome(function, (call,))


def test_iterations_on_threads_know_their_bounds() -> None:
    text = source(windows, np.zeros(4), NUMBERS[2])
    chunk = text.split("# iterations of")[1].split("\ndef ")[0]
    assert "for at0 in range(poll0_at, poll0_last)" in chunk
    assert "select" not in chunk.split("else:")[0]  # at0 itself is inside: no wrap, no check
