"""Strings that a loop binds, keeps in lists and dictionaries, or makes of code points."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit_testing.oracle import check, decorate

RNG = np.random.default_rng(3)
CALLS = [(RNG.normal(size=n),) for n in (5, 20, 0)]


def positions(x: Any) -> Any:
    state = "flat"
    n = 0
    for i in range(len(x)):
        if x[i] > 0.5 and state == "flat":
            state = "long"
            n += 1
        elif x[i] < -0.5 and state == "long":
            state = "flat"
    return n, state


def trades(x: Any) -> Any:
    out = []
    side = "none"
    for i in range(len(x)):
        if x[i] > 0.5:
            side = "buy"
        elif x[i] < -0.5:
            side = "sell"
        else:
            side = "hold"
        out.append((i, side, x[i]))
    return out


def count_sides(x: Any) -> Any:
    d = {}
    for i in range(len(x)):
        k = "up" if x[i] > 0 else "down"
        d[k] = d.get(k, 0) + 1
    return d


def any_level(x: Any) -> Any:
    name = None
    for i in range(len(x)):
        if x[i] > 1:
            name = "high"
    return name


def last_level(x: Any) -> Any:
    name = None
    for i in range(len(x)):
        if x[i] > 1:
            name = "high"
        elif x[i] < -1:
            name = "low"
    if name is not None and name == "low":
        return 1, name
    return 0, name


def member(x: Any) -> Any:
    out = []
    for i in range(len(x)):
        c = "a" if x[i] > 0 else "b"
        out.append(c in ("a", "q"))
        out.append(c in "abc")
    return out


def characters(x: Any) -> Any:
    out = []
    for i in range(len(x)):
        c = chr(97 + i % 26)
        if c.isalpha() and c in "aeiou":
            out.append(c.upper())
        else:
            out.append(c)
    return out, ord(out[-1]) if len(out) else 0


def traffic_light(x: Any) -> Any:
    s = "red"
    log = []
    for _i in range(len(x)):
        s = "green" if s == "red" else "yellow" if s == "green" else "red"
        log.append(s)
    return log


def last_phase(x: Any) -> Any:
    a = "start"
    for i in range(len(x)):
        if x[i] > 0:
            a = "go"
        else:
            a = "stop"
    return a


def sorted_chars(x: Any) -> Any:
    out = []
    for i in range(len(x)):
        out.append(chr(97 + (i * 7) % 26))
    out.sort()
    return out


def places(x: Any) -> Any:
    out = []
    for i in range(len(x)):
        out.append("ab" if x[i] > 0 else "cd")
    return out.index("cd"), out.count("ab"), "zz" in out


@pytest.mark.parametrize(
    "function",
    [
        positions,
        trades,
        count_sides,
        any_level,
        last_level,
        member,
        characters,
        traffic_light,
        last_phase,
        sorted_chars,
        places,
    ],
)
def test_as_python(function: Callable[..., Any]) -> None:
    check(function, *CALLS, variants=None)


@pytest.mark.parametrize("function", [trades, traffic_light])
def test_jitted(function: Callable[..., Any]) -> None:
    check(function, *CALLS, jit=True, variants=None)


def letter_counts(letters):
    counts = [0] * 26
    for letter in letters:
        counts[ord(letter) - 65] += 1
    return counts


def codes_of_parts(words):
    total = 0
    for word in words:
        total += ord(word[1:2]) * 2
    return total


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
@pytest.mark.parametrize("function", [letter_counts, codes_of_parts])
def test_ord_of_strings_in_lists(function):
    """It was an internal error; of a string that is no character Python raises TypeError."""
    words = ["ABC", "DEF", "XYZ", "QRS"] * 20
    items = list("".join(words)) if function is letter_counts else words
    compiled = decorate(function, jit=False, tiering=False)
    assert compiled(items) == function(items)
    assert len(compiled.variants) == 1
    for wrong in ("", "AB"):
        with pytest.raises(TypeError) as expected:
            function([*items, wrong] if function is letter_counts else [*items, wrong[:1]])
        with pytest.raises(TypeError) as found:
            compiled([*items, wrong] if function is letter_counts else [*items, wrong[:1]])
        assert str(found.value) == str(expected.value)
