"""Host expressions as Python text, for launchers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fusejit.ir.host import HOST_OPS, HostExpr, Path, errstate_keywords


def host_text(expr: HostExpr, path_text: Callable[[Path], str], *, is_operand: bool = True) -> str:
    """Python text that computes ``expr``; ``path_text`` gives the text of an outside object.

    With ``is_operand`` it may stand in more text.
    """
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
        is_negative = isinstance(value, int | float) and value < 0
        return f"({value!r})" if is_negative and is_operand else repr(value)
    if expr.op == "name":
        return str(expr.attr)
    operands = [host_text(o, path_text) for o in expr.operands]
    if expr.attr:
        function = f"np.errstate(**{errstate_keywords(expr.attr)})(HOST_OPS[{expr.op!r}].function)"
        return f"{function}({', '.join(operands)})"
    return HOST_OPS[expr.op].text(operands, is_operand)
