"""Jitted meaning of `fusejit.codegen.arithmetic`: LLVM without branches where that vectorises."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fusejit.codegen.intrinsics import DTYPE_TOKENS
from fusejit.codegen.numba_api import TypingError, cgutils, from_dtype, intrinsic, ir, types

Value = Any
Emit = Callable[[Any, Any, list[Value]], Value]
"""(IR builder, Numba type of the operands, operands) -> result."""


def token_type(token: Any) -> Any:
    """The Numba type a dtype token in an argument list stands for, or None."""
    return getattr(getattr(token, "typing_key", None), "fusejit_type", None)


def _convert(builder: Any, source: Any, target: Any, x: Value) -> Value:
    """Convert register value `x` of Numba type `source` to `target`."""
    if source == target:
        return x
    if target == types.boolean:
        zero = ir.Constant(x.type, 0)
        if isinstance(source, types.Float):
            return builder.fcmp_unordered("!=", x, zero)
        return builder.icmp_unsigned("!=", x, zero)
    if isinstance(source, types.Float):
        if isinstance(target, types.Float):
            wide = ir.FloatType() if target.bitwidth == 32 else ir.DoubleType()
            grow = target.bitwidth > source.bitwidth
            return builder.fpext(x, wide) if grow else builder.fptrunc(x, wide)
        return _float_to_int(builder, target, x)
    signed = source != types.boolean and source.signed
    if isinstance(target, types.Float):
        wide = ir.FloatType() if target.bitwidth == 32 else ir.DoubleType()
        return builder.sitofp(x, wide) if signed else builder.uitofp(x, wide)
    width = 1 if source == types.boolean else source.bitwidth
    integer = ir.IntType(target.bitwidth)
    if isinstance(x, ir.Constant) and signed and isinstance(x.constant, int):
        half = 2 ** (target.bitwidth - 1)
        return ir.Constant(integer, (x.constant + half) % (2 * half) - half)
    if target.bitwidth == width:
        return x
    if target.bitwidth < width:
        return builder.trunc(x, integer)
    return builder.sext(x, integer) if signed else builder.zext(x, integer)


def _truncate(builder: Any, x: Value, bits: int) -> Value:
    """Toward zero; ``-2**(bits - 1)`` where it does not fit: the arm not selected may be poison."""
    integer = ir.IntType(bits)
    if bits == 32 and isinstance(x.type, ir.DoubleType):
        # -2**31 - 0.5 truncates to -2**31, which is also the value for "does not fit".
        fits_below = builder.fcmp_ordered(">", x, ir.Constant(x.type, -(2.0**31) - 1))
    else:
        fits_below = builder.fcmp_ordered(">=", x, ir.Constant(x.type, -(2.0 ** (bits - 1))))
    fits_above = builder.fcmp_ordered("<", x, ir.Constant(x.type, 2.0 ** (bits - 1)))
    fits = builder.and_(fits_below, fits_above)
    indefinite = ir.Constant(integer, -(2 ** (bits - 1)))
    return builder.select(fits, builder.fptosi(x, integer), indefinite)


def _float_to_int(builder: Any, target: Any, x: Value) -> Value:
    if target == types.uint64:
        half = ir.Constant(x.type, 2.0**63)
        high = builder.fcmp_ordered(">=", x, half)
        low_part = builder.select(high, builder.fsub(x, half), x)
        number = _truncate(builder, low_part, 64)
        flipped = builder.xor(number, ir.Constant(number.type, -(2**63)))
        return builder.select(high, flipped, number)
    bits = 32 if target.bitwidth < 32 or target == types.int32 else 64
    number = _truncate(builder, x, bits)
    return number if bits == target.bitwidth else builder.trunc(number, ir.IntType(target.bitwidth))


@intrinsic
def cast(typingctx: Any, x: Any, token: Any) -> Any:
    """``ndarray.astype`` for one value."""
    target = token_type(token)
    source = types.unliteral(x)
    if target is None or not isinstance(source, types.Number | types.Boolean):
        raise TypingError(f"cast: {x} to {token}")

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Value:
        return _convert(builder, source, target, args[0])

    return target(source, token), codegen


def _make_token(name: str) -> Any:
    target = from_dtype(DTYPE_TOKENS[name])

    def token(typingctx: Any, x: Any) -> Any:
        source = types.unliteral(x)
        if not isinstance(source, types.Number | types.Boolean):
            raise TypingError(f"{name}: cannot cast {x}")

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Value:
            return _convert(builder, source, target, args[0])

        return target(source), codegen

    token.__name__ = token.__qualname__ = name
    made = intrinsic(token)
    made.fusejit_type = target
    return made


def _same_type_intrinsic(name: str, arity: int, kind: Any, emit: Emit) -> Any:
    """An intrinsic of one or two operands of one Numba type, which the result has too."""

    def typing(operands: tuple[Any, ...]) -> Any:
        kinds = {types.unliteral(x) for x in operands}
        operand_type = kinds.pop()
        if kinds or not isinstance(operand_type, kind):
            raise TypingError(f"{name}: operands are {operands}")

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Value:
            return emit(builder, operand_type, list(args))

        return operand_type(*([operand_type] * arity)), codegen

    def unary(typingctx: Any, a: Any) -> Any:
        return typing((a,))

    def binary(typingctx: Any, a: Any, b: Any) -> Any:
        return typing((a, b))

    function = unary if arity == 1 else binary
    function.__name__ = function.__qualname__ = name
    return intrinsic(function)


def _safe_divisor(builder: Any, integer: Any, a: Value, b: Value) -> tuple[Value, Value]:
    """(1 where a / b is undefined, else b; whether it is undefined)."""
    undefined = builder.icmp_unsigned("==", b, ir.Constant(b.type, 0))
    if integer.signed:
        minus_one = builder.icmp_signed("==", b, ir.Constant(b.type, -1))
        lowest = ir.Constant(a.type, -(2 ** (integer.bitwidth - 1)))
        overflow = builder.and_(minus_one, builder.icmp_signed("==", a, lowest))
        undefined = builder.or_(undefined, overflow)
    return builder.select(undefined, ir.Constant(b.type, 1), b), undefined


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


def _emit_int_floordiv(builder: Any, integer: Any, args: list[Value]) -> Value:
    a, b = args
    if _is_positive_constant(integer, b):
        return _floordiv_by_constant(builder, a, b)
    zero = ir.Constant(a.type, 0)
    divisor, _ = _safe_divisor(builder, integer, a, b)
    if integer.signed:
        quotient = builder.sdiv(a, divisor)  # INT_MIN // -1 became INT_MIN // 1
        remainder = builder.sub(a, builder.mul(quotient, divisor))
        inexact = builder.icmp_signed("!=", remainder, zero)
        opposite = builder.icmp_signed("<", builder.xor(remainder, divisor), zero)
        down = builder.sext(builder.and_(inexact, opposite), a.type)
        quotient = builder.add(quotient, down)
    else:
        quotient = builder.udiv(a, divisor)
    return builder.select(builder.icmp_unsigned("==", b, zero), zero, quotient)


def _emit_int_mod(builder: Any, integer: Any, args: list[Value]) -> Value:
    a, b = args
    if _is_positive_constant(integer, b):
        return builder.sub(a, builder.mul(_floordiv_by_constant(builder, a, b), b))
    zero = ir.Constant(a.type, 0)
    divisor, _ = _safe_divisor(builder, integer, a, b)
    if not integer.signed:
        return builder.urem(a, divisor)  # a % 1 is 0, the answer for b == 0
    remainder = builder.srem(a, divisor)
    inexact = builder.icmp_signed("!=", remainder, zero)
    opposite = builder.icmp_signed("<", builder.xor(remainder, divisor), zero)
    adjust = builder.select(builder.and_(inexact, opposite), divisor, zero)
    return builder.add(remainder, adjust)


def _emit_int_fmod(builder: Any, integer: Any, args: list[Value]) -> Value:
    divisor, _ = _safe_divisor(builder, integer, *args)  # a % 1 is 0, the answer for b == 0
    return (builder.srem if integer.signed else builder.urem)(args[0], divisor)


def _emit_shift_left(builder: Any, integer: Any, args: list[Value]) -> Value:
    a, b = args
    fits = builder.icmp_unsigned("<", b, ir.Constant(b.type, integer.bitwidth))
    return builder.select(fits, builder.shl(a, b), ir.Constant(a.type, 0))


def _emit_shift_right(builder: Any, integer: Any, args: list[Value]) -> Value:
    a, b = args
    fits = builder.icmp_unsigned("<", b, ir.Constant(b.type, integer.bitwidth))
    if not integer.signed:
        return builder.select(fits, builder.lshr(a, b), ir.Constant(a.type, 0))
    most = ir.Constant(b.type, integer.bitwidth - 1)
    return builder.ashr(a, builder.select(fits, b, most))


def _emit_int_abs(builder: Any, integer: Any, args: list[Value]) -> Value:
    (a,) = args
    if not integer.signed:
        return a
    negative = builder.icmp_signed("<", a, ir.Constant(a.type, 0))
    return builder.select(negative, builder.neg(a), a)


def _emit_int_neg(builder: Any, integer: Any, args: list[Value]) -> Value:
    return builder.neg(args[0])


def _emit_int_pow(builder: Any, integer: Any, args: list[Value]) -> Value:
    """Square and multiply; arithmetic modulo the width does not depend on the order."""
    base, exponent = args
    before = builder.block
    loop = builder.append_basic_block("pow.loop")
    after = builder.append_basic_block("pow.after")
    one, zero = ir.Constant(base.type, 1), ir.Constant(base.type, 0)
    positive = builder.icmp_signed(">", exponent, zero) if integer.signed else None
    if positive is None:
        positive = builder.icmp_unsigned("!=", exponent, zero)
    builder.cbranch(positive, loop, after)
    builder.position_at_end(loop)
    left, square, result = (builder.phi(base.type) for _ in range(3))
    odd = builder.trunc(left, ir.IntType(1))
    next_result = builder.select(odd, builder.mul(result, square), result)
    next_left = builder.lshr(left, one)
    next_square = builder.mul(square, square)
    starts_and_nexts = ((exponent, next_left), (base, next_square), (one, next_result))
    for phi, (start, following) in zip((left, square, result), starts_and_nexts, strict=True):
        phi.add_incoming(start, before)
        phi.add_incoming(following, loop)
    builder.cbranch(builder.icmp_unsigned("!=", next_left, zero), loop, after)
    builder.position_at_end(after)
    answer = builder.phi(base.type)
    answer.add_incoming(one, before)
    answer.add_incoming(next_result, loop)
    return answer


def _call_llvm(builder: Any, name: str, args: list[Value]) -> Value:
    suffix = "f32" if isinstance(args[0].type, ir.FloatType) else "f64"
    function_type = ir.FunctionType(args[0].type, [a.type for a in args])
    function = cgutils.get_or_insert_function(
        builder.module, function_type, f"llvm.{name}.{suffix}"
    )
    return builder.call(function, args)


def _emit_divmod(builder: Any, args: list[Value]) -> tuple[Value, Value]:
    """(floor quotient, remainder) by NumPy's algorithm.

    Source: ``npy_divmod`` in numpy/_core/src/npymath/npy_math_internal.h.src, with selects for
    branches.
    """
    a, b = args
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


def _emit_float_floordiv(builder: Any, real: Any, args: list[Value]) -> Value:
    return _emit_divmod(builder, args)[0]


def _emit_float_mod(builder: Any, real: Any, args: list[Value]) -> Value:
    return _emit_divmod(builder, args)[1]


int_floordiv = _same_type_intrinsic("int_floordiv", 2, types.Integer, _emit_int_floordiv)
int_mod = _same_type_intrinsic("int_mod", 2, types.Integer, _emit_int_mod)
int_fmod = _same_type_intrinsic("int_fmod", 2, types.Integer, _emit_int_fmod)
int_pow = _same_type_intrinsic("int_pow", 2, types.Integer, _emit_int_pow)
int_abs = _same_type_intrinsic("int_abs", 1, types.Integer, _emit_int_abs)
int_neg = _same_type_intrinsic("int_neg", 1, types.Integer, _emit_int_neg)
shift_left = _same_type_intrinsic("shift_left", 2, types.Integer, _emit_shift_left)
shift_right = _same_type_intrinsic("shift_right", 2, types.Integer, _emit_shift_right)
float_floordiv = _same_type_intrinsic("float_floordiv", 2, types.Float, _emit_float_floordiv)
float_mod = _same_type_intrinsic("float_mod", 2, types.Float, _emit_float_mod)
float_fmod = _same_type_intrinsic(
    "float_fmod", 2, types.Float, lambda builder, real, args: builder.frem(*args)
)

boolean = _make_token("boolean")
i8, i16, i32, i64 = (_make_token(name) for name in ("i8", "i16", "i32", "i64"))
u8, u16, u32, u64 = (_make_token(name) for name in ("u8", "u16", "u32", "u64"))
f32, f64 = _make_token("f32"), _make_token("f64")


@intrinsic
def select(typing_context: Any, condition: Any, if_true: Any, if_false: Any) -> Any:
    """``select`` of two operands of one type by a boolean."""
    if condition != types.boolean or if_true != if_false:
        raise TypingError(f"select: {condition}, {if_true}, {if_false}")

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.select(*arguments)

    return if_true(condition, if_true, if_false), generate


@intrinsic
def signbit(typing_context: Any, x: Any) -> Any:
    """The sign bit of a float as a boolean."""
    if not isinstance(x, types.Float):
        raise TypingError(f"signbit: {x}")

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        integer = ir.IntType(x.bitwidth)
        bits = builder.bitcast(arguments[0], integer)
        return builder.icmp_signed("<", bits, ir.Constant(integer, 0))

    return types.boolean(x), generate
