"""Jitted meaning of `fusejit.codegen.intrinsics.uniform_division`: a product, shifts and masks.

A signed `a` is divided by size. With ``n = a`` for a positive divisor and ``n = -a`` for a negative
one, and ``d = |b|``, the floor of ``n / d`` is ``n / d`` in unsigned numbers, or ``~(~n / d)``
where n is negative; ``-INT_MIN``, which is INT_MIN, counts as the unsigned number it is.
"""

from __future__ import annotations

from typing import Any

from fusejit.codegen.intrinsics_jit.module_symbols import INT64, Value, call_c, int64
from fusejit.codegen.machine.numba_api import emitted, ir, types

_HALF = 2**32 - 1


def _bits(integer: Any) -> int:
    """Width of the arithmetic: products of 8 bits are made in 16."""
    return max(int(integer.bitwidth), 16)


def _size(builder: Any, integer: Any, b: Value) -> Value:
    """``|b|``, unsigned."""
    if not integer.signed:
        return b
    sign = builder.ashr(b, ir.Constant(b.type, integer.bitwidth - 1))
    return builder.sub(builder.xor(b, sign), sign)


def _length(builder: Any, d: Value) -> Value:
    """``ceil(log2(d))`` of an unsigned d from 1 on."""
    before = builder.sub(d, ir.Constant(d.type, 1))
    zeros = builder.ctlz(before, ir.Constant(ir.IntType(1), 0))
    return builder.sub(ir.Constant(d.type, d.type.width), zeros)


def _high_product(builder: Any, a: Value, m: Value) -> Value:
    """The upper half of the product of two unsigned numbers."""
    kind = a.type
    if kind.width < 64:
        # A product of twice the width, shifted: only of this form LLVM keeps vectors of `kind`.
        width = ir.Constant(ir.IntType(32), kind.width)
        return call_c(builder, f"llvm.umul.fix.i{kind.width}", kind, a, m, width)
    # Products of 32 bits: those of 64 are scalar instructions, for which LLVM takes vectors apart
    # where it sees that these are one; that does not see through a piece of assembler.
    mask, half = int64(_HALF), int64(32)
    assembler = ir.InlineAsm(ir.FunctionType(INT64, [INT64]), "", "=r,0")
    m_low = builder.call(assembler, [builder.and_(m, mask)])
    for attribute in ("nounwind", "willreturn", "memory(none)"):  # what is taken out of loops has
        set.add(m_low.attributes, attribute)
    m_low = builder.and_(m_low, mask)
    m_high = builder.lshr(m, half)
    a_low, a_high = builder.and_(a, mask), builder.lshr(a, half)
    low = builder.lshr(builder.mul(a_low, m_low), half)
    first = builder.add(builder.mul(a_high, m_low), low)
    second = builder.add(builder.mul(a_low, m_high), builder.and_(first, mask))
    high = builder.add(builder.mul(a_high, m_high), builder.lshr(first, half))
    return builder.add(high, builder.lshr(second, half))


def _wide_quotient(builder: Any, high: Value, d: Value) -> Value:
    """``floor(2**64 * high / d)`` for ``high < d``, digit by digit of 32 bits.

    Source: Henry S. Warren, Hacker's Delight, 2nd edition, figure 9-3 (``divlu``).
    """
    half, mask = int64(32), int64(_HALF)
    one, zero = int64(1), int64(0)
    shift = builder.ctlz(d, ir.Constant(ir.IntType(1), 0))
    d = builder.shl(d, shift)
    d_high, d_low = builder.lshr(d, half), builder.and_(d, mask)
    rest = builder.shl(high, shift)
    digits = []
    for _ in range(2):
        digit = builder.udiv(rest, d_high)
        left = builder.sub(rest, builder.mul(digit, d_high))
        for _ in range(2):
            fits = builder.icmp_unsigned("<=", left, mask)  # else the digit is small enough
            is_high = builder.icmp_unsigned(">", digit, mask)
            above = builder.icmp_unsigned(">", builder.mul(digit, d_low), builder.shl(left, half))
            is_high = builder.and_(fits, builder.or_(is_high, above))
            digit = builder.sub(digit, builder.select(is_high, one, zero))
            left = builder.add(left, builder.select(is_high, d_high, zero))
        rest = builder.sub(builder.shl(rest, half), builder.mul(digit, d))
        digits.append(digit)
    return builder.add(builder.shl(digits[0], half), digits[1])


def _multiplier(builder: Any, integer: Any, b: Value) -> Value:
    bits = _bits(integer)
    size, made = _size(builder, integer, b), ir.IntType(bits)
    zero, one = int64(0), int64(1)
    d = size if bits == 64 else builder.zext(size, INT64)
    is_zero = builder.icmp_unsigned("==", d, zero)
    d = builder.select(is_zero, one, d)
    if integer.bitwidth == 8:
        quotient = builder.udiv(int64(2**bits), d)
        is_zero = builder.icmp_unsigned("<=", size, ir.Constant(size.type, 1))
    else:
        length = _length(builder, d)
        power = builder.shl(one, builder.and_(length, int64(63)))
        is_whole = builder.icmp_unsigned("==", length, int64(64))
        power = builder.select(is_whole, zero, power)
        over = builder.sub(power, d)
        if bits == 64:
            quotient = _wide_quotient(builder, over, d)
        else:
            quotient = builder.udiv(builder.shl(over, int64(bits)), d)
    found = builder.select(is_zero, zero, builder.add(quotient, one))
    return found if bits == 64 else builder.trunc(found, made)


def _unsigned_quotient(builder: Any, a: Value, d: Value, m: Value, is_byte: bool) -> Value:
    """``a / d``, 0 for d == 0."""
    t = _high_product(builder, a, m)
    kind = a.type
    zero, one = ir.Constant(kind, 0), ir.Constant(kind, 1)
    if is_byte:
        return builder.select(builder.icmp_unsigned("==", d, one), a, t)
    length = _length(builder, d)
    is_one = builder.icmp_unsigned("==", d, one)
    first = builder.select(is_one, zero, one)
    second = builder.select(is_one, zero, builder.sub(length, one))  # all bits but one for d == 0
    half = builder.lshr(builder.sub(a, t), first)
    return builder.lshr(builder.add(t, half), second)


def _quotient(builder: Any, integer: Any, a: Value, b: Value, m: Value) -> Value:
    kind, is_byte = ir.IntType(_bits(integer)), integer.bitwidth == 8
    d = _size(builder, integer, b)
    if not integer.signed:
        if is_byte:
            a, d = builder.zext(a, kind), builder.zext(d, kind)
        quotient = _unsigned_quotient(builder, a, d, m, is_byte)
        return builder.trunc(quotient, b.type) if is_byte else quotient
    is_zero = builder.icmp_unsigned("==", b, ir.Constant(b.type, 0))
    if is_byte:
        a, b, d = builder.sext(a, kind), builder.sext(b, kind), builder.zext(d, kind)
    last = ir.Constant(kind, kind.width - 1)
    flipped = builder.ashr(b, last)
    n = builder.sub(builder.xor(a, flipped), flipped)
    kept = builder.not_(builder.and_(a, flipped))  # -INT_MIN is not negative
    sign = builder.ashr(builder.and_(n, kept), last)
    size = builder.xor(n, sign)
    quotient = builder.xor(_unsigned_quotient(builder, size, d, m, is_byte), sign)
    quotient = builder.select(is_zero, ir.Constant(kind, 0), quotient)
    return builder.trunc(quotient, ir.IntType(8)) if is_byte else quotient


def _multiplier_type(kind: Any) -> Any:
    return getattr(types, f"uint{_bits(kind)}")


@emitted(lambda b: isinstance(b, types.Integer), _multiplier_type, of_type=True)
def reciprocal_of(builder: Any, kind: Any, b: Value) -> Value:
    """The multiplier of a divisor."""
    return _multiplier(builder, kind, b)


def _takes(a: Any, b: Any, m: Any) -> bool:
    return isinstance(a, types.Integer) and a == b and m == _multiplier_type(a)


@emitted(_takes, lambda a, b, m: a, of_type=True)
def floordiv_by(builder: Any, kind: Any, a: Value, b: Value, m: Value) -> Value:
    """``a // b``."""
    return _quotient(builder, kind, a, b, m)


@emitted(_takes, lambda a, b, m: a, of_type=True)
def mod_by(builder: Any, kind: Any, a: Value, b: Value, m: Value) -> Value:
    """``a % b``."""
    rest = builder.sub(a, builder.mul(_quotient(builder, kind, a, b, m), b))
    is_zero = builder.icmp_unsigned("==", b, ir.Constant(b.type, 0))
    return builder.select(is_zero, ir.Constant(b.type, 0), rest)
