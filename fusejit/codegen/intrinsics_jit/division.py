"""Division in LLVM IR with NumPy's answers, written so that loops of it vectorise.

No processor divides vectors of integers, so quotients of integers go through floats:

- 8 and 16 bits through float32, 32 bits through float64: ``(a + 0.5) * (1 / b)`` is at least
  ``0.5 / b`` away from every integer, which is more than its error, so its floor is exact;
- 64 bits through ``a * (1 / b)`` in float64, which is off by a few thousand at most, then once more
  for the remainder, then steps of one.

A positive constant needs no float: LLVM makes the division a multiplication, and a power of two is
a shift or a mask. Divisors that a nest leaves as they are have multipliers of their own, see
`fusejit.codegen.intrinsics.uniform_division`.

For numbers on their own (``scalar_form``: nothing to vectorise) the processor's division is three
to six times faster than the way through floats.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from fusejit.codegen.intrinsics_jit.module_symbols import Value, call_c, inside_or
from fusejit.codegen.machine.numba_api import ir


def _call_llvm(builder: Any, name: str, args: list[Value]) -> Value:
    suffix = "f32" if isinstance(args[0].type, ir.FloatType) else "f64"
    return call_c(builder, f"llvm.{name}.{suffix}", args[0].type, *args)


# -------------------------------------------------------------------------------------- integers
def _safe_divisor(builder: Any, integer: Any, b: Value) -> Value:
    """1 for 0 (and for -1, by which INT_MIN cannot be divided), else b; uniform where b is."""
    one = ir.Constant(b.type, 1)
    if not integer.signed:
        return builder.select(builder.icmp_unsigned("==", b, ir.Constant(b.type, 0)), one, b)
    is_special = builder.icmp_unsigned("<", builder.add(b, one), ir.Constant(b.type, 2))
    return builder.select(is_special, one, b)


def _is_positive_constant(integer: Any, b: Value) -> bool:
    constant = getattr(b, "constant", None)
    return bool(integer.signed and isinstance(constant, int) and constant > 0)


def _floordiv_by_constant(builder: Any, a: Value, b: Value) -> Value:
    """``~(~a / b)`` for negative `a`, without a select: LLVM makes unsigned division a multiply."""
    sign = builder.ashr(a, ir.Constant(a.type, a.type.width - 1))
    magnitude = builder.xor(a, sign)
    # The top bit is 0 already; LLVM divides with fewer instructions when it can see that.
    magnitude = builder.and_(magnitude, ir.Constant(a.type, 2 ** (a.type.width - 1) - 1))
    return builder.xor(builder.udiv(magnitude, b), sign)


def _is_int_constant(b: Value) -> bool:
    """Whether a divisor is a number other than 0 and -1."""
    number = getattr(b, "constant", None)
    return isinstance(number, int) and number not in (0, -1)


def _floordiv_by_number(builder: Any, integer: Any, a: Value, b: Value) -> Value:
    """A constant divisor: what LLVM makes of it."""
    if not integer.signed:
        return builder.udiv(a, b)
    quotient = builder.sdiv(a, b)
    remainder = builder.sub(a, builder.mul(quotient, b))
    return builder.add(quotient, builder.sext(_is_opposite(builder, remainder, b), a.type))


def _floor_quotient(builder: Any, integer: Any, a: Value, b: Value) -> Value:
    """``floor(a / b)`` for b neither 0 nor -1."""
    if integer.bitwidth == 64:
        return (_floordiv_int64 if integer.signed else _floordiv_uint64)(builder, a, b)
    real = ir.FloatType() if integer.bitwidth < 32 else ir.DoubleType()
    to_float = builder.sitofp if integer.signed else builder.uitofp
    divisor = to_float(b, real)
    half = ir.Constant(real, 0.5)
    if integer.signed:
        half = _call_llvm(builder, "copysign", [half, divisor])
    inverse = builder.fdiv(ir.Constant(real, 1.0), divisor)
    ratio = builder.fmul(builder.fadd(to_float(a, real), half), inverse)
    if not integer.signed:
        return builder.fptoui(ratio, a.type)
    return builder.fptosi(_call_llvm(builder, "floor", [ratio]), a.type)


def _is_opposite(builder: Any, remainder: Value, b: Value) -> Value:
    """Whether a remainder has the other sign than the divisor."""
    zero = ir.Constant(b.type, 0)
    not_zero = builder.icmp_signed("!=", remainder, zero)
    differs = builder.icmp_signed("<", builder.xor(remainder, b), zero)
    return builder.and_(not_zero, differs)


def _floordiv_int64(builder: Any, a: Value, b: Value) -> Value:
    double, zero = ir.DoubleType(), ir.Constant(a.type, 0)
    inverse = builder.fdiv(ir.Constant(double, 1.0), builder.sitofp(b, double))
    below = ir.Constant(double, 2.0**63 - 1024)  # 2**63 itself does not fit
    estimate = builder.fmul(builder.sitofp(a, double), inverse)
    too_large = builder.fcmp_ordered(">", estimate, below)
    quotient = builder.fptosi(builder.select(too_large, below, estimate), a.type)
    rest = builder.sub(a, builder.mul(quotient, b))
    more = builder.fptosi(builder.fmul(builder.sitofp(rest, double), inverse), a.type)
    quotient = builder.add(quotient, more)
    rest = builder.sub(rest, builder.mul(more, b))
    for _ in range(2):
        opposite = _is_opposite(builder, rest, b)
        quotient = builder.add(quotient, builder.sext(opposite, a.type))
        rest = builder.add(rest, builder.select(opposite, b, zero))
    after = builder.sub(rest, b)  # where the signs are the same this does not overflow
    same = builder.icmp_signed(">=", builder.xor(rest, b), zero)
    reaches = builder.and_(same, builder.not_(_is_opposite(builder, after, b)))
    another = builder.and_(reaches, builder.icmp_signed("!=", rest, zero))
    return builder.add(quotient, builder.zext(another, a.type))


def _floordiv_uint64(builder: Any, a: Value, b: Value) -> Value:
    double, zero, one = ir.DoubleType(), ir.Constant(a.type, 0), ir.Constant(a.type, 1)
    inverse = builder.fdiv(ir.Constant(double, 1.0), builder.uitofp(b, double))
    below = ir.Constant(double, 2.0**64 - 2048)
    estimate = builder.fmul(builder.uitofp(a, double), inverse)
    too_large = builder.fcmp_ordered(">", estimate, below)
    quotient = builder.fptoui(builder.select(too_large, below, estimate), a.type)
    # below a divisor of 2**62 the remainder is a signed number
    rest = builder.sub(a, builder.mul(quotient, b))
    more = builder.fptosi(builder.fmul(builder.sitofp(rest, double), inverse), a.type)
    quotient = builder.add(quotient, more)
    rest = builder.sub(rest, builder.mul(more, b))
    for _ in range(2):
        negative = builder.icmp_signed("<", rest, zero)
        quotient = builder.sub(quotient, builder.select(negative, one, zero))
        rest = builder.add(rest, builder.select(negative, b, zero))
    another = builder.icmp_unsigned(">=", rest, b)
    quotient = builder.add(quotient, builder.zext(another, a.type))
    few, rest = zero, a  # at most 3 above
    for _ in range(3):
        fits = builder.icmp_unsigned(">=", rest, b)
        few = builder.add(few, builder.zext(fits, a.type))
        rest = builder.sub(rest, builder.select(fits, b, zero))
    is_large = builder.icmp_unsigned(">=", b, ir.Constant(b.type, 2**62))
    return builder.select(is_large, few, quotient)


def _exponent_of_two(b: Value) -> int | None:
    """k of a constant divisor ``2**k``."""
    number = getattr(b, "constant", None)
    if isinstance(number, int) and number > 0 and number & (number - 1) == 0:
        return number.bit_length() - 1
    return None


def _hardware_divmod(builder: Any, integer: Any, a: Value, b: Value) -> tuple[Value, Value]:
    """``divmod(a, b)`` for b neither 0 nor -1 by the processor's own division."""
    if not integer.signed:
        return builder.udiv(a, b), builder.urem(a, b)
    remainder = builder.srem(a, b)
    opposite = _is_opposite(builder, remainder, b)
    quotient = builder.add(builder.sdiv(a, b), builder.sext(opposite, a.type))
    rest = builder.select(opposite, b, ir.Constant(a.type, 0))
    return quotient, builder.add(remainder, rest)


def emit_int_floordiv(
    builder: Any, integer: Any, a: Value, b: Value, *, scalar_form: bool = False
) -> Value:
    """``a // b``; 0 for b == 0, INT_MIN for INT_MIN // -1."""
    if (exponent := _exponent_of_two(b)) is not None:
        shift = builder.ashr if integer.signed else builder.lshr
        return shift(a, ir.Constant(a.type, exponent))
    if _is_positive_constant(integer, b):
        return _floordiv_by_constant(builder, a, b)
    if _is_int_constant(b):
        return _floordiv_by_number(builder, integer, a, b)
    divisor = _safe_divisor(builder, integer, b)
    if scalar_form:
        quotient, _ = _hardware_divmod(builder, integer, a, divisor)
    else:
        quotient = _floor_quotient(builder, integer, a, divisor)
    zero = ir.Constant(a.type, 0)
    if integer.signed:
        is_minus_one = builder.icmp_signed("==", b, ir.Constant(b.type, -1))
        quotient = builder.select(is_minus_one, builder.neg(a), quotient)
    return builder.select(builder.icmp_unsigned("==", b, zero), zero, quotient)


def emit_int_mod(
    builder: Any, integer: Any, a: Value, b: Value, *, scalar_form: bool = False
) -> Value:
    """``a - (a // b) * b``; 0 for b == 0."""
    if (exponent := _exponent_of_two(b)) is not None:
        return builder.and_(a, ir.Constant(a.type, 2**exponent - 1))
    if _is_positive_constant(integer, b):
        quotient = _floordiv_by_constant(builder, a, b)
    elif _is_int_constant(b):
        quotient = _floordiv_by_number(builder, integer, a, b)
    else:
        b = _safe_divisor(builder, integer, b)  # a % 1 is 0, the answer for 0 and for -1
        if scalar_form:
            return _hardware_divmod(builder, integer, a, b)[1]
        quotient = _floor_quotient(builder, integer, a, b)
    return builder.sub(a, builder.mul(quotient, b))


def emit_near_mod(builder: Any, integer: Any, a: Value, b: Value) -> Value:
    """`emit_int_mod` where ``a`` mostly is the remainder or one divisor away from it."""
    compare = builder.icmp_signed if integer.signed else builder.icmp_unsigned
    near = builder.select(compare("<", a, b), a, builder.sub(a, b))
    if integer.signed:
        zero = ir.Constant(a.type, 0)
        near = builder.select(compare("<", a, zero), builder.add(a, b), near)
        # by a negative number nothing is near: its remainders are negative
        inside = builder.and_(compare(">=", near, zero), compare("<", near, b))
    else:
        inside = compare("<", near, b)
    far = partial(emit_int_mod, builder, integer, a, b, scalar_form=True)
    return inside_or(builder, inside, near, far)


def emit_int_fmod(builder: Any, integer: Any, a: Value, b: Value) -> Value:
    """``a - trunc(a / b) * b``, the sign that of a; 0 for b == 0."""
    modulus = emit_int_mod(builder, integer, a, b)
    if not integer.signed:
        return modulus
    zero = ir.Constant(a.type, 0)
    towards_a = builder.icmp_signed("<", builder.xor(modulus, a), zero)
    adjust = builder.and_(towards_a, builder.icmp_signed("!=", modulus, zero))
    return builder.sub(modulus, builder.select(adjust, b, zero))


# ---------------------------------------------------------------------------------------- floats
def _emit_divmod(builder: Any, a: Value, b: Value) -> tuple[Value, Value]:
    """(floor quotient, remainder) by NumPy's algorithm.

    Source: ``npy_divmod`` in numpy/_core/src/npymath/npy_math_internal.h.src, with selects for
    branches.
    """
    zero, one = ir.Constant(a.type, 0.0), ir.Constant(a.type, 1.0)
    fmod = builder.frem(a, b)
    quotient = builder.fdiv(builder.fsub(a, fmod), b)
    not_zero = builder.fcmp_unordered("!=", fmod, zero)
    b_below = builder.fcmp_ordered("<", b, zero)
    mod_below = builder.fcmp_ordered("<", fmod, zero)
    adjust = builder.and_(not_zero, builder.xor(b_below, mod_below))
    signed_zero = _call_llvm(builder, "copysign", [zero, b])
    modulus = builder.select(adjust, builder.fadd(fmod, b), fmod)
    modulus = builder.select(not_zero, modulus, signed_zero)
    quotient = builder.select(adjust, builder.fsub(quotient, one), quotient)
    floor = _call_llvm(builder, "floor", [quotient])
    above_half = builder.fcmp_ordered(">", builder.fsub(quotient, floor), ir.Constant(a.type, 0.5))
    floor = builder.select(above_half, builder.fadd(floor, one), floor)
    exact = builder.fdiv(a, b)
    zero_quotient = _call_llvm(builder, "copysign", [zero, exact])
    floor = builder.select(builder.fcmp_unordered("!=", quotient, zero), floor, zero_quotient)
    by_zero = builder.fcmp_ordered("==", b, zero)
    return builder.select(by_zero, exact, floor), builder.select(by_zero, fmod, modulus)


def emit_float_floordiv(builder: Any, real: Any, a: Value, b: Value) -> Value:
    """``a // b`` in NumPy's bits."""
    return _emit_divmod(builder, a, b)[0]


def emit_float_mod(builder: Any, real: Any, a: Value, b: Value) -> Value:
    """``a % b`` in NumPy's bits."""
    return _emit_divmod(builder, a, b)[1]
