"""Metadata of loops: which ask for one vector, which for one element at a time."""

from __future__ import annotations

import ast
import re
import textwrap
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
from fusejit.testing.oracle import check

TABLE = np.arange(256)[::-1].astype(np.uint8)


def asked(text: str, **itemsizes: int) -> Hints:
    """What a loop with these statements asks for, given the sizes of elements at pointers."""
    (loop,) = ast.parse(f"for i in range(n):\n{textwrap.indent(text, '    ')}").body
    assert isinstance(loop, ast.For)
    return hints(loop, lambda pointer: itemsizes[pointer.id])


TAKE = "v = get(p, i)\nt = cast(v, i64)\nput(o, i, get(q, t))"
WRAPPED = (
    "v = get(p, i)\nt = cast(v, i64)\nw = select((t < i64(0)), int_add(t, n), t)\n"
    "put(o, i, get(q, w))"
)


@pytest.mark.parametrize("itemsize", [1, 2, 4, 8])
@pytest.mark.parametrize("text", [TAKE, WRAPPED])
def test_tables_of_bytes_are_read_one_by_one(text: str, itemsize: int) -> None:
    assert asked(text, q=itemsize) == (ONE_ELEMENT if itemsize <= 2 else ())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("put(o, i, get(q, i))", ()),
        ("t = get(p, i)\nput(o, i, get(q, t))", ()),  # int64 already: vectors of few lanes
        (
            "for j in range(m):\n    t = cast(get(p, j), i64)\n    put(o, j, get(q, t))",
            NOT_UNROLLED,
        ),
        ("for j in range(3):\n    for k in range(m):\n        put(o, k, get(q, j))", NOT_UNROLLED),
        ("if i > m:\n    while a > m:\n        put(o, i, get(q, j))", NOT_UNROLLED),
        ("for j in range(3):\n    put(o, j, get(q, i))", ()),  # becomes a straight line
        (TAKE + "\nput(x, i, exp(get(y, i)))", ONE_VECTOR),
        (TAKE + "\nput(x, i, sqrt(get(y, i)))", ()),
        (TAKE + "\nput(x, i, get(y, i) / get(z, i))", ()),
        (TAKE + "\nput(x, i, a * (b + a * (b + a * (b + a * (b + a)))))", ()),
    ],
)
def test_what_vectors_are_good_for_keeps_them(text: str, expected: Hints) -> None:
    assert asked(text, q=1) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("put(o, i, get(p, i) + get(q, i))", False),
        ("t = get(p, i)\nput(o, i, t > 0)", True),
        ("t = get(p, i)\nm = minimum(m, t)", True),
        ("m = 0\nfor j in range(i):\n    m = m + get(p, j)", False),  # the inner loop asks
    ],
)
def test_comparisons_and_folds_want_wide_registers(text: str, expected: bool) -> None:
    (loop,) = ast.parse(f"for i in range(n):\n{textwrap.indent(text, '    ')}").body
    assert isinstance(loop, ast.For)
    assert wants_wide_registers(loop) == expected


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
