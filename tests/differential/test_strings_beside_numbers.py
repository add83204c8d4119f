"""What is a string or a number, depending on elements: tokens, and lists of both."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fusejit_testing.compare import assert_same
from fusejit_testing.oracle import compare_outcomes, decorate, run

Program = Callable[..., Any]
TEXT = "12+ab*3 (7-x) "


def tokens(text: str) -> Any:
    found: list[Any] = []
    i = 0
    while i < len(text):
        c = text[i]
        j = i + 1
        if c.isdigit():
            while j < len(text) and text[j].isdigit():
                j += 1
            found.append(("number", int(text[i:j])))
        elif c.isalpha():
            while j < len(text) and text[j].isalpha():
                j += 1
            found.append(("name", text[i:j]))
        elif c != " ":
            found.append(("sign", c))
        i = j
    return found


def summed(text: str) -> Any:
    items = [int(c) if c.isdigit() else c for c in text]
    total, signs, names = 0, 0, ""
    for item in items:
        if item == "+" or item == "-":
            signs += 1
        elif isinstance(item, str):
            names += item
        else:
            total += item * 2
    return total, signs, names, items.count("1"), items.count(1), 98 in items, items[:3]


def of_kinds(text: str) -> Any:
    pairs = [("n", int(c)) if c.isdigit() else ("o", c) for c in text]
    total = 0
    for kind, value in pairs:
        if kind == "n":
            total += value
        elif value == "*":
            total *= 2
        if value:
            total += 1
    return total


def carried(text: str) -> Any:
    last: Any = "none"
    seen: list[Any] = []
    for i, c in enumerate(text):
        if c == "a":
            last = "letter"
        elif c == "1":
            last = i
        elif c == "2":
            last = i * 0.5
        elif c == " ":
            last = None
        seen.append(last)
    return last, seen


def converted(text: str) -> Any:
    items = [i if i % 3 else str(i) for i in range(len(text))]
    return sum(int(item) for item in items)


PROGRAMS = (tokens, summed, of_kinds, carried, converted)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_as_python(program: Program) -> None:
    fused = decorate(program, jit=False, fullgraph=True)
    for text in (TEXT * 4, TEXT * 7, TEXT[3:] * 5, TEXT):
        assert_same(program(text), fused(text))
    assert len(fused.variants) == 1


@pytest.mark.parametrize("program", [tokens, carried], ids=lambda p: p.__name__)
def test_jitted(program: Program) -> None:
    fused = decorate(program, jit=True, fullgraph=True)
    for text in (TEXT * 4, TEXT * 9):
        assert_same(program(text), fused(text))


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")  # of integers beyond 64 bits
@settings(deadline=None)
@given(st.text("12+ab* (-", min_size=40, max_size=60))
def test_any_text(text: str) -> None:
    for program in PROGRAMS:
        assert_same(program(text), FUSED[program](text))


FUSED = {program: decorate(program, jit=False) for program in PROGRAMS}


def adds(text: str) -> Any:
    items = [c if c == "a" else ord(c) for c in text]
    total: Any = 0
    for item in items:
        total += item
    return total


def orders(text: str) -> Any:
    return max([c if c == "a" else ord(c) for c in text])


def stores(text: str, array: Any) -> Any:
    items = [c if c == "a" else ord(c) for c in text]
    for i in range(len(items)):
        array[i] = items[i]
    return array


def indexes(text: str) -> Any:
    items = [c if c == "a" else ord(c) % 2 for c in text]
    total = 0
    for item in items:
        total += (3, 4)[item]
    return total


def keys(text: str) -> Any:
    counts: dict[Any, int] = {}
    for c in text:
        key = int(c) if c.isdigit() else c
        counts[key] = counts.get(key, 0) + 1
    return counts


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
@pytest.mark.parametrize("program", [adds, orders, indexes, keys], ids=lambda p: p.__name__)
def test_what_python_does(program: Program) -> None:
    """It raises where a string is no number; keys of both kinds are its own."""
    fused = decorate(program, jit=False)
    for text in ("12+b*" * 9, "12+ab*" * 9, "bb12" * 12, "a" * 50):
        compare_outcomes(run(program, (text,)), run(fused, (text,)))


def added_to_what_may_be_none(text: str) -> Any:
    """Regression: ``"b" + last`` was the sum of the numbers that kernels give to strings."""
    last, found = None, []
    for c in text:
        if last is not None:
            found.append("b" + last)
            found.append(last + "c")
            found.append("bc" + last + c)
        last = c if c.isdigit() else None
    return found


def test_strings_or_none_are_added() -> None:
    fused = decorate(added_to_what_may_be_none, jit=False, fullgraph=True)
    for text in (TEXT * 4, TEXT * 9):
        assert_same(added_to_what_may_be_none(text), fused(text))


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
def test_stores() -> None:
    fused = decorate(stores, jit=False)
    for text in ("12+b*" * 9, "12+ab*" * 9):
        compare_outcomes(run(stores, (text, np.zeros(60))), run(fused, (text, np.zeros(60))))
