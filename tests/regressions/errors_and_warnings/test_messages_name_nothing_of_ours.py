"""A message said "at0 - 1 differs between iterations": `at0` is an internal name."""

from __future__ import annotations

from fusejit.ir.affine import AffineExpr
from fusejit.tracer.builder.shapes import Varies


def test_a_decision_that_varies() -> None:
    expr = AffineExpr.symbol("at0") - 1
    error = Varies(expr)
    assert error.expr == expr
    assert "at0" not in str(error)
    assert "differs between iterations" in str(error)
