# ruff: noqa: E501
"""Checks move before what is computed without them, and no further.

Regression: With ``fusion="none"`` a result was written past its end before the check of its length,
because it shared the memory of its reshape.
"""

from __future__ import annotations

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit.fuse.canonical.hoist_assertions import hoist_assertions
from fusejit_testing.oracle import check

EXP = '%t = generic "exp" domain (s0) ins (%x) outs (write) { t0 = exp in0 : f64; yield t0 } : s0 x f64'
SIZE = '%c = generic "c" domain () ins () outs (write) { t0 = const 3 : i64; t1 = index (s0) : i64; t2 = less t0, t1 : i1; yield t2 } : i1 python'
CHECK = 'assert %c "c"'
SUM = '%s = generic "sum" domain (s0) iterators (reduction) ins (%t) outs (add [(d0) -> ()]) { yield in0 } : f64'
OF_SUM = '%c = generic "c" domain () ins (%s) outs (write) { t0 = const 3.0 : f64; t1 = less t0, in0 : i1; yield t1 } : i1 python'
LOAD = "%x = load @x v0 : s0 x f64"


def test_a_check_of_sizes_moves_up(becomes):
    becomes(
        hoist_assertions,
        f"{LOAD}\n{EXP}\n{SIZE}\n{CHECK}\nreturn %t",
        f"{SIZE}\n{CHECK}\n{LOAD}\n{EXP}\nreturn %t",
    )


def test_a_check_of_elements_stays_behind_them(becomes):
    other = EXP.replace("%t", "%u")
    becomes(
        hoist_assertions,
        f"{LOAD}\n{EXP}\n{SUM}\n{other}\n{OF_SUM}\n{CHECK}\nreturn %u",
        f"{LOAD}\n{EXP}\n{SUM}\n{OF_SUM}\n{CHECK}\n{other}\nreturn %u",
    )


@pytest.mark.parametrize(
    "between",
    [
        "store @y v1 = %t",
        'assert %d "d"',
        "for i = 0 to s0 step 1 {\n}",
        '%h = host_call "numpy.sort"(%t) as "{0}" : s0 x f64',
    ],
)
def test_what_may_not_be_passed(between, parse):
    given = SIZE.replace("%c", "%d").replace('"c"', '"d"').replace("const 3", "const 4")
    graph = parse(f"{given}\n{LOAD}\n{EXP}\n{between}\n{SIZE}\n{CHECK}\nreturn %t")
    if "assert" in between:  # it moves up itself, and the other one stays after it
        kinds = [type(op).__name__ for op in hoist_assertions(graph).block.ops]
        assert kinds == ["GenericOp", "Assert", "GenericOp", "Assert", "Load", "GenericOp"]
    else:
        assert hoist_assertions(graph) is graph


def test_a_size_is_named_in_front_of_its_check(parse):
    number = '%n = generic "n" domain () ins () outs (write) { t0 = index (s0) : i64; yield t0 } : i64 python\nbind at0 = %n'
    size = SIZE.replace("index (s0)", "index (at0)")
    graph = parse(f"{LOAD}\n{EXP}\n{number}\n{size}\n{CHECK}\nreturn %t")
    assert hoist_assertions(graph) is graph


def picked(x, i):
    y = np.exp(x) + 1
    z = x[i] * 2
    return y[1:] * z


def test_programs():
    calls = [(np.linspace(-1, 1, n), np.arange(n - 1)) for n in (4, 8, 12)]
    check(picked, *calls)
    bad = np.linspace(-1, 1, 8), np.arange(7) + 3
    fused = fuse_jit(picked)
    with pytest.raises(IndexError, match="index 8 is out of bounds for axis 0 with size 8"):
        fused(*bad)
