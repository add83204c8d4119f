"""Tracing did not end: equal quotients of sizes were replaced by each other in a circle.

The campaign found it: a call was traced without end, whatever the budget.
"""

import numpy as np

from fusejit.ir.affine_parser import parse_affine_expr
from fusejit.tracer.program.equalities import Equalities
from fusejit_testing.oracle import check


def quarters(a):
    a[..., 1:][:-1] = (a[::2, 1::2] + 1.5) * a[1::2, 2:0:-1].T
    return a


def test_a_program():
    check(quarters, (np.ones((2, 2)),), (np.arange(4.0).reshape(2, 2),))


def test_equal_expressions_have_one_form():
    equal = Equalities()
    one = parse_affine_expr("(s0) floordiv 2")
    other = parse_affine_expr("((s0 + 1) floordiv 2 + 1) floordiv 2")
    third = parse_affine_expr("(s0 + 1) floordiv 2")
    equal.add(one - other)
    equal.add(third - parse_affine_expr("s0 - 1"))
    assert equal.canonical(one) == equal.canonical(other)
    assert equal.canonical(third) == parse_affine_expr("s0 - 1")
    for expr in (one, other, third):  # nothing is left to replace
        assert equal.canonical(equal.canonical(expr)) == equal.canonical(expr)
