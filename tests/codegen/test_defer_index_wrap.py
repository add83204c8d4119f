"""Indices from the end, and those that are out of bounds, where one comparison is asked first."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit.codegen.loop_passes.defer_index_wrap import defer_index_wrap
from fusejit.ir.loops.index_math import BOOL, I64, negated, number
from fusejit.ir.loops.nodes import Exit, If, Integer, Let, Var
from fusejit.ir.loops.polynomial import Polynomial
from fusejit.ir.loops.scalar_math import cast, scalar, select
from fusejit_testing.oracle import check

_U64 = np.dtype(np.uint64)


def gathered(x: Any, at: Any) -> Any:
    total = 0.0
    for i in range(len(at)):
        k = at[i]
        total += x[k] * i
        x[k] = total
    return total


def in_branches(x: Any, at: Any) -> Any:
    count = 0
    for i in range(len(at)):
        k = at[i]
        if k % 2 == 0:
            x[k] += 1
        while x[k] > 3 and count < 20:
            x[k] -= 1
            count += 1
    return count


def two_axes(x: Any, at: Any) -> Any:
    for i in range(len(at) - 1):
        x[at[i], at[i + 1]] += x[at[i + 1], at[i]] + i
    return x.sum()


INSIDE = np.array([0, 3, -1, 2, -4, 1, 3, -2])


@pytest.mark.parametrize("jit", [False, True])
def test_equals_numpy(jit: bool) -> None:
    beyond = [np.append(INSIDE, last) for last in (4, -5, 2**62, -(2**63))]
    calls = [INSIDE, INSIDE[::-1].copy(), *beyond]
    for function in (gathered, in_branches):
        check(function, *((np.arange(4.0), at) for at in calls), jit=jit)
    square = np.arange(16.0).reshape(4, 4)
    check(two_axes, *((square, at) for at in calls), jit=jit)
    check(gathered, (np.arange(4.0), INSIDE[:0]), jit=jit)


def test_one_index_is_counted_from_the_end_once() -> None:
    source = str(fuse_jit(gathered).trace(np.arange(4.0), INSIDE).fuse().lower().source)
    assert len(re.findall(r"if unlikely\(not ", source)) == 2  # the first iteration stands in front
    assert "select(" not in source


def test_without_a_check_the_selection_stays() -> None:
    """A loop without a jump may become vectors."""
    at, size = Polynomial.name("i"), Polynomial.name("n")
    test = scalar("less", Integer(at), number(0), dtype=BOOL, of=I64)
    both = (Var("negative"), Integer(at + size), Integer(at))
    wrapped = [
        Let("negative", test),
        Let("at", select(*both, I64)),
    ]
    sides = tuple(cast(Var(n), _U64) for n in ("at", "n"))
    inside = Let("inside", scalar("less", *sides, dtype=BOOL, of=_U64))
    check = If(negated("inside"), [Exit(5)])
    other = If(negated("other"), [Exit(5)])
    assert defer_index_wrap([*wrapped, inside, other])[:3] == [*wrapped, inside]
    assert len(defer_index_wrap([*wrapped, inside, check])) == 5
