"""Jitted meaning of `intrinsics.arithmetic`: LLVM without branches where that vectorises."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from fusejit.codegen.intrinsics.intrinsic_table import DTYPE_TOKENS
from fusejit.codegen.intrinsics_jit.division import (
    emit_float_floordiv,
    emit_float_mod,
    emit_int_floordiv,
    emit_int_fmod,
    emit_int_mod,
    emit_near_mod,
)
from fusejit.codegen.intrinsics_jit.module_symbols import Value
from fusejit.codegen.machine.numba_api import (
    TypingError,
    are_int64,
    emitted,
    from_dtype,
    intrinsic,
    intrinsic_of,
    ir,
    types,
)


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


def _is_cast(source: Any, target: Any) -> bool:
    """Whether `_convert` knows the conversion: complex numbers stay what they are."""
    reals = types.Integer | types.Float | types.Boolean
    same_complex = source == target and isinstance(source, types.Complex)
    return same_complex or (isinstance(source, reals) and isinstance(target, reals))


@intrinsic
def cast(typingctx: Any, x: Any, token: Any) -> Any:
    """``ndarray.astype`` for one value."""
    target = token_type(token)
    source, codegen = _cast(x, target)
    return target(source, token), codegen


def _cast(x: Any, target: Any) -> tuple[Any, Any]:
    """The type from which ``x`` is cast, and the code that does it."""
    source = types.unliteral(x)
    if not _is_cast(source, target):
        raise TypingError(f"cannot cast {x} to {target}")

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Value:
        return _convert(builder, source, target, args[0])

    return source, codegen


def _make_token(name: str) -> Any:
    target = from_dtype(DTYPE_TOKENS[name])

    def token(x: Any) -> Any:
        source, codegen = _cast(x, target)
        return target(source), codegen

    made = intrinsic_of(name, 1, token)
    made.fusejit_type = target
    return made


def _of_one_type(kind: Any, emit: Callable[..., Value]) -> Any:
    """An intrinsic of operands of one Numba type, which the result has too."""

    def accepts(first: Any, *others: Any) -> bool:
        return isinstance(first, kind) and all(other == first for other in others)

    return emitted(accepts, lambda first, *others: first, of_type=True)(emit)


@emitted(lambda condition: condition == types.boolean, types.boolean)
def unlikely(builder: Any, condition: Value) -> Value:
    """The condition itself; `fusejit.codegen.backend.llvm_emitter` tells LLVM what is seldom."""
    return condition


def _fits(name: str) -> Any:
    """Whether a sum, a difference or a product of int64 has 64 bits: the flag of the processor."""

    @emitted(are_int64, types.boolean)
    def fits(builder: Any, a: Value, b: Value) -> Value:
        both = getattr(builder, f"s{name}_with_overflow")(a, b)
        return builder.not_(builder.extract_value(both, 1))

    return fits


def _emit_shift_left(builder: Any, integer: Any, a: Value, b: Value) -> Value:
    fits = builder.icmp_unsigned("<", b, ir.Constant(b.type, integer.bitwidth))
    return builder.select(fits, builder.shl(a, b), ir.Constant(a.type, 0))


def _emit_shift_right(builder: Any, integer: Any, a: Value, b: Value) -> Value:
    fits = builder.icmp_unsigned("<", b, ir.Constant(b.type, integer.bitwidth))
    if not integer.signed:
        return builder.select(fits, builder.lshr(a, b), ir.Constant(a.type, 0))
    most = ir.Constant(b.type, integer.bitwidth - 1)
    return builder.ashr(a, builder.select(fits, b, most))


def _emit_int_abs(builder: Any, integer: Any, a: Value) -> Value:
    if not integer.signed:
        return a
    negative = builder.icmp_signed("<", a, ir.Constant(a.type, 0))
    return builder.select(negative, builder.neg(a), a)


def _emit_plain(instruction: str) -> Callable[..., Value]:
    """An instruction without a promise: Numba's own operators promise LLVM no signed overflow."""

    def emit(builder: Any, kind: Any, a: Value, b: Value) -> Value:
        return getattr(builder, instruction)(a, b)

    return emit


def _emit_int_neg(builder: Any, integer: Any, a: Value) -> Value:
    return builder.neg(a)


def _emit_int_pow(builder: Any, integer: Any, base: Value, exponent: Value) -> Value:
    """Square and multiply; arithmetic modulo the width does not depend on the order."""
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


int_floordiv = _of_one_type(types.Integer, emit_int_floordiv)
int_mod = _of_one_type(types.Integer, emit_int_mod)
scalar_floordiv = _of_one_type(types.Integer, partial(emit_int_floordiv, scalar_form=True))
scalar_mod = _of_one_type(types.Integer, partial(emit_int_mod, scalar_form=True))
near_mod = _of_one_type(types.Integer, emit_near_mod)
int_fmod = _of_one_type(types.Integer, emit_int_fmod)
int_pow = _of_one_type(types.Integer, _emit_int_pow)
int_abs = _of_one_type(types.Integer, _emit_int_abs)
int_add = _of_one_type(types.Integer, _emit_plain("add"))
int_sub = _of_one_type(types.Integer, _emit_plain("sub"))
int_mul = _of_one_type(types.Integer, _emit_plain("mul"))
add_fits, subtract_fits, multiply_fits = map(_fits, ("add", "sub", "mul"))
int_neg = _of_one_type(types.Integer, _emit_int_neg)
shift_left = _of_one_type(types.Integer, _emit_shift_left)
shift_right = _of_one_type(types.Integer, _emit_shift_right)
float_floordiv = _of_one_type(types.Float, emit_float_floordiv)
float_mod = _of_one_type(types.Float, emit_float_mod)
float_fmod = _of_one_type(types.Float, _emit_plain("frem"))  # exact; it has the sign of a

boolean = _make_token("boolean")
i8, i16, i32, i64 = (_make_token(name) for name in ("i8", "i16", "i32", "i64"))
u8, u16, u32, u64 = (_make_token(name) for name in ("u8", "u16", "u32", "u64"))
f32, f64 = _make_token("f32"), _make_token("f64")
c64, c128 = _make_token("c64"), _make_token("c128")


@emitted(lambda condition, a, b: condition == types.boolean and a == b, lambda condition, a, b: a)
def select(builder: Any, condition: Value, if_true: Value, if_false: Value) -> Value:
    """``select`` of two operands of one type by a boolean."""
    return builder.select(condition, if_true, if_false)


@emitted(lambda x: isinstance(x, types.Float), types.boolean)
def signbit(builder: Any, x: Value) -> Value:
    """The sign bit of a float as a boolean."""
    integer = ir.IntType(32 if isinstance(x.type, ir.FloatType) else 64)
    return builder.icmp_signed("<", builder.bitcast(x, integer), ir.Constant(integer, 0))
