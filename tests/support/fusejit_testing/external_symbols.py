"""Symbols of math libraries that compiled code needs from outside."""

from __future__ import annotations

from fusejit.codegen.machine.probe import FLOAT_BITS, VectorSupport, probe, scalar_symbol
from fusejit.ir.scalar_ops.scalar_op_table import MATH_FUNCTIONS


def external_symbols(
    name: str, dtype: str, support: VectorSupport | None = None
) -> tuple[str, ...]:
    """Symbols that object code calling `name` on `dtype` needs from outside.

    Whoever loads such code calls `load_library` first and then checks each symbol with
    ``llvmlite.binding.address_of_symbol``: an unresolved symbol is a crash.

    Parameters
    ----------
    name : str
        A name of generated source. Names without a library function give ``()``.
    dtype : str
        ``"f32"`` or ``"f64"``; anything else gives ``()``.
    support : VectorSupport, optional
        Defaults to `probe`.

    Examples
    --------
    >>> external_symbols("exp", "f32", VectorSupport("", 0, ()))
    ('expf',)
    """
    function = MATH_FUNCTIONS.get(name)
    if function is None or dtype not in FLOAT_BITS:
        return ()
    form = (support or probe()).form(name, dtype)
    return (form.symbol if form else scalar_symbol(function, dtype),)
