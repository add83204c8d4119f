"""Checks inside of branches: both branches become numbers, and what was an error still is one."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit.api import FuseWarning
from fusejit.codegen.loop_passes.hoist_checks import hoist_checks
from fusejit.codegen.printer.statement_printer import statement_lines
from fusejit.ir.loops.index_math import BOOL, I64, name, negated, number
from fusejit.ir.loops.nodes import Element, Exit, If, Let, Stmt, Var
from fusejit.ir.loops.scalar_math import scalar
from fusejit_testing.oracle import decorate


def collatz(x: Any) -> Any:
    n = int(x[0])
    length = 1
    while n != 1:
        if n % 2 == 0:
            n //= 2
        else:
            n = 3 * n + 1
        length += 1
    return length, n


def signed(x: Any) -> Any:
    total = 0
    for i in range(len(x)):
        v = int(x[i])
        if v & 1:
            total = total + v
        else:
            total = total - v
    return total


def exchanged(x: Any) -> Any:
    a, b = 1, 2
    for i in range(len(x)):
        if x[i] > 0:
            a, b = b, a * 3
        else:
            b = b + int(x[i])
    return a, b


ODD = (2**63 - 2) // 3 | 1  # the largest number that three times it and one fits


LARGE = np.array([2**62 + 1, 2**62 - 1, 2, 5])
CALLS: list[tuple[Any, list[Any]]] = [
    (collatz, [np.array([n]) for n in (27, 2**62, ODD - 2, ODD, ODD + 2)]),
    (signed, [np.arange(9), LARGE, -LARGE - 1, LARGE[1:]]),
    (exchanged, [np.array([1, -2, 3, 4, -5]), np.ones(90, np.int64)]),
]


@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.parametrize(("function", "calls"), CALLS)
def test_equals_python_beyond_64_bits_too(function: Any, calls: list[Any], jit: bool) -> None:
    fused = decorate(function, jit=jit)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FuseWarning)  # Python has integers beyond 64 bits
        for x in calls:
            assert fused(x) == function(x)


def test_no_jump_depends_on_the_numbers() -> None:
    source = str(fuse_jit(collatz).trace(np.array([27])).fuse().lower().source)
    assert "select(" in source
    assert "else:" not in source
    loop = source[source.index("while") :]
    assert loop.count("if not") == 2  # the check: of what is seldom, then of the branch


def _branch(*body: Stmt, orelse: tuple[Stmt, ...] = ()) -> list[str]:
    statements = [If(Var("c"), list(body), list(orelse))]
    return [line.removeprefix("    ") for line in statement_lines(hoist_checks(statements))[1:]]


def _lets(name: str, op: str, *names: str, dtype: np.dtype = I64) -> Let:
    return Let(name, scalar(op, *map(Var, names), dtype=dtype))


FITS = Let("ok", scalar("less_equal", Var("n"), number(9), dtype=BOOL, of=I64))
CHECK = If(negated("ok"), [Exit(16)])


def test_the_check_is_asked_in_front() -> None:
    assert _branch(FITS, CHECK, _lets("m", "add", "n", "n")) == [
        "ok = (n <= i64(9))",
        "m = int_add(n, n)",
        "if not ok:",
        "    if c:",
        "        return 16",
    ]


@pytest.mark.parametrize(
    "more",
    [
        _lets("m", "floor_divide", "n", "d"),  # may trap where it was not asked for
        _lets("m", "sqrt", "x", dtype=np.dtype(np.float64)),  # costs more than a jump
        Let("m", Element("p", name("n"))),  # may not be there
        If(Var("other"), [_lets("m", "add", "n", "n")]),
    ],
    ids=["division", "function", "load", "inner"],
)
def test_branches_that_do_more_stay(more: Stmt) -> None:
    lines = _branch(FITS, CHECK, more)
    assert lines[0] == "if c:"


def test_a_cell_that_is_read_in_its_branch_stays() -> None:
    cell = Let("n", scalar("add", Var("n"), Var("n"), dtype=I64), rebind=True)
    before = [Let("n", number(1))]
    statements = [*before, If(Var("c"), [cell, FITS, CHECK])]
    assert statement_lines(hoist_checks(statements))[2] == "    if c:"
