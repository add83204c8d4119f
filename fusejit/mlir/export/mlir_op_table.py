"""THE table of scalar ops in MLIR: one row per scalar op and dtype class, read in both directions.

The emitter writes a row's lines into the body of a ``linalg.generic``; the importer finds the row
of an operation by its name. MLIR's integers carry no sign, so classes are ``b`` bool, ``i`` signed,
``u`` unsigned, ``f`` floating, as in `fusejit.ir.scalar_ops`, and unsigned numbers are written in
the signless type of their width, with the unsigned operations.

In a line, ``{0}`` is an operand, ``{p0}`` the result of the row's line 0, ``{t}`` the operands'
type, ``{r}`` the result's, and ``{zero}``, ``{one}``, ``{ones}`` (all bits) are literals.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np

from fusejit.dataclass import dataclass
from fusejit.errors import UnsupportedError
from fusejit.ir.affine import AffineExpr
from fusejit.ir.scalar_ops.row import Lines
from fusejit.ir.scalar_ops.scalar_op_table import SCALAR_OPS
from fusejit.ir.types import dtype_name


def mlir_type(dtype: np.dtype) -> str:
    """The element type in MLIR: ``i32`` for int32 and uint32, ``i1`` for bool."""
    if dtype.kind == "c":
        raise UnsupportedError(
            f"MLIR text of {dtype} is not written; compute on the real and imaginary parts"
        )
    name = dtype_name(dtype)
    return f"i{name[1:]}" if name[0] == "u" else name


def literal(number: object, dtype: np.dtype) -> str:
    """A number as MLIR writes it: ``1.50000000000000000e+00``, ``true``, ``-3``, bits of inf."""
    value = dtype.type(number)
    if dtype.kind == "b":
        return "true" if value else "false"
    if dtype.kind == "f":
        if not np.isfinite(value):
            bits = np.uint32 if dtype.itemsize == 4 else np.uint64
            if np.isnan(value):
                value = dtype.type(np.nan)
            return f"0x{int(value.view(bits)):0{2 * dtype.itemsize}X}"
        return f"{float(value):.{9 if dtype.itemsize == 4 else 17}e}"
    return str(int(value.astype(f"i{dtype.itemsize}")))


def literals(dtype: np.dtype) -> dict[str, str]:
    """What ``{zero}``, ``{one}`` and ``{ones}`` stand for."""
    ones = (
        "" if dtype.kind == "f" else literal(True if dtype.kind == "b" else ~dtype.type(0), dtype)
    )
    return {"zero": literal(0, dtype), "one": literal(1, dtype), "ones": ones}


def cast_lines(source: np.dtype, target: np.dtype) -> Lines:
    """The conversion of ``ndarray.astype``; nothing between numbers of the same bits.

    Numerics
    --------
    MLIR leaves a float that the integer type cannot hold undefined; fusejit gives NumPy's number.
    """
    if source == target or (
        source.kind in "iu" and target.kind in "iu" and source.itemsize == target.itemsize
    ):
        return ()
    if target.kind == "b":
        test = "arith.cmpf une," if source.kind == "f" else "arith.cmpi ne,"
        return ("arith.constant {zero} : {t}", f"{test} {{0}}, {{p0}} : {{t}}")
    if source.kind == "f" and target.kind == "f":
        op = "extf" if target.itemsize > source.itemsize else "truncf"
    elif source.kind == "f":
        op = "fptosi" if target.kind == "i" else "fptoui"
    elif target.kind == "f":
        op = "sitofp" if source.kind == "i" else "uitofp"
    elif source.kind == "b" or target.itemsize > source.itemsize:
        op = "extsi" if source.kind == "i" else "extui"
    else:
        op = "trunci"
    return (f"arith.{op} {{0}} : {{t}} to {{r}}",)


# ----------------------------------------------------------------------------- from MLIR to a row
# The operations of casts: the dtype class in which each reads its operand, and writes its result.
CASTS: Mapping[str, tuple[str, str]] = {
    "arith.extsi": ("i", "i"),
    "arith.extui": ("u", "i"),
    "arith.trunci": ("i", "i"),
    "arith.extf": ("f", "f"),
    "arith.truncf": ("f", "f"),
    "arith.sitofp": ("i", "f"),
    "arith.uitofp": ("u", "f"),
    "arith.fptosi": ("f", "i"),
    "arith.fptoui": ("f", "u"),
}

# Predicates of floats that NumPy has no function for, as (functions joined by or, then negated).
FLOAT_PREDICATES: Mapping[str, tuple[tuple[str, ...], bool]] = {
    "one": (("less", "greater"), False),
    "ueq": (("less", "greater"), True),
    "ult": (("greater_equal",), True),
    "ule": (("greater",), True),
    "ugt": (("less_equal",), True),
    "uge": (("less",), True),
}

INTEGER_PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
ALL_FLOAT_PREDICATES = (
    "false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord",
    "ueq", "ugt", "uge", "ult", "ule", "une", "uno", "true",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Row:
    """A scalar op, and the dtype class in which the operation reads its operands."""

    name: str
    kind: str


def _rows_by_operation() -> dict[tuple[str, str], Row]:
    """``(operation, class of the signless operands)`` -> row."""
    table: dict[tuple[str, str], Row] = {}
    # of rows with one meaning for a class (`logical_and`, `bitwise_and`), that for fewer classes
    for row in sorted(SCALAR_OPS.values(), key=lambda row: len(row.mlir)):
        for kind, lines in row.mlir.items():
            if len(lines) != 1 or "{0}, {0}" in lines[0] or row.name == "select":
                continue
            match = re.match(r"([\w.]+)(?: (\w+),)? \{0\}", lines[0])
            assert match is not None
            operation = f"{match[1]} {match[2]}" if match[2] else match[1]
            table.setdefault((operation, "i" if kind == "u" else kind), Row(row.name, kind))
    return table


ROWS_BY_OPERATION = _rows_by_operation()


# ---------------------------------------------------------------------------------------- indices
# Host operations on sizes as operations on indices.
INDEX_OPS: Mapping[str, str] = {
    "add": "arith.addi",
    "sub": "arith.subi",
    "mul": "arith.muli",
    "floordiv": "arith.floordivsi",
    "min": "arith.minsi",
    "max": "arith.maxsi",
}

_MAX_SHIFT = 31


def affine_of(operation: str, left: AffineExpr, right: AffineExpr) -> AffineExpr | None:
    """A host operation on affine expressions as an affine expression, if it is one.

    Those by constants are affine: quotients, remainders, and shifts. MLIR's affine expressions take
    positive constants only.
    """
    if operation == "add":
        return left + right
    if operation == "sub":
        return left - right
    if operation == "mul":
        for factor, other in ((left, right), (right, left)):
            if factor.is_constant:
                return other * factor.constant
    number = right.as_constant()
    if number is None or number < 0 or (number > _MAX_SHIFT and operation in ("lshift", "rshift")):
        return None
    if operation == "lshift":
        return left * (1 << number)
    if operation == "rshift":
        return left.floordiv(1 << number)
    if operation == "floordiv" and number:
        return left.floordiv(number)
    return left.mod(number) if operation == "mod" and number else None
