"""How scalar ops are written in MLIR: text with braces (see `mlir.export.mlir_op_table`)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from fusejit.ir.scalar_ops.row import Lines

Forms = Mapping[str, Lines]


def binary(op: str) -> Lines:
    """An operation of two operands."""
    return (f"{op} {{0}}, {{1}} : {{t}}",)


def unary(op: str) -> Lines:
    """An operation of one operand."""
    return (f"{op} {{0}} : {{t}}",)


def by_class(signed: str, unsigned: str, floating: str = "", boolean: str = "") -> Forms:
    """An operation of two operands for each dtype class that is named."""
    names = {"i": signed, "u": unsigned, "f": floating, "b": boolean}
    return {kind: binary(name) for kind, name in names.items() if name}


def of_floats(op: str, arity: int = 1) -> Forms:
    """An operation on floats."""
    return {"f": binary(op) if arity == 2 else unary(op)}


def comparison(integer: str, floating: str) -> Forms:
    """``lt`` and ``olt``: NumPy's comparisons with NaN are false, but for ``!=``."""
    has_sign = integer not in ("eq", "ne")
    signed, unsigned = (f"s{integer}", f"u{integer}") if has_sign else (integer, integer)
    return by_class(
        f"arith.cmpi {signed},",
        f"arith.cmpi {unsigned},",
        f"arith.cmpf {floating},",
        f"arith.cmpi {unsigned},",
    )


NOT: Lines = ("arith.constant {ones} : {t}", "arith.xori {0}, {p0} : {t}")
SQUARE: Forms = {
    kind: (f"{op} {{0}}, {{0}} : {{t}}",)
    for kind, op in {"i": "arith.muli", "u": "arith.muli", "f": "arith.mulf"}.items()
}
REMAINDER: Forms = {
    "i": (
        "arith.floordivsi {0}, {1} : {t}",
        "arith.muli {p0}, {1} : {t}",
        "arith.subi {0}, {p1} : {t}",
    ),
    "u": binary("arith.remui"),
}


def is_divisor(number: int, dtype: np.dtype) -> bool:
    """Whether MLIR defines the quotient by a number: not by 0, nor of the lowest number by -1."""
    return number not in (0, -1)


def is_shift(number: int, dtype: np.dtype) -> bool:
    """Whether MLIR defines a shift by a number: from 0 to the bits of the type, less 1."""
    return 0 <= number < 8 * dtype.itemsize
