"""Guards that a kernel asks itself: conditions on the sizes of its arrays, and on symbols."""

from __future__ import annotations

from collections.abc import Callable

from fusejit.ir.host import HostExpr, Path
from fusejit.ir.loops.index_math import compute, operand
from fusejit.ir.loops.nodes import Expr, Field

_OPS = {
    **{"add": "+", "sub": "-", "mul": "*", "neg": "neg", "floordiv": "//", "mod": "%"},
    **{"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="},
    **{"min": "min", "max": "max"},
}
"""Operation of host expressions -> operation of indices."""


def is_kernel_guard(
    expr: HostExpr, has_array: Callable[[Path], bool], names: frozenset[str]
) -> bool:
    """Whether a kernel can evaluate ``expr``: integer arithmetic on sizes and known symbols."""
    if expr.op == "size":
        return has_array(expr.attr[0])
    if expr.op == "const":
        return type(expr.attr) is int and abs(expr.attr) < 2**62
    if expr.op == "name":
        return expr.attr in names
    return expr.op in _OPS and all(is_kernel_guard(o, has_array, names) for o in expr.operands)


def kernel_expr(expr: HostExpr, array: Callable[[Path], str]) -> Expr:
    """The same in a kernel; ``array`` gives the name of an argument."""
    if expr.op == "size":
        path, axis = expr.attr
        return Field(array(path), "shape", axis)
    if expr.op in ("const", "name"):
        return operand(expr.attr)
    return compute(_OPS[expr.op], *(kernel_expr(o, array) for o in expr.operands))
