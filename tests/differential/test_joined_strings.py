"""Strings that loops make: ``out += c``, ``"".join(..)``, parts of string arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit_testing.oracle import check, compare_outcomes, decorate, run

RNG = np.random.default_rng(5)


def word(alphabet: str, size: int) -> str:
    return "".join(RNG.choice([*alphabet], size))


CALLS = [(word("IVXLCDM", n),) for n in (7, 25, 9)]
OTHERS = ["", "I", "\u00e9tude", "\U0001f600 and \ud800", "x\0y", "a b (IV)"]


def joined(a: Any) -> Any:
    out = []
    for c in a:
        out.append(c)
    return "".join(out)


def join_sep(a: Any) -> Any:
    out = []
    for c in a:
        if c != "I":
            out.append(c)
    return ", ".join(out)


def join_gen(a: Any) -> Any:
    return "".join(c for c in a if c != "I")


def join_list(a: Any) -> Any:
    return "".join([chr(ord(c) + 1) for c in a])


def filtered(a: Any) -> Any:
    s = ""
    for c in a:
        if c != "I":
            s += c
    return s


def counted(a: Any) -> Any:
    s = "<"
    for i in range(len(a)):
        s += chr(97 + i % 26)
        s += "xy"
    s += ">"
    return s, len(s)


def caesar(a: Any, k: Any = 3) -> Any:
    out = ""
    for c in a:
        if c.isupper():
            out += chr((ord(c) - 65 + k) % 26 + 65)
        else:
            out += c
    return out


def reversed_by_step(a: Any) -> Any:
    return a[::-1]


def reversed_by_a_loop(a: Any) -> Any:
    s = ""
    for i in range(len(a) - 1, -1, -1):
        s += a[i]
    return s == a[::-1], s


def dedupe(a: Any) -> Any:
    s = ""
    for c in a:
        if c not in s:
            s += c
    return s


def last_run(a: Any) -> Any:
    cur = ""
    best = 0
    for c in a:
        if c == "I":
            cur = ""
        else:
            cur += c
        best = max(best, len(cur))
    return best, cur


def alias(a: Any) -> Any:
    s = ""
    t = ""
    for c in a:
        t = s
        s += c
    return s, t


def binary(a: Any) -> Any:
    n = len(a) * 37
    s = ""
    while n > 0:
        s += "1" if n % 2 else "0"
        n //= 2
    return s[::-1]


def halves(a: Any) -> Any:
    u = ""
    v = ""
    for i, c in enumerate(a):
        if i % 2:
            u += c
        else:
            v += c
    return u + v


def places(a: Any) -> Any:
    al = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    out = []
    for c in a:
        out.append(al.find(c))
    return out


def vigenere(a: Any, key: Any = "LEMON") -> Any:
    out = ""
    for i in range(len(a)):
        k = ord(key[i % len(key)]) - 65
        out += chr((ord(a[i]) - 65 + k) % 26 + 65)
    return out


def slices(a: Any) -> Any:
    s = ""
    for c in a:
        s += c
    return s[:3], s[-2:], s[1], len(s[2:])


def bound_under_a_condition(a: Any) -> Any:
    s = ""
    for c in a:
        if c == "V":
            s = "x" + c if 0 else "x"
        s += c
    return s


def added_to_a_copy(a: Any) -> Any:
    s = ""
    for c in a:
        s = s + c
    return s


def prepend(a: Any) -> Any:
    s = ""
    for c in a:
        s = c + s
    return s


def run_lengths(a: Any) -> Any:
    out = ""
    i = 0
    while i < len(a):
        j = i
        while j < len(a) and a[j] == a[i]:
            j += 1
        out += a[i] + str(j - i)
        i = j
    return out


def lines(a: Any) -> Any:
    s = ""
    for i in range(len(a)):
        s += f"{i}:{a[i]};"
    return s


def words(a: Any) -> Any:
    out = []
    cur = ""
    for c in a:
        if c == "I":
            if cur:
                out.append(cur)
            cur = ""
        else:
            cur += c
    if cur:
        out.append(cur)
    return out


def swap(a: Any) -> Any:
    s = "a"
    t = "b"
    for c in a:
        s, t = t, s
        s += c
    return s, t


@pytest.mark.parametrize(
    "function",
    [
        joined,
        join_sep,
        join_gen,
        join_list,
        filtered,
        counted,
        caesar,
        reversed_by_step,
        reversed_by_a_loop,
        dedupe,
        last_run,
        alias,
        binary,
        halves,
        places,
        vigenere,
        slices,
        bound_under_a_condition,
    ],
)
def test_as_python(function: Callable[..., Any]) -> None:
    check(function, *CALLS, variants=None)


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
@pytest.mark.parametrize(
    "function",
    [
        joined,
        join_sep,
        join_gen,
        join_list,
        filtered,
        counted,
        caesar,
        reversed_by_step,
        reversed_by_a_loop,
        dedupe,
        last_run,
        alias,
        binary,
        halves,
        places,
        vigenere,
        slices,
        bound_under_a_condition,
        added_to_a_copy,
        prepend,
        run_lengths,
        lines,
        words,
        swap,
    ],
)
def test_other_strings(function: Callable[..., Any]) -> None:
    """Also of what is left to Python: parts of several characters, numbers as text."""
    fused = decorate(function, jit=False)
    for text in [*OTHERS, *(args[0] for args in CALLS)]:
        compare_outcomes(run(function, (text,)), run(fused, (text,)))


@pytest.mark.parametrize("function", [filtered, last_run, binary, dedupe])
def test_jitted(function: Callable[..., Any]) -> None:
    fused = decorate(function, jit=True, fullgraph=True)
    for n in (7, 40, 1500, 9):
        args = (word("IVXLCDM", n),)
        compare_outcomes(run(function, args), run(fused, args))


def test_a_copy_under_another_name_stays_as_it_was() -> None:
    fused = check(alias, *CALLS)
    assert fused("abc") == ("abc", "ab")


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
@pytest.mark.parametrize("k", [2, 2.0, True, np.int64(2), np.float64(2)])
def test_points_are_integers(k: Any) -> None:
    """``chr`` of a float made a character."""
    fused = decorate(caesar, jit=False)
    for _ in range(2):
        compare_outcomes(run(caesar, ("HELLO", k)), run(fused, ("HELLO", k)))
