"""Strings that a loop binds, keeps in lists and dictionaries, or makes of code points."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit_testing.oracle import check

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
