"""Where Python raises for a number and NumPy does not: each is an `Assert` in the kernel.

``1 / x`` of Python numbers raises ZeroDivisionError for 0, ``math.sqrt(x)`` ValueError below 0,
``int(x)`` for NaN and infinity, where the loops of NumPy have infinity, NaN and some integer. What
ranges show not to happen (`fusejit.tracer.indexing.integer_overflow`) is not checked.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fusejit.ir.ops import Assert
from fusejit.ir.payload import PayloadBuilder
from fusejit.tracer.builder.trace import current_trace
from fusejit.tracer.ops.elementwise_op import emit_scalar
from fusejit.tracer.values.array import ARRAY_OPS, TracedArray
from fusejit.tracer.values.operand_types import BOOL, F64, I64, U64

_END = 2.0**63  # of what int64 holds
Condition = Callable[[PayloadBuilder, int], int]

DIVISOR = "divisor"
"""The name of the op that asks whether a divisor is not 0."""

_SIGNS: dict[np.ufunc, str] = {np.true_divide: "/", np.floor_divide: "//", np.remainder: "%"}


def check_divisor(ufunc: np.ufunc, divisor: Any, is_float: bool) -> None:
    """Ensure that what Python divides by is not 0."""
    dtype = F64 if divisor.dtype == F64 else I64

    def differs(builder: PayloadBuilder, ref: int) -> int:
        return builder.op("not_equal", [ref, builder.const(0, dtype)], BOOL)

    kind = "float" if is_float else "int"
    _check(DIVISOR, divisor, dtype, differs, "a divisor is not 0", f"{kind} {_SIGNS[ufunc]} 0")


def check_domain(function: str, number: Any, *second: Any) -> None:
    """Ensure that a function of `math` has a value for a float, or for two."""
    if function == "fmod":
        why = "math.fmod has a value"
        _check("domain", second[0], F64, _not("equal"), why, "math domain")
    if function in _DOMAINS:
        inside, error = _DOMAINS[function]
        _check("domain", number, F64, inside, f"math.{function} has a value", error)


def check_scalar_fits(number: Any, dtype: np.dtype) -> None:
    """Ensure that NumPy can store a scalar into integers as it does: as ``int(number)``."""
    info = np.iinfo(dtype)
    kind = number.dtype.kind
    if kind == "i":
        as_int = TracedArray.of_value(current_trace(), ARRAY_OPS.int_value(number))
        ARRAY_OPS.check_fits(as_int, dtype)
        return
    if kind == "u":

        def is_low(builder: PayloadBuilder, ref: int) -> int:
            most = builder.const(int(info.max), U64)
            return builder.op("less_equal", [builder.cast(ref, U64), most], BOOL)

        _check("fits", number, number.dtype, is_low, f"a scalar fits {dtype}", "OverflowError")
        return

    def is_within(builder: PayloadBuilder, ref: int) -> int:
        ref = builder.op("trunc", [builder.cast(ref, F64)], F64)
        return _is_between(builder, ref, float(info.min), info.max + 1.0)

    _check("convertible", number, number.dtype, _is_a_number, "a float is not NaN", "int of NaN")
    _check("convertible", number, number.dtype, _not_infinite, "a float is finite", "int of inf")
    _check("fits", number, number.dtype, is_within, f"a scalar fits {dtype}", "OverflowError")


def check_convertible(number: Any) -> None:
    """Ensure that a float has a whole number of 64 bits."""

    def fits(builder: PayloadBuilder, ref: int) -> int:
        return _is_between(builder, ref, -_END, _END)

    _check("convertible", number, F64, _is_a_number, "a float is not NaN", "int of NaN")
    _check("convertible", number, F64, fits, "a Python int fits 64 bits", "64 bits")


def _check(
    name: str, number: Any, dtype: np.dtype, condition: Condition, reason: str, error: str
) -> None:
    ok = emit_scalar(name, [number], [dtype], BOOL, lambda b, refs: condition(b, refs[0]))
    integer = number.value() if error == "OverflowError" else None
    check = Assert(condition=ok.value(), reason=reason, error=error, integer=integer)
    current_trace().emit(check)


def _is_a_number(builder: PayloadBuilder, ref: int) -> int:
    return builder.op("equal", [ref, ref], BOOL)


def _is_between(builder: PayloadBuilder, ref: int, low: float, high: float) -> int:
    """``low <= ref < high`` of a float."""
    above = builder.op("greater_equal", [ref, builder.const(low, F64)], BOOL)
    below = builder.op("less", [ref, builder.const(high, F64)], BOOL)
    return builder.op("logical_and", [above, below], BOOL)


def _not(name: str, limit: float = 0.0, *, in_size: bool = False) -> Condition:
    """Not compared with a limit in this way, as it is or in size; of NaN it is true."""

    def holds(builder: PayloadBuilder, ref: int) -> int:
        if in_size:
            ref = builder.op("absolute", [ref], F64)
        compared = builder.op(name, [ref, builder.const(limit, F64)], BOOL)
        return builder.op("logical_not", [compared], BOOL)

    return holds


def _not_infinite(builder: PayloadBuilder, ref: int) -> int:
    return builder.op("logical_not", [builder.op("isinf", [ref], BOOL)], BOOL)


def _no_overflow(function: str) -> Condition:
    """``exp`` of what is no infinity is none."""

    def holds(builder: PayloadBuilder, ref: int) -> int:
        made = _not_infinite(builder, builder.op(function, [ref], F64))
        return builder.op("logical_or", [made, builder.op("isinf", [ref], BOOL)], BOOL)

    return holds


_DOMAINS: dict[str, tuple[Condition, str]] = {
    "sqrt": (_not("less"), "math domain"),
    "log": (_not("less_equal"), "math domain"),
    "sin": (_not_infinite, "math domain"),
    "cos": (_not_infinite, "math domain"),
    "tan": (_not_infinite, "math domain"),
    "exp": (_no_overflow("exp"), "math range"),
    "exp2": (_no_overflow("exp2"), "math range"),
    "expm1": (_no_overflow("expm1"), "math range"),
    "sinh": (_no_overflow("sinh"), "math range"),
    "cosh": (_no_overflow("cosh"), "math range"),
    "log10": (_not("less_equal"), "math domain"),
    "log2": (_not("less_equal"), "math domain"),
    "log1p": (_not("less_equal", -1.0), "math domain"),
    "asin": (_not("greater", 1.0, in_size=True), "math domain"),
    "acos": (_not("greater", 1.0, in_size=True), "math domain"),
    "acosh": (_not("less", 1.0), "math domain"),
    "atanh": (_not("greater_equal", 1.0, in_size=True), "math domain"),
    "fmod": (_not_infinite, "math domain"),
}
