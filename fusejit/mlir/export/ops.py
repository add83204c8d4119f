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
from fusejit.ir.types import dtype_name

Lines = tuple[str, ...]


def mlir_type(dtype: np.dtype) -> str:
    """The element type in MLIR: ``i32`` for int32 and uint32, ``i1`` for bool."""
    if dtype.kind == "c":
        raise UnsupportedError(
            f"MLIR text of {dtype} is not written; compute on the real and imaginary parts"
        )
    name = dtype_name(dtype)
    return f"i{name[1:]}" if name[0] == "u" else name


def _binary(op: str) -> Lines:
    return (f"{op} {{0}}, {{1}} : {{t}}",)


def _unary(op: str) -> Lines:
    return (f"{op} {{0}} : {{t}}",)


def _by_class(signed: str, unsigned: str, floating: str, boolean: str = "") -> dict[str, Lines]:
    names = {"i": signed, "u": unsigned, "f": floating, "b": boolean}
    return {kind: _binary(name) for kind, name in names.items() if name}


def _comparison(integer: str, floating: str) -> dict[str, Lines]:
    """``lt`` and ``olt``: NumPy's comparisons with NaN are false, but for ``!=``."""
    has_sign = integer not in ("eq", "ne")
    signed, unsigned = (f"s{integer}", f"u{integer}") if has_sign else (integer, integer)
    return _by_class(
        f"arith.cmpi {signed},",
        f"arith.cmpi {unsigned},",
        f"arith.cmpf {floating},",
        f"arith.cmpi {unsigned},",
    )


_SQUARE = {"i": "arith.muli", "u": "arith.muli", "f": "arith.mulf"}
_MATH = {
    "exp": "exp", "exp2": "exp2", "expm1": "expm1",
    "log": "log", "log2": "log2", "log10": "log10", "log1p": "log1p",
    "sin": "sin", "cos": "cos", "tan": "tan", "sinh": "sinh", "cosh": "cosh", "tanh": "tanh",
    "arcsin": "asin", "arccos": "acos", "arctan": "atan",
    "arcsinh": "asinh", "arccosh": "acosh", "arctanh": "atanh",
    "sqrt": "sqrt", "cbrt": "cbrt",
    "floor": "floor", "ceil": "ceil", "trunc": "trunc", "rint": "roundeven",
}  # fmt: skip

# Of rows with one meaning for a class (`logical_and`, `bitwise_and`), the first is the importer's.
SCALAR_FORMS: Mapping[str, Mapping[str, Lines]] = {
    "logical_and": {"b": _binary("arith.andi")},
    "logical_or": {"b": _binary("arith.ori")},
    "logical_not": {"b": ("arith.constant {ones} : {t}", "arith.xori {0}, {p0} : {t}")},
    "bitwise_and": _by_class("arith.andi", "arith.andi", "", "arith.andi"),
    "bitwise_or": _by_class("arith.ori", "arith.ori", "", "arith.ori"),
    "bitwise_xor": _by_class("arith.xori", "arith.xori", "", "arith.xori"),
    "invert": dict.fromkeys(
        "iub", ("arith.constant {ones} : {t}", "arith.xori {0}, {p0} : {t}")
    ),
    "add": _by_class("arith.addi", "arith.addi", "arith.addf", "arith.ori"),
    "subtract": _by_class("arith.subi", "arith.subi", "arith.subf"),
    "multiply": _by_class("arith.muli", "arith.muli", "arith.mulf", "arith.andi"),
    "divide": {"f": _binary("arith.divf")},
    "power": {"f": _binary("math.powf")},
    "negative": {
        "f": _unary("arith.negf"),
        **dict.fromkeys("iu", ("arith.constant {zero} : {t}", "arith.subi {p0}, {0} : {t}")),
    },
    "absolute": {"i": _unary("math.absi"), "f": _unary("math.absf"), "u": (), "b": ()},
    "square": {kind: (f"{op} {{0}}, {{0}} : {{t}}",) for kind, op in _SQUARE.items()},
    "reciprocal": {"f": ("arith.constant {one} : {t}", "arith.divf {p0}, {0} : {t}")},
    "maximum": _by_class("arith.maxsi", "arith.maxui", "arith.maximumf", "arith.ori"),
    "minimum": _by_class("arith.minsi", "arith.minui", "arith.minimumf", "arith.andi"),
    "equal": _comparison("eq", "oeq"),
    "not_equal": _comparison("ne", "une"),
    "less": _comparison("lt", "olt"),
    "less_equal": _comparison("le", "ole"),
    "greater": _comparison("gt", "ogt"),
    "greater_equal": _comparison("ge", "oge"),
    "isnan": {"f": ("arith.cmpf uno, {0}, {0} : {t}",)},
    "select": {"b": ("arith.select {0}, {1}, {2} : {r}",)},
    "copysign": {"f": _binary("math.copysign")},
    "arctan2": {"f": _binary("math.atan2")},
    **{name: {"f": _unary(f"math.{op}")} for name, op in _MATH.items()},
}  # fmt: skip


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
        source.kind in "iu" and target.kind in "iu" and _same_width(source, target)
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


def _same_width(left: np.dtype, right: np.dtype) -> bool:
    return left.itemsize == right.itemsize


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
    for name, forms in SCALAR_FORMS.items():
        for kind, lines in forms.items():
            if len(lines) != 1 or "{0}, {0}" in lines[0] or name == "select":
                continue
            match = re.match(r"([\w.]+)(?: (\w+),)? \{0\}", lines[0])
            assert match is not None
            operation = f"{match[1]} {match[2]}" if match[2] else match[1]
            table.setdefault((operation, "i" if kind == "u" else kind), Row(name, kind))
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


def affine_of(operation: str, left: AffineExpr, right: AffineExpr) -> AffineExpr | None:
    """A row of `INDEX_OPS` on affine expressions as an affine expression, if it is one."""
    if operation == "add":
        return left + right
    if operation == "sub":
        return left - right
    if operation == "mul":
        for factor, other in ((left, right), (right, left)):
            if factor.is_constant:
                return other * factor.constant
    if operation == "floordiv" and right.is_constant and right.constant:
        return left.floordiv(right.constant)
    return None
