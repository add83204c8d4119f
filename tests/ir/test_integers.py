"""Sizes that a kernel computes: the numbers, and which binds the launcher has to know."""

from __future__ import annotations

import doctest

import pytest

from fusejit.ir.affine import AffineExpr
from fusejit.ir.analysis import integers
from fusejit.ir.analysis.integers import Integers
from fusejit.ir.interpreter.interpret_generic import run_generic
from fusejit.ir.ops import Bind, GenericOp

N = AffineExpr.symbol("n")


@pytest.mark.parametrize("n", [0, 1, 7, 64, 1000])
def test_numbers_are_those_of_python(n: int) -> None:
    i = Integers(4)
    tile = i(N).minimum(64).maximum(1)
    count = (tile + N - 1).floordiv(tile)
    rounded = i(N).at_least(100, i(N) - i(N).mod(8), N * 2)
    op, *binds = i.bound("sizes", {"tile": tile, "count": count, "all": tile * count, "r": rounded})
    assert isinstance(op, GenericOp)
    assert [b.symbol for b in binds if isinstance(b, Bind)] == ["tile", "count", "all", "r"]
    size = max(min(n, 64), 1)
    number = -(-n // size)
    found = [int(result) for result in run_generic(op, {}, {"n": n})]
    assert found == [size, number, size * number, n - n % 8 if n >= 100 else 2 * n]


@pytest.mark.parametrize("is_local", [True, False])
def test_binds_are_local_if_asked(is_local: bool) -> None:
    i = Integers(1)
    _, bind = i.bound("size", {"m": i(N) * 2}, is_local=is_local)
    assert isinstance(bind, Bind)
    assert bind.is_local is is_local


def test_the_example() -> None:
    assert doctest.testmod(integers).failed == 0
