"""Host expressions as Python text, for launchers and for the guards at a kernel's top."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fusejit.ir.host import HOST_OPS, HostExpr, Path

_ARITHMETIC = ("add", "sub", "mul", "neg", "floordiv", "mod", "min", "max")
_COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")
_KERNEL_OPS = frozenset((*_ARITHMETIC, *_COMPARISONS))


def host_text(expr: HostExpr, path_text: Callable[[Path], str]) -> str:
    """Python text that computes ``expr``; ``path_text`` gives the text of an outside object."""
    if expr.op == "path":
        return path_text(expr.attr)
    if expr.op == "size":
        path, axis = expr.attr
        return f"{path_text(path)}.shape[{axis}]"
    if expr.op == "const":
        value = expr.attr
        if isinstance(value, np.generic):  # repr has nan and inf without the module's name
            plain = host_text(HostExpr.const(value.item()), path_text)
            return f"np.{value.dtype.name}({plain})"
        if isinstance(value, float) and (value != value or value in (float("inf"), -float("inf"))):
            return f"float({str(value)!r})"
        return repr(value) if not (isinstance(value, int | float) and value < 0) else f"({value!r})"
    if expr.op == "name":
        return str(expr.attr)
    operands = [host_text(o, path_text) for o in expr.operands]
    return HOST_OPS[expr.op].template.format(*operands)


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
    return expr.op in _KERNEL_OPS and all(
        is_kernel_guard(o, has_array, names) for o in expr.operands
    )
