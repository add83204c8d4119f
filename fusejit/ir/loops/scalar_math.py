"""Operations of the payload's table on numbers of exact dtypes, as loops have them."""

from __future__ import annotations

import numpy as np

from fusejit.ir.loops.nodes import Apply, Expr, Operation
from fusejit.ir.scalar_ops.scalar_op_table import SCALAR_OPS

CONVERT, CAST = Operation("convert"), Operation("cast")
"""A conversion that is exact, and one that has to care about ranges and fractions."""
SELECT = Operation("select", "b")


def scalar(
    name: str,
    *operands: Expr,
    dtype: np.dtype,
    of: np.dtype | None = None,
    scalar_form: bool = False,
) -> Apply:
    """A row of `SCALAR_OPS` for operands of dtype ``of`` (else of that of the result)."""
    kind = (dtype if of is None else of).kind
    row = SCALAR_OPS[name]
    assert kind in row.templates, f"{name} has no form for {kind}"
    scalar_form = scalar_form and kind in row.scalar_templates
    return Apply(Operation(name, kind, scalar_form), operands, dtype)


def convert(value: Expr, dtype: np.dtype) -> Apply:
    """A number as one of another dtype that holds it."""
    return Apply(CONVERT, (value,), dtype)


def cast(value: Expr, dtype: np.dtype) -> Apply:
    """A number as NumPy casts it."""
    return Apply(CAST, (value,), dtype)


def select(condition: Expr, if_true: Expr, if_false: Expr, dtype: np.dtype) -> Apply:
    """One of two numbers; both are computed."""
    return Apply(SELECT, (condition, if_true, if_false), dtype)
