"""The `else` of a loop in a `try` ran during tracing: it was left as written."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fusejit_testing.oracle import check, decorate

KEPT: list[Any] = []


def counted(c: Any) -> None:
    try:
        for _ in range(3):
            pass
        else:
            KEPT.append((1, np.sum(c)))
    finally:
        KEPT.append(2)


def over_a_list(c: Any) -> None:
    try:
        for _ in [1, 2]:
            c = c + 1
        else:
            KEPT.append(np.sum(c))
    except ValueError:
        pass


def while_false(c: Any) -> None:
    try:
        while False:
            pass
        else:
            KEPT.append(np.max(c))
    finally:
        KEPT.append(3)


def until(c: Any) -> Any:
    k = 0
    try:
        while k < len(c):
            k += 2
        else:
            c[0] = k
            k = k * 10
    finally:
        c[1] = -1.0
    return c, k


@pytest.mark.parametrize("program", [counted, over_a_list, while_false], ids=lambda p: p.__name__)
def test_effects_happen_once(program: Any) -> None:
    fused = decorate(program, jit=False)
    x = np.arange(3.0)
    for _ in range(2):
        KEPT.clear()
        program(x)
        expected = list(KEPT)
        KEPT.clear()
        fused(x)
        assert list(KEPT) == expected
        assert [type(item) for item in KEPT] == [type(item) for item in expected]


def test_names_and_stores_of_the_else() -> None:
    check(until, (np.arange(5.0),))
