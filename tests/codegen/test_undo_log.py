"""The undo log of a kernel: jitted and unjitted, elements or whole arrays are put back.

Regression: NumPy ran calls in which a Python integer leaves 64 bits (53 as a float) after a store
or an effect. Kernels now keep an undo log and roll back.
"""

from __future__ import annotations

import numba
import numpy as np
import pytest

from fusejit.codegen.intrinsics import intrinsic_table as intrinsics
from fusejit.codegen.intrinsics.undo_log import FIRST_ENTRIES, SHARE
from fusejit.codegen.loop_passes.roll_back import with_undo_log
from fusejit.ir.loops.index_math import negated
from fusejit.ir.loops.nodes import Call, Exit, For, If, Integer, Let, Number, StoreElement, Var
from fusejit.ir.loops.polynomial import Polynomial

TEXT = """
def kernel(a, b, count, whole, back):
    p, q = flat(a), flat(b)
    w = undo_log(2)
    undo_log_array(w, 0, a)
    undo_log_array(w, 1, b)
    for i in range(count):
        if i == whole:
            if not keep_all(w):
                return -1
        j = (i * 7) % len(a)
        if not keep(w, p, j):
            return -1
        put(p, j, f64(i))
        k = (i * 5) % len(b)
        if not keep(w, q, k):
            return -1
        put(q, k, complex_of(f64(i), f64(-i)))
    kept = keeps_all(w)
    if back:
        roll_back(w)
    else:
        end_undo_log(w)
    return i64(kept)
"""


@pytest.fixture(scope="module")
def kernels():
    made = []
    for namespace in (intrinsics.python_namespace(), intrinsics.jit_namespace()):
        exec(TEXT, namespace)
        made.append(namespace["kernel"])
    return made[0], numba.njit(made[1])


@pytest.mark.parametrize("size", [3, 50, SHARE * 40])
@pytest.mark.parametrize("count", [0, 1, FIRST_ENTRIES, 200, 3000])
@pytest.mark.parametrize("whole", [-1, 0, 20])
def test_what_was_overwritten_comes_back(kernels, size, count, whole):
    for kernel in kernels:
        a, b = np.arange(float(size)), np.arange(size) * (1 + 2j)
        before = a.copy(), b.copy()
        kernel(a, b, count, whole, True)
        np.testing.assert_array_equal(a, before[0])
        np.testing.assert_array_equal(b, before[1])
        kernel(a, b, count, whole, False)
        changed = (a != before[0]).any()
        assert changed == (count > 1)


def test_a_long_journal_becomes_a_copy(kernels):
    for kernel in kernels:
        a, b = np.zeros(64), np.zeros(64, complex)
        assert kernel(a, b, 5, -1, False) == 0
        assert kernel(a, b, 3000, -1, False) == 1


def _integer(number: int) -> Integer:
    return Integer(Polynomial.const(number))


def test_stores_behind_the_last_check_are_not_kept():
    store = StoreElement("p_a", Polynomial.name("i"), Number(1.0, np.dtype(float)))
    check = If(negated("ok"), [Exit(17)])
    made = with_undo_log([store, check, store], ["a"], {17: 16})
    assert sum(isinstance(s, If) and "keep" in str(s.condition) for s in made) == 1
    assert made[-1] == Let("_", Call("end_undo_log", (Var("undo_log_w"),)))


def test_without_such_a_check_nothing_changes():
    store = StoreElement("p_a", Polynomial.name("i"), Number(1.0, np.dtype(float)))
    check = If(negated("ok"), [Exit(6)])
    assert with_undo_log([store, check], ["a"], {17: 16}) == [store, check]


def test_a_nest_keeps_its_elements_and_what_it_reads_back_keeps_all():
    zero = Polynomial.const(0)
    check = If(negated("ok"), [Exit(17)])
    store = StoreElement("p_a", Polynomial.name("d0"), Number(1.0, np.dtype(float)))
    nest = For("d0", Integer(zero), _integer(9), [store])
    made = with_undo_log([nest, check], ["a"], {17: 16})
    assert any(isinstance(s, If) and "keeps_all" in str(s.condition) for s in made)
    moved = For("d0", Integer(zero), _integer(9), [Let("c", Var("p_a")), store])
    made = with_undo_log([moved, check], ["a"], {17: 16})
    assert any(isinstance(s, If) and "keep_all" in str(s.condition) for s in made)
