"""Powers: ``base ** exponent`` with the short forms that NumPy takes for one exponent."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fusejit.ir.host import HostExpr
from fusejit.ir.ops import Assert
from fusejit.ir.payload import PayloadBuilder
from fusejit.ir.types import Kind
from fusejit.tracer.builder.primitives import PRIMITIVES
from fusejit.tracer.ops.elementwise_op import Compute
from fusejit.tracer.program.fallback import numpy_raises
from fusejit.tracer.program.locations import unsupported
from fusejit.tracer.values.array import ARRAY_OPS, TracedArray
from fusejit.tracer.values.operand_types import F64, Operand, literal_as, require_number_fits
from fusejit.tracer.values.symbolic_number import SymbolicNumber, apply_host

_CLASSES = (2, 0.5, 1, -1, 0)
NEGATIVE = "Integers to negative integer powers are not allowed."


def power(operands: Sequence[Operand], loop: list[np.dtype]) -> Compute:
    """``base ** exponent``; a single exponent decides its class (-1, 0, 0.5, 1, 2, other).

    Integers are multiplied modulo the width, so the order does not show: a constant exponent is
    written out as squares and products.
    """
    base, exponent = operands
    dtype = loop[0]
    known = _exponent_class(exponent)
    number = None
    if dtype.kind in "iu":
        for operand in operands:
            require_number_fits(operand, dtype)
            if operand.literal is not None:
                literal_as(operand.literal, dtype)
        number = _integer_exponent(exponent, base)
    scalar_base = base.array is not None and base.array.kind is Kind.SCALAR
    if known == 0.5 and (scalar_base or base.array is None):
        known = None  # NumPy's scalar power does not use sqrt

    def compute(builder: PayloadBuilder, refs: list[int]) -> int:
        x = refs[0]
        if number is not None:
            return _repeated(builder, x, number, dtype)
        if known == 0.5:
            return builder.op("sqrt", [x], dtype)
        if known == -1:
            return builder.op("reciprocal", [x], dtype)
        if known in (0, 1, 2):
            return _repeated(builder, x, int(known), dtype)
        return builder.op("power", refs, dtype)

    return compute


def float_power(operands: Sequence[Operand], loop: list[np.dtype]) -> Compute:
    """``np.float_power``: in float64, and without short forms."""
    return lambda builder, refs: builder.op("power", refs, F64)


def _integer_exponent(exponent: Operand, base: Operand) -> int | None:
    """The exponent of integers if it is constant; it is never negative, or NumPy raises.

    It does not where there are no elements, which may as well be raised to 0.
    """
    negative = f"ValueError: {NEGATIVE}"
    if exponent.array is not None:
        if exponent.array.dtype.kind == "i":
            _check_exponents(exponent.array)
        return None
    if exponent.number is None:
        if exponent.literal < 0:
            if _has_no_elements(base):
                return 0
            raise numpy_raises(negative)
        return int(exponent.literal)
    if exponent.number.value.__class__ is not bool and apply_host("lt", exponent.number, 0):
        if _has_no_elements(base):
            return 0
        raise numpy_raises(negative)
    return None


def _has_no_elements(operand: Operand) -> bool:
    array = operand.array
    if array is None:
        return False
    decisions = array.trace.decisions
    if array.trace.computes_everywhere or any(map(decisions.is_local, array.extents)):
        what = "a power of integers whose exponents may be negative"
        raise unsupported(what, "convert them to floats")
    reason = "an array without elements has no powers"
    return any(decisions.equal(extent, 0, reason) for extent in array.extents)


def _check_exponents(exponents: TracedArray) -> None:
    """Ensure that no exponent of integers is negative, as NumPy does for every element."""
    trace = exponents.trace
    if trace.computes_everywhere:
        what = "powers of the integers that a mask selects, whose exponents NumPy checks"
        raise unsupported(what, "convert the exponents to an unsigned dtype")
    allowed = ARRAY_OPS.compute(np.greater_equal, (exponents, 0))
    if exponents.ndim:
        allowed = PRIMITIVES[np.all](allowed)
    trace.emit(Assert(condition=allowed.value(), reason=NEGATIVE, error="integer power"))


def _repeated(builder: PayloadBuilder, x: int, exponent: int, dtype: np.dtype) -> int:
    """``x ** exponent`` by squares and products."""
    result: int | None = None
    while exponent:
        if exponent % 2:
            result = x if result is None else builder.op("multiply", [result, x], dtype)
        exponent //= 2
        if exponent:
            x = builder.op("square", [x], dtype)
    return builder.const(1, dtype) if result is None else result


def _exponent_class(exponent: Operand) -> float | None:
    """-1, 0, 0.5, 1, 2 or None; guarded for an exponent that each call computes."""
    if exponent.array is not None:
        return None
    if exponent.number is None:
        return next((c for c in _CLASSES if exponent.literal == c), None)
    number = exponent.number
    return next((c for c in _CLASSES if decide_equal(number, c)), None)


def decide_equal(number: SymbolicNumber, exponent: float) -> bool:
    """Decide whether a number that each call computes is a certain exponent."""
    decisions = number.trace.decisions
    if number.affine is not None:
        is_whole = isinstance(exponent, int)
        return is_whole and decisions.equal(number.affine, int(exponent), "exponent")
    same = HostExpr("eq", (number.expr, HostExpr.const(exponent)))
    return decisions.condition(same, bool(number.value == exponent), "class of an exponent")
