"""Names that only some ways through a function bind, and that are bound wherever they are read."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np
import pytest

from fusejit.tracer.source.definite_assignment import definitely_assigned_names
from fusejit_testing.oracle import check


def found(x: Any, v: Any) -> Any:
    for i in range(len(x)):
        if x[i] > v:
            at = i
            break
    else:
        at = -1
    return at


def found_with_value(x: Any, v: Any) -> Any:
    for i in range(len(x)):
        if x[i] > v:
            at, value = i, x[i] * 2
            break
    else:
        at, value = -1, np.float64(0.0)
    return at, value


def found_while(x: Any, v: Any) -> Any:
    i = 0
    while i < len(x):
        if x[i] > v:
            at = i
            break
        i += 1
    else:
        at = len(x)
    return at * 2


def first_of_each_row(m: Any, v: Any) -> Any:
    out = np.zeros(len(m))
    for i in range(len(m)):
        for j in range(m.shape[1]):
            if m[i, j] > v:
                value = m[i, j] - j
                break
        else:
            value = np.float64(-1.0)
        out[i] = value
    return out


def within_an_iteration(x: Any, v: Any) -> Any:
    s = np.float64(0.0)
    for i in range(len(x)):
        if x[i] > v:
            t = x[i] * 2
            s = s + t
    return s


def two_ends(x: Any, v: Any) -> Any:
    for i in range(len(x)):
        if x[i] > v:
            kind = 1
            break
        if x[i] < -v:
            kind = 2
            break
    else:
        kind = 0
    return kind


def walrus(x: Any, v: Any) -> Any:
    i, s = 0, np.float64(0.0)
    while (y := x[i]) < v:
        s = s + y
        i += 1
    return s, y, i


def walrus_behind_and(x: Any, v: Any) -> Any:
    i, n = 0, 0
    while i < len(x) and (y := x[i]) < v:
        i += 1
        if y < 0:
            continue
        n += 1
        if n > 2:
            break
    else:
        n = n + 100
    return i, n


def two_walruses(x: Any, v: Any) -> Any:
    i = 0
    while (y := x[i] * 2) < v and (z := y + i) < 6:
        i += 1
        if z > 5:
            break
    return i, y


def walrus_of_sizes(x: Any, v: Any) -> Any:
    k = 0
    while (rest := len(x) - k) > 3:
        k += 1
    return x[:rest] * k


X = np.array([0.5, -1.0, 2.5, 4.0, -3.0])
M = np.arange(12.0).reshape(3, 4) % 5
CALLS: dict[Any, list[tuple[Any, ...]]] = {
    found: [(X, 2.0), (X, 9.0), (X, 0.0)],
    found_with_value: [(X, 2.0), (X, 9.0)],
    found_while: [(X, 2.0), (X, 9.0)],
    first_of_each_row: [(M, 2.5), (M, 3.5), (M, 7.0)],
    within_an_iteration: [(X, 1.0), (X, 9.0)],
    walrus: [(X, 2.0), (X, 3.0)],
    walrus_behind_and: [(X, 2.0), (X, 9.0), (X, 3.0)],
    two_walruses: [(X, 3.0), (X, 9.0), (X, 100.0)],
    walrus_of_sizes: [(X, 1.0)],
    two_ends: [(X, 2.0), (X, 2.9), (X, 9.0), (X, 0.9)],
}


@pytest.mark.parametrize("jit", [False, True], ids=["unjitted", "jitted"])
@pytest.mark.parametrize("program", CALLS, ids=lambda p: p.__name__)
def test_searches(program: Any, jit: bool) -> None:
    check(program, *CALLS[program], jit=jit)


def none_is_a_value(x: Any, v: Any) -> Any:
    best = None
    for i in range(len(x)):
        if x[i] > v:
            best = x[i]
    return best


def test_what_holds_none_is_not_unbound() -> None:
    check(none_is_a_value, (X, 2.0), (X, 100.0))


SURE = {
    "both branches": ("if c:\n r = 1\nelse:\n r = 2\nreturn r", True),
    "one branch": ("if c:\n r = 1\nreturn r", False),
    "one branch, read there": ("if c:\n r = 1\n use(r)\nreturn c", True),
    "a branch that returns": ("if c:\n return 0\nelse:\n r = 1\nreturn r", True),
    "a branch that raises": ("if c:\n r = 1\nelse:\n raise c\nreturn r", True),
    "for else": ("for i in c:\n if i:\n  r = i\n  break\nelse:\n r = 0\nreturn r", True),
    "for without else": ("for i in c:\n if i:\n  r = i\n  break\nreturn r", False),
    "bound earlier": (
        "for i in c:\n if i > 1:\n  r = i\n if i > 2:\n  break\nelse:\n r = 0\nreturn r",
        False,
    ),
    "behind continue": ("for i in c:\n if i:\n  continue\n r = i\n use(r)\nreturn 1", True),
    "an iteration before": ("for i in c:\n if i:\n  use(r)\n r = i\nreturn 1", False),
    "while true": ("while True:\n if c():\n  r = 1\n  break\nreturn r", True),
    "while": ("while c():\n r = 1\nreturn r", False),
    "while else": ("while c():\n r = 1\n break\nelse:\n r = 2\nreturn r", True),
    "augmented": ("r += 1\nreturn r", False),
    "with": ("with c as r:\n pass\nreturn r", True),
    "try": ("try:\n r = c()\nexcept ValueError:\n r = 1\nreturn r", False),
    "deleted": ("r = 1\ndel r\nreturn c", False),
    "global": ("global r\nr = 1\nreturn r", False),
    "a closure": ("def g():\n return r\nr = 1\nreturn g()", False),
    "a comprehension": ("return [r for r in c]", None),
    "walrus": ("if (r := c()) > 1:\n return r\nreturn -r", True),
    "walrus behind and": ("if c and (r := c()):\n return r\nreturn r", False),
    "a tuple": ("(r, s), t = c\nreturn r + s + t", True),
    "a subscript": ("c[r] = 1\nr = 2", False),
}


@pytest.mark.parametrize("name", SURE)
def test_sure_names(name: str) -> None:
    body, sure = SURE[name]
    text = "def f(c):\n" + "".join(f"    {line}\n" for line in body.splitlines())
    assert ("r" in definitely_assigned_names(ast.parse(text))) is bool(sure)
