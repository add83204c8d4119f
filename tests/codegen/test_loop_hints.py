"""Metadata of loops: which ask for one vector, which for one element at a time.

Regression: Means of rows of 30 compiled for 1.5 s: LLVM unrolled loops around loops that cannot
become straight-line code. Such loops are no longer unrolled (0.7 s).
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit.codegen.backend.loop_hints import (
    NOT_UNROLLED,
    ONE_ELEMENT,
    ONE_VECTOR,
    Hints,
    hints,
    wants_wide_registers,
)
from fusejit.codegen.machine.probe import probe
from fusejit.ir.loops.index_math import BOOL, I64, let, name, number, operand
from fusejit.ir.loops.nodes import (
    Apply,
    Element,
    Expr,
    For,
    If,
    Let,
    Stmt,
    StoreElement,
    Var,
    While,
)
from fusejit.ir.loops.scalar_math import cast, scalar, select
from fusejit_testing.oracle import check

TABLE = np.arange(256)[::-1].astype(np.uint8)
F8 = np.dtype(np.float64)


def loop(var: str, upper: str | int, *body: Stmt) -> For:
    return For(var, operand(0), operand(upper), body)


def get(pointer: str, at: str = "i") -> Element:
    return Element(pointer, name(at))


def put(pointer: str, value: Expr, at: str = "i") -> StoreElement:
    return StoreElement(pointer, name(at), value)


def floats(op: str, *operands: Expr) -> Apply:
    return scalar(op, *operands, dtype=F8)


def asked(*body: Stmt, **itemsizes: int) -> Hints:
    """What a loop with these statements asks for, given the sizes of elements at pointers."""
    return hints(loop("i", "n", *body), itemsizes.__getitem__)


INDEX = let("v", get("p")), Let("t", cast(Var("v"), I64))
TAKE = (*INDEX, put("o", get("q", "t")))
IS_NEGATIVE = scalar("less", Var("t"), number(0), dtype=BOOL, of=I64)
FROM_END = scalar("add", Var("t"), Var("n"), dtype=I64)
WRAPPED = (
    *INDEX,
    Let("w", select(IS_NEGATIVE, FROM_END, Var("t"), I64)),
    put("o", get("q", "w")),
)


@pytest.mark.parametrize("itemsize", [1, 2, 4, 8])
@pytest.mark.parametrize("body", [TAKE, WRAPPED])
def test_tables_of_bytes_are_read_one_by_one(body: tuple[Stmt, ...], itemsize: int) -> None:
    assert asked(*body, q=itemsize) == (ONE_ELEMENT if itemsize <= 2 else ())


def chain(length: int) -> Expr:
    """``a * (b + a * (b + ..))``, of twice as many operations."""
    value: Expr = Var("a")
    for _ in range(length):
        value = floats("multiply", Var("a"), floats("add", Var("b"), value))
    return value


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ([put("o", get("q"))], ()),
        # int64 already: vectors of few lanes
        ([let("t", get("p")), put("o", get("q", "t"))], ()),
        (
            [
                loop(
                    "j",
                    "m",
                    Let("t", cast(get("p", "j"), I64)),
                    put("o", get("q", "t"), "j"),
                )
            ],
            NOT_UNROLLED,
        ),
        ([loop("j", 3, loop("k", "m", put("o", get("q", "j"), "k")))], NOT_UNROLLED),
        (
            [If(Var("c"), [While([], Var("c"), [put("o", get("q", "j"))])])],
            NOT_UNROLLED,
        ),
        ([loop("j", 3, put("o", get("q"), "j"))], ()),  # becomes a straight line
        ([*TAKE, put("x", floats("exp", get("y")))], ONE_VECTOR),
        ([*TAKE, put("x", floats("sqrt", get("y")))], ()),
        ([*TAKE, put("x", floats("divide", get("y"), get("z")))], ()),
        ([*TAKE, put("x", chain(3))], ONE_ELEMENT),
        ([*TAKE, put("x", chain(4))], ()),
    ],
)
def test_what_vectors_are_good_for_keeps_them(body: list[Stmt], expected: Hints) -> None:
    assert asked(*body, q=1) == expected


IS_POSITIVE = scalar("greater", Var("t"), number(0), dtype=BOOL, of=I64)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ([put("o", floats("add", get("p"), get("q")))], False),
        ([let("t", get("p")), put("o", IS_POSITIVE)], True),
        (
            [let("t", get("p")), Let("m", floats("minimum", Var("m"), Var("t")), rebind=True)],
            True,
        ),
        (  # the inner loop asks
            [
                let("m", 0),
                loop("j", "i", Let("m", floats("add", Var("m"), get("p", "j")), rebind=True)),
            ],
            False,
        ),
    ],
)
def test_comparisons_and_folds_want_wide_registers(body: list[Stmt], expected: bool) -> None:
    assert wants_wide_registers(loop("i", "n", *body)) == expected


def llvm_of(function: Any, *args: Any) -> str:
    (kernel,) = fuse_jit(function).trace(*args).fuse().lower().compile().kernels
    return kernel.llvm()


def looked_up(image: Any, table: Any) -> Any:
    return table[image]


@pytest.mark.parametrize("dtype", ["u1", "i4"])
def test_a_table_of_bytes(dtype: str) -> None:
    """The check of the indices is made of vectors, the reads are not."""
    image = np.arange(200).astype(dtype)
    check(looked_up, (image, TABLE), (image[:0], TABLE), (image, TABLE[:150]))
    check(looked_up, (image[::-2], TABLE))
    assert not re.search(r"insertelement <\d+ x i8>", llvm_of(looked_up, image, TABLE))


def test_indices_are_checked_in_vectors_of_their_own_width() -> None:
    """Eight times as many bytes as int64 are in a vector."""
    text = llvm_of(looked_up, np.arange(200, dtype=np.uint8), TABLE)
    assert "x i16>" in text
    assert "x i64>" not in text


@pytest.mark.skipif(probe().vector_bits < 512, reason="no registers of 512 bits")
def test_kernels_that_want_wide_registers_ask_for_them() -> None:
    asks = '"prefer-vector-width"="512"'
    x = np.ones(100)
    for function in (np.argmax, np.max, lambda x: x > 2, lambda x: np.maximum(x, 2)):
        assert asks in llvm_of(lambda x, function=function: function(x), x)
    assert asks not in llvm_of(lambda x: x * 2 + 1, x)


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"])
def test_ends_of_each_dtype(dtype: str) -> None:
    info = np.iinfo(dtype)
    table = np.arange(100)
    ends = [0, 99, 100, info.max, info.min, max(info.min, -100), max(info.min, -101)]
    calls = [(np.array([5, min(end, info.max)], dtype), table) for end in ends]
    check(looked_up, *calls, (np.zeros(0, dtype), table), (np.zeros(0, dtype), table[:0]))
