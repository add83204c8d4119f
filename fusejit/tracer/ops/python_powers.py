"""Python's ``base ** exponent`` on numbers of which one is known only in the kernel.

What Python computes in other ways (a float for a negative exponent of an int, an int of more than
64 bits, a complex number) or refuses ends the call by an `Assert`; where the bounds of a loop show
that it cannot happen, there is none.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fusejit.ir.affine import AffineExpr
from fusejit.ir.ops import Assert
from fusejit.ir.payload import PayloadBuilder
from fusejit.tracer.builder.primitives import rejects_complex
from fusejit.tracer.builder.shapes import Varies
from fusejit.tracer.builder.trace import current_trace
from fusejit.tracer.ops.elementwise_op import Compute, emit_scalar
from fusejit.tracer.ops.kernel_numbers import kernel_number
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.operand_types import BOOL, F64, I64
from fusejit.tracer.values.symbolic_number import SymbolicNumber

_LARGEST = 2**63 - 1
_SURELY_FITS = 2.0**62  # what a rounded power may be at most


@rejects_complex("a power")
def integer_power(base: Any, exponent: Any) -> TracedArray:
    """An int to the power of an int, either known only in the kernel."""
    limit = _largest_exponent(base)
    bounds = [AffineExpr.const(0), None if limit is None else AffineExpr.const(limit)]
    shown = _is_shown(exponent, bounds)
    loop = [I64, I64]
    if not shown:

        def is_allowed(builder: PayloadBuilder, refs: list[int]) -> int:
            zero = builder.const(0, I64)
            ok = builder.op("greater_equal", [refs[1], zero], BOOL)
            if limit is not None:
                high = builder.op("less_equal", [refs[1], builder.const(limit, I64)], BOOL)
            elif type(base) is int:
                return ok  # -1, 0 or 1
            else:
                x, y = (builder.cast(r, F64) for r in refs)
                size = builder.op("power", [builder.op("absolute", [x], F64), y], F64)
                high = builder.op("less_equal", [size, builder.const(_SURELY_FITS, F64)], BOOL)
            return builder.op("logical_and", [ok, high], BOOL)

        _check(is_allowed, (base, exponent), loop, "a Python int fits 64 bits", "64 bits")

    def compute(builder: PayloadBuilder, refs: list[int]) -> int:
        if type(base) is int and base == 2:
            return builder.op("left_shift", [builder.const(1, I64), refs[1]], I64)
        return builder.op("power", refs, I64)

    return _emit("power", compute, (base, exponent), loop, I64)


@rejects_complex("a power")
def float_power(base: Any, exponent: Any) -> TracedArray:
    """A power of which one operand is a float, or the exponent of an int is negative.

    Python raises for 0 to a negative power and for an overflow, and returns a complex number for a
    negative base and an exponent that is not whole. Infinities and NaN are as good as in NumPy.
    """
    numbers, loop = (base, exponent), [F64, F64]
    is_known = type(exponent) in (int, float)
    if not is_known or exponent < 0:
        _check(_is_not_zero, numbers, loop, "a base is not 0", "0.0 ** -1")
    if not is_known or exponent % 1 != 0:
        _check(_is_real, numbers, loop, "a power is not a complex number", "complex power")
    _check(_is_finite, numbers, loop, "a power is a finite number", "float power")
    return _emit("power", lambda builder, refs: builder.op("power", refs, F64), numbers, loop, F64)


def _is_not_zero(builder: PayloadBuilder, refs: list[int]) -> int:
    zero = builder.const(0.0, F64)
    is_zero = builder.op("equal", [refs[0], zero], BOOL)
    is_negative = builder.op("less", [refs[1], zero], BOOL)
    return _neither(builder, builder.op("logical_and", [is_zero, is_negative], BOOL))


def _is_real(builder: PayloadBuilder, refs: list[int]) -> int:
    base, exponent = refs
    is_negative = builder.op("less", [base, builder.const(0.0, F64)], BOOL)
    is_segment = builder.op("not_equal", [exponent, builder.op("trunc", [exponent], F64)], BOOL)
    for ref in refs:
        is_finite = builder.op("isfinite", [ref], BOOL)
        is_segment = builder.op("logical_and", [is_segment, is_finite], BOOL)
    return _neither(builder, builder.op("logical_and", [is_negative, is_segment], BOOL))


def _is_finite(builder: PayloadBuilder, refs: list[int]) -> int:
    made = builder.op("isfinite", [builder.op("power", refs, F64)], BOOL)
    for ref in refs:
        special = _neither(builder, builder.op("isfinite", [ref], BOOL))
        made = builder.op("logical_or", [made, special], BOOL)
    return made


def _neither(builder: PayloadBuilder, ref: int) -> int:
    return builder.op("logical_not", [ref], BOOL)


def _largest_exponent(base: Any) -> int | None:
    """The exponent up to which an int's powers fit 64 bits; None where it depends or all do."""
    if type(base) is not int or abs(base) < 2:
        return None
    exponent = 0
    while abs(base) ** (exponent + 1) <= _LARGEST:
        exponent += 1
    return exponent


def _is_shown(exponent: Any, bounds: list[AffineExpr | None]) -> bool:
    """Whether the bounds of a loop keep an exponent within given ones in this call."""
    low, high = bounds
    if not isinstance(exponent, SymbolicNumber) or exponent.affine is None or high is None:
        return False
    decisions, reason = current_trace().decisions, "powers of integers fit 64 bits"
    try:
        return decisions.at_most(low or 0, exponent.affine, reason) and decisions.at_most(
            exponent.affine, high, reason
        )
    except Varies:
        return False


def _check(
    compute: Compute, numbers: tuple[Any, ...], loop: list[np.dtype], reason: str, error: str
) -> None:
    ok = _emit("power_allowed", compute, numbers, loop, BOOL).value()
    current_trace().emit(Assert(condition=ok, reason=reason, error=error))


def _emit(
    name: str,
    compute: Compute,
    numbers: tuple[Any, ...],
    loop: list[np.dtype],
    dtype: np.dtype,
) -> TracedArray:
    kernel = [
        kernel_number(n) if isinstance(n, SymbolicNumber) and n.is_local else n for n in numbers
    ]
    return emit_scalar(name, kernel, loop, dtype, compute)
