"""Invariant parts of offsets stand before loops: source, and answers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit.codegen.loop_passes.invariant_offsets import hoist_offsets
from fusejit.ir.loops.nodes import Element, Exit, For, If, Integer, Let, StoreElement, Var, While
from fusejit.ir.loops.polynomial import Polynomial
from fusejit_testing.oracle import check

ROW, J, K, M = (Polynomial.name(name) for name in ("i", "j", "k", "m"))
ZERO, COUNT = Integer(Polynomial.const(0)), Integer(M)


def common(a: Any, b: Any) -> Any:
    n, m = len(a), len(b)
    table = np.zeros((n + 1, m + 1), dtype=np.int64)
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            if a[i - 1] == b[j - 1]:
                table[i, j] = table[i - 1, j - 1] + 1
            else:
                table[i, j] = max(table[i - 1, j], table[i, j - 1])
    return table


def walk_rows(x: Any, n: Any) -> Any:
    for i in range(n):
        j = 0
        while x[i, j] < 0:
            x[i, j] += 5
            j = (j + 1) % x.shape[1]
    return x


def test_rows_start_in_front_of_the_inner_loop() -> None:
    a, b = np.array([1, 2, 3, 2]), np.array([2, 3, 3])
    source = fuse_jit(common).trace(a, b).fuse().lower().source
    outer, inner = source.split("for at0 in")[1].split("for at1 in")
    assert "above0 = at0 * s1 + at0\n" in outer
    assert "above1 = at0 * s1 + at0 + s1\n" in outer
    inner = inner.split("y5v0")[0]  # after the loops
    assert "at0 *" not in inner
    assert "get(p_r0, above0 + at1 + 1)" in inner


@pytest.mark.parametrize("shape", [(4, 3), (1, 1), (1, 7), (6, 1)])
def test_tables_are_numpys(shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(3)
    arguments = rng.integers(0, 3, shape[0]), rng.integers(0, 3, shape[1])
    check(common, arguments, variants=None)


@pytest.mark.parametrize("n", [0, 1, 3])
def test_a_loop_that_tests_elements(n: int) -> None:
    check(walk_rows, (np.random.default_rng(4).integers(-9, 9, (3, 4)), n), variants=None)


def test_each_part_is_computed_once_and_what_changes_stays() -> None:
    body = [
        Let("k", Element("q", ROW * M + J), rebind=True),
        StoreElement("p", ROW * M + J + 2, Element("p", ROW * M + K)),
    ]
    (outer,) = hoist_offsets([For("i", ZERO, COUNT, [For("j", ZERO, COUNT, body)])])
    assert isinstance(outer, For)
    above = Polynomial.name("above0")
    assert outer.body == [
        Let("above0", Integer(ROW * M)),
        For(
            "j",
            ZERO,
            COUNT,
            [
                Let("k", Element("q", above + J), rebind=True),
                StoreElement("p", above + J + 2, Element("p", above + K)),
            ],
        ),
    ]


def test_one_name_alone_is_no_work_and_all_of_an_offset_stays() -> None:
    body = [StoreElement("p", ROW + J, Element("p", ROW * M))]
    loop = For("i", ZERO, COUNT, [For("j", ZERO, COUNT, body)])
    assert hoist_offsets([loop]) == [loop]


def test_branches_and_conditions_belong_to_the_loop_around() -> None:
    leave = If(Element("p", ROW * M + J), [Exit(5)], [])
    loop = While([leave], Element("p", ROW * M + J + 1), [Let("j", Integer(J + 1), rebind=True)])
    (outer,) = hoist_offsets([For("i", ZERO, COUNT, [Let("j", ZERO), loop])])
    assert isinstance(outer, For)
    at = Polynomial.name("above0") + J
    assert outer.body[1:] == [
        Let("above0", Integer(ROW * M)),
        While([If(Element("p", at), [Exit(5)], [])], Element("p", at + 1), loop.body),
    ]


def test_names_that_are_taken_are_passed_over() -> None:
    body = [StoreElement("p", ROW * M + J, Var("above0"))]
    (outer,) = hoist_offsets([For("i", ZERO, COUNT, [For("j", ZERO, COUNT, body)])])
    assert isinstance(outer, For)
    assert outer.body[0] == Let("above1", Integer(ROW * M))
