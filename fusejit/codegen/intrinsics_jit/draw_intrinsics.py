"""Jitted meaning of `fusejit.codegen.intrinsics.draw_intrinsics`, in LLVM IR.

The bit generator is called through the pointers of its struct, and what nearly every number takes
(the inside of the ziggurat, a product without rejection) is written where the number is drawn; the
rest is a function of its own.

Source
------
numpy/random/src/distributions/distributions.c; Marsaglia and Tsang, "The ziggurat method for
generating random variables", J. Stat. Soft. 5 (2000); Lemire, "Fast random integer generation in
an interval", ACM TOMACS 29 (2019); CPython's Modules/_randommodule.c; Matsumoto and Nishimura,
"Mersenne twister", ACM TOMACS 8 (1998).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from fusejit.codegen.intrinsics.draw_intrinsics import DRAW_SYMBOL
from fusejit.codegen.intrinsics_jit.module_symbols import (
    BYTE_POINTER,
    INT64,
    Value,
    call_c,
    call_cold,
    inside_or,
    int64,
)
from fusejit.codegen.intrinsics_jit.raw_memory import FlatPointer, mark_scope
from fusejit.codegen.machine.numba_api import TypingError, cgutils, intrinsic_of, ir, types
from fusejit.codegen.machine.ziggurat import ziggurat_tables

_I32 = ir.IntType(32)
_F32, _F64 = ir.FloatType(), ir.DoubleType()
# members of bitgen_t: the state, then the functions that take it
_NEXT = {"uint64": (1, INT64), "uint32": (2, _I32), "double": (3, _F64)}
_CELLS = 256  # of a ziggurat
_BITS52 = 0x000FFFFFFFFFFFFF
_LARGEST32, _LARGEST64 = 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF


def _f64(number: float) -> Value:
    return ir.Constant(_F64, number)


def _member(builder: Any, bits: Value, at: int, kind: Any) -> Value:
    """A member of the struct; nobody changes it as long as the generator lives."""
    struct = builder.bitcast(bits, kind.as_pointer())
    loaded = builder.load(builder.gep(struct, [int64(at)]))
    loaded.set_metadata("invariant.load", builder.module.add_metadata([]))
    return loaded


def _next(builder: Any, bits: Value, name: str) -> Value:
    """The generator's next number."""
    at, result = _NEXT[name]
    function = ir.FunctionType(result, [BYTE_POINTER]).as_pointer()
    return builder.call(
        _member(builder, bits, at, function), [_member(builder, bits, 0, BYTE_POINTER)]
    )


def _math(builder: Any, name: str, number: Value) -> Value:
    """A function of the C library: the one that NumPy calls."""
    return call_c(builder, name, _F64, number)


def _cell(builder: Any, table: str, at: Value) -> Value:
    """An element of a table of the ziggurat."""
    name = f"fusejit_{table}"
    known = builder.module.globals.get(name)
    if known is None:
        numbers = ziggurat_tables()[table]
        element = INT64 if numbers.dtype.kind == "u" else _F64
        kind = ir.ArrayType(element, _CELLS)
        known = ir.GlobalVariable(builder.module, kind, name)
        known.linkage, known.global_constant = "internal", True
        known.initializer = ir.Constant(kind, numbers.tolist())
    return builder.load(builder.gep(known, [int64(0), at], inbounds=True))


# ------------------------------------------------------------------------------------ one number
def _uniform(builder: Any, bits: Value) -> Value:
    return _next(builder, bits, "double")


def _uniform_f32(builder: Any, bits: Value) -> Value:
    high = builder.lshr(_next(builder, bits, "uint32"), ir.Constant(_I32, 8))
    return builder.fmul(builder.uitofp(high, _F32), ir.Constant(_F32, 1.0 / 16777216.0))


def _normal_in(builder: Any, number: Value) -> tuple[Value, ...]:
    """What 64 bits say: the cell, the bits of the distance, the distance, whether it is inside."""
    cell = builder.and_(number, int64(_CELLS - 1))
    sign = builder.trunc(builder.lshr(number, int64(8)), ir.IntType(1))
    distance = builder.and_(builder.lshr(number, int64(9)), int64(_BITS52))
    positive = builder.fmul(builder.uitofp(distance, _F64), _cell(builder, "wi", cell))
    x = builder.select(sign, builder.fneg(positive), positive)
    inside = builder.icmp_unsigned("<", distance, _cell(builder, "ki", cell))
    return cell, distance, x, inside


def _normal(builder: Any, bits: Value) -> Value:
    def exponent(builder: Any, x: Value) -> Value:
        return builder.fmul(builder.fmul(_f64(-0.5), x), x)

    return _drawn(builder, bits, "normal", _normal_in, "fi", exponent, _write_normal_tail)


def _drawn(
    builder: Any,
    bits: Value,
    name: str,
    read: Callable[[Any, Value], tuple[Value, ...]],
    table: str,
    exponent: Callable[[Any, Value], Value],
    write_tail: Callable[..., None],
) -> Value:
    """A number by the ziggurat: here where it is inside, else by a function of its own."""
    if not ziggurat_tables():  # NumPy's own function, where Numba has no tables
        return call_c(builder, f"{DRAW_SYMBOL}random_standard_{name}", _F64, bits)
    number = _next(builder, bits, "uint64")
    *_, x, inside = read(builder, number)
    write = partial(_write_again, read, table, exponent, write_tail)
    again = partial(call_cold, builder, f"fusejit_{name}", _F64, write, bits, number)
    return inside_or(builder, inside, x, again)


def _write_again(
    read: Callable[[Any, Value], tuple[Value, ...]],
    table: str,
    exponent: Callable[[Any, Value], Value],
    write_tail: Callable[..., None],
    builder: Any,
    bits: Value,
    first: Value,
) -> None:
    """Draw until a number is inside, below the wedge of its cell, or in the tail."""
    names = ("again", "inside", "outside", "wedge", "tail", "more")
    again, inside, outside, wedge, tail, more = map(builder.function.append_basic_block, names)
    start = builder.block
    builder.branch(again)

    builder.position_at_end(again)
    number = builder.phi(INT64)
    number.add_incoming(first, start)
    cell, distance, x, is_inside = read(builder, number)
    builder.cbranch(is_inside, inside, outside)
    builder.position_at_end(inside)
    builder.ret(x)
    builder.position_at_end(outside)
    builder.cbranch(builder.icmp_unsigned("==", cell, int64(0)), tail, wedge)

    builder.position_at_end(wedge)
    below = _wedge(builder, bits, table, cell)
    height = _math(builder, "exp", exponent(builder, x))
    builder.cbranch(builder.fcmp_ordered("<", below, height), inside, more)
    builder.position_at_end(more)
    number.add_incoming(_next(builder, bits, "uint64"), more)
    builder.branch(again)

    builder.position_at_end(tail)
    write_tail(builder, bits, distance)


def _write_normal_tail(builder: Any, bits: Value, distance: Value) -> None:
    tables, tail = ziggurat_tables(), builder.block
    far = builder.fmul(_f64(-tables["nor_inv_r"]), _log1p_of_minus(builder, bits))
    other = builder.fneg(_log1p_of_minus(builder, bits))
    twice, square = builder.fadd(other, other), builder.fmul(far, far)
    end = builder.append_basic_block("end")
    builder.cbranch(builder.fcmp_ordered(">", twice, square), end, tail)
    builder.position_at_end(end)
    y = builder.fadd(_f64(tables["nor_r"]), far)
    sign = builder.trunc(builder.lshr(distance, int64(8)), ir.IntType(1))
    builder.ret(builder.select(sign, builder.fneg(y), y))


def _write_exponential_tail(builder: Any, bits: Value, distance: Value) -> None:
    r = _f64(ziggurat_tables()["exp_r"])
    builder.ret(builder.fsub(r, _log1p_of_minus(builder, bits)))


def _wedge(builder: Any, bits: Value, table: str, cell: Value) -> Value:
    """A height between those of a cell and of the one before it."""
    here = _cell(builder, table, cell)
    step = builder.fsub(_cell(builder, table, builder.sub(cell, int64(1))), here)
    return builder.fadd(builder.fmul(step, _next(builder, bits, "double")), here)


def _log1p_of_minus(builder: Any, bits: Value) -> Value:
    return _math(builder, "log1p", builder.fneg(_next(builder, bits, "double")))


def _exponential_in(builder: Any, number: Value) -> tuple[Value, ...]:
    cell = builder.and_(builder.lshr(number, int64(3)), int64(_CELLS - 1))
    distance = builder.lshr(number, int64(11))
    x = builder.fmul(builder.uitofp(distance, _F64), _cell(builder, "we", cell))
    return cell, distance, x, builder.icmp_unsigned("<", distance, _cell(builder, "ke", cell))


def _exponential(builder: Any, bits: Value) -> Value:
    opposite, tail = ir.IRBuilder.fneg, _write_exponential_tail
    return _drawn(builder, bits, "exponential", _exponential_in, "fe", opposite, tail)


def _integer(builder: Any, bits: Value, low: Value, high: Value) -> Value:
    """An integer from ``low`` to ``high``, both included."""
    reach = builder.sub(high, low)
    wide = builder.icmp_unsigned(">", reach, int64(_LARGEST32))
    drawn = cgutils.alloca_once(builder, INT64)
    with builder.if_else(wide) as (for_wide, for_narrow):
        with for_wide:
            builder.store(_below(builder, bits, reach, INT64, "uint64"), drawn)
        with for_narrow:
            builder.store(int64(0), drawn)  # nothing is drawn where there is nothing to choose
            with builder.if_then(builder.icmp_unsigned("!=", reach, int64(0)), likely=True):
                narrow = builder.trunc(reach, _I32)
                made = _below(builder, bits, narrow, _I32, "uint32")
                builder.store(builder.zext(made, INT64), drawn)
    return builder.add(low, builder.load(drawn))


def _below(builder: Any, bits: Value, reach: Value, kind: Any, name: str) -> Value:
    """A number from 0 to ``reach`` of as many bits as the generator's."""
    double = ir.IntType(2 * kind.width)
    count = builder.add(reach, ir.Constant(kind, 1))  # 0 where every number will do
    number = _next(builder, bits, name)
    product = builder.mul(builder.zext(number, double), builder.zext(count, double))
    fine = builder.icmp_unsigned(">=", builder.trunc(product, kind), count)
    write = partial(_write_below, name)
    again = partial(
        call_cold, builder, f"fusejit_below_{name}", double, write, bits, count, product
    )
    product = inside_or(builder, fine, product, again)
    high = builder.trunc(builder.lshr(product, ir.Constant(double, kind.width)), kind)
    every = builder.icmp_unsigned("==", count, ir.Constant(kind, 0))
    return builder.select(every, number, high)


def _write_below(name: str, builder: Any, bits: Value, count: Value, first: Value) -> None:
    """Draw again as long as the low half of the product is below ``-count % count``."""
    names = ("loop", "end", "more")
    loop, end, more = map(builder.function.append_basic_block, names)
    start = builder.block
    threshold = builder.urem(builder.neg(count), count)
    builder.branch(loop)
    builder.position_at_end(loop)
    product = builder.phi(first.type)
    product.add_incoming(first, start)
    low = builder.trunc(product, count.type)
    builder.cbranch(builder.icmp_unsigned("<", low, threshold), more, end)
    builder.position_at_end(more)
    number = _next(builder, bits, name)
    again = builder.mul(builder.zext(number, first.type), builder.zext(count, first.type))
    product.add_incoming(again, more)
    builder.branch(loop)
    builder.position_at_end(end)
    builder.ret(product)


# ------------------------------------------------------------------------------ Python's generator
_WORDS, _SHIFT, _MATRIX = 624, 397, 0x9908B0DF  # of the twister
_TEMPERING = (("lshr", 11, 0xFFFFFFFF), ("shl", 7, 0x9D2C5680), ("shl", 15, 0xEFC60000))


def _i32(number: int) -> Value:
    return ir.Constant(_I32, number)


def _word(builder: Any, state: Value, at: Value) -> Value:
    """The address of a word of the state; behind the first, which says where it is."""
    return builder.gep(state, [builder.add(at, _i32(1))], inbounds=True)


def _twisted(builder: Any, address: Value) -> Value:
    """The next 32 bits."""
    state = builder.bitcast(address, _I32.as_pointer())
    at = builder.load(state)
    again = partial(call_cold, builder, "fusejit_twist", _I32, _write_twist, state)
    at = inside_or(builder, builder.icmp_unsigned("<", at, _i32(_WORDS)), at, again)
    word = builder.load(_word(builder, state, at))
    builder.store(builder.add(at, _i32(1)), state)
    for shift, count, mask in _TEMPERING:
        part = builder.and_(getattr(builder, shift)(word, _i32(count)), _i32(mask))
        word = builder.xor(word, part)
    return builder.xor(word, builder.lshr(word, _i32(18)))


def _write_twist(builder: Any, state: Value) -> None:
    """Make the next 624 words, and go to the first."""

    def word(at: Value, steps: int) -> Value:
        return builder.load(_word(builder, state, builder.add(at, _i32(steps))))

    def twist(at: Value, next_: int, far: int) -> None:
        place = _word(builder, state, at)
        upper = builder.and_(builder.load(place), _i32(0x80000000))
        both = builder.or_(upper, builder.and_(word(at, next_), _i32(0x7FFFFFFF)))
        odd = builder.trunc(both, ir.IntType(1))
        added = builder.select(odd, _i32(_MATRIX), _i32(0))
        made = builder.xor(word(at, far), builder.lshr(both, _i32(1)))
        builder.store(builder.xor(made, added), place)

    last, behind = _WORDS - 1, _SHIFT - _WORDS  # words far behind come round: they are new
    for start, stop, far in ((0, -behind, _SHIFT), (-behind, last, behind)):
        with cgutils.for_range(builder, _i32(stop - start)) as loop:
            twist(builder.add(loop.index, _i32(start)), 1, far)
    twist(_i32(last), -last, behind)
    builder.ret(_i32(0))


def _twister(builder: Any, state: Value) -> Value:
    """A number from 0 to 1, of 53 bits."""
    high = builder.lshr(_twisted(builder, state), _i32(5))
    low = builder.lshr(_twisted(builder, state), _i32(6))
    scaled = builder.fmul(builder.uitofp(high, _F64), _f64(67108864.0))
    return builder.fmul(builder.fadd(scaled, builder.uitofp(low, _F64)), _f64(1 / 9007199254740992))


def _twister_bits(builder: Any, state: Value, count: Value) -> Value:
    """``count`` random bits, 0 to 63: the words from low to high, of the last its high bits."""
    drawn = cgutils.alloca_once_value(builder, int64(0))
    with builder.if_then(builder.icmp_signed(">", count, int64(0)), likely=True):
        first = builder.zext(_twisted(builder, state), INT64)
        is_long = builder.icmp_signed(">", count, int64(32))
        with builder.if_else(is_long, likely=False) as (for_long, for_short):
            with for_long:
                second = builder.zext(_twisted(builder, state), INT64)
                second = builder.lshr(second, builder.sub(int64(64), count))
                builder.store(builder.or_(first, builder.shl(second, int64(32))), drawn)
            with for_short:
                builder.store(builder.lshr(first, builder.sub(int64(32), count)), drawn)
    return builder.load(drawn)


# ------------------------------------------------------------------------------------ intrinsics
_Draw = Callable[..., Value]


def _one(draw: _Draw, dtype: Any, num_parameters: int) -> Any:
    """The intrinsic that draws one number."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Value:
        bits, *parameters = arguments
        return draw(builder, builder.inttoptr(bits, BYTE_POINTER), *parameters)

    def typed(*numbers: Any) -> Any:
        if any(types.unliteral(n) != types.int64 for n in numbers):
            raise TypingError(f"a draw of {dtype} from {numbers}")
        return dtype(*(types.int64,) * len(numbers)), code

    return intrinsic_of(draw.__name__, 1 + num_parameters, typed)


def _many(draw: _Draw, dtype: Any, num_parameters: int) -> Any:
    """The intrinsic that fills memory."""

    def typed(pointer: Any, *numbers: Any) -> Any:
        if not isinstance(pointer, FlatPointer) or pointer.dtype != dtype:
            raise TypingError(f"draws of {dtype} into {pointer}")
        if any(types.unliteral(n) != types.int64 for n in numbers):
            raise TypingError(f"draws of {dtype} from {numbers}")

        def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Value:
            memory, count, address, *parameters = arguments
            bits = builder.inttoptr(address, BYTE_POINTER)
            with cgutils.for_range(builder, count) as loop:
                number = draw(builder, bits, *parameters)
                store = builder.store(number, builder.gep(memory, [loop.index], inbounds=True))
                mark_scope(builder.module, store, pointer.scope)
            return context.get_dummy_value()

        return types.void(pointer, *(types.int64,) * len(numbers)), code

    return intrinsic_of(f"{draw.__name__}s", 3 + num_parameters, typed)


draw_f64, draw_f64s = _one(_uniform, types.float64, 0), _many(_uniform, types.float64, 0)
draw_f32, draw_f32s = _one(_uniform_f32, types.float32, 0), _many(_uniform_f32, types.float32, 0)
draw_normal, draw_normals = _one(_normal, types.float64, 0), _many(_normal, types.float64, 0)
draw_exponential = _one(_exponential, types.float64, 0)
draw_exponentials = _many(_exponential, types.float64, 0)
draw_integer, draw_integers = _one(_integer, types.int64, 2), _many(_integer, types.int64, 2)
draw_twister = _one(_twister, types.float64, 0)
draw_twister_bits = _one(_twister_bits, types.int64, 1)
