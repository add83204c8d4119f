"""Complex numbers in payloads: arithmetic is written on their two parts.

Values and memory have the element types ``c64`` and ``c128``. In a payload they are taken apart
where they are read and put together where they are yielded, by the rows ``real``, ``imag`` and
``complex`` of the scalar op table; all between is on floats. `PayloadBuilder` asks here for each
row, cast and constant that meets a complex number::

    t0 = multiply in0, in1 : c128

becomes (``fma`` only where NumPy's own loops have it, see `tracer.np.numbers.complex_ufuncs`)::

    t0 = real in0 : f64; t1 = imag in0 : f64; t2 = real in1 : f64; t3 = imag in1 : f64
    t4 = multiply t0, t2 : f64; t5 = multiply t1, t3 : f64; t6 = subtract t4, t5 : f64
    t7 = multiply t0, t3 : f64; t8 = multiply t1, t2 : f64; t9 = add t7, t8 : f64
    t10 = complex t6, t9 : c128

Source
------
NumPy's loops: ``loops.c.src`` (quotients and reciprocals by Smith's algorithm, comparisons),
``loops_unary_complex.dispatch.c.src`` (absolute values of arrays).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from fusejit.ir.types import BOOL, dtype_name, part_dtype

STRUCTURAL = frozenset({"real", "imag", "complex"})
"""Rows that take complex numbers apart and put them together."""


class NotForComplex(Exception):
    """A scalar op that has no meaning here for complex numbers: the call falls back."""


class Builder(Protocol):
    """What is needed of a `PayloadBuilder`."""

    def op(self, name: str, operands: Sequence[int], dtype: np.dtype) -> int: ...

    def const(self, value: Any, dtype: np.dtype) -> int: ...

    def cast(self, ref: int, dtype: np.dtype) -> int: ...

    def dtype_of(self, ref: int) -> np.dtype: ...


Rule = Callable[[Builder, Sequence[int]], int]


def _writer(builder: Builder, dtype: np.dtype) -> Callable[..., int]:
    """``op(name, *refs)``: a row of the table with a result of this dtype."""
    return lambda name, *refs: builder.op(name, refs, dtype)


# ------------------------------------------------------------------------------------------- parts
def parts(builder: Builder, ref: int) -> tuple[int, int]:
    """Real and imaginary part of a number, which may be real."""
    dtype = builder.dtype_of(ref)
    if dtype.kind != "c":
        return ref, builder.const(0, dtype)
    part = part_dtype(dtype)
    return builder.op("real", [ref], part), builder.op("imag", [ref], part)


def joined(builder: Builder, real: int, imag: int) -> int:
    """The complex number with two parts of one dtype."""
    dtype = np.dtype(f"c{2 * builder.dtype_of(real).itemsize}")
    return builder.op("complex", [real, imag], dtype)


def constant(builder: Builder, value: Any, dtype: np.dtype) -> int:
    """A complex constant: two constants."""
    number, part = dtype.type(value), part_dtype(dtype)
    return joined(builder, builder.const(number.real, part), builder.const(number.imag, part))


def converted(builder: Builder, ref: int, dtype: np.dtype) -> int:
    """``ref`` in another dtype, of which one is complex."""
    source = builder.dtype_of(ref)
    if dtype.kind == "c":
        part = part_dtype(dtype)
        real, imag = (builder.cast(p, part) for p in _parts_for(builder, ref, part))
        return joined(builder, real, imag)
    if dtype != BOOL:
        raise NotForComplex(f"{source} converted to {dtype}, of which NumPy warns")
    real, imag = (builder.cast(p, BOOL) for p in parts(builder, ref))
    return builder.op("logical_or", [real, imag], BOOL)


def _parts_for(builder: Builder, ref: int, part: np.dtype) -> tuple[int, int]:
    if builder.dtype_of(ref).kind == "c":
        return parts(builder, ref)
    return ref, builder.const(0, part)


# ------------------------------------------------------------------------------------------ tables
def applied(builder: Builder, name: str, operands: Sequence[int], dtype: np.dtype) -> int:
    """A row of the scalar op table on complex numbers, as NumPy computes it for two scalars."""
    rule = RULES.get(name)
    if rule is None:
        kind = next(d for o in operands if (d := builder.dtype_of(o)).kind == "c")
        raise NotForComplex(f"{name} of {dtype_name(kind)}")
    return rule(builder, operands)


def _each_part(name: str) -> Rule:
    def rule(builder: Builder, operands: Sequence[int]) -> int:
        pairs = [parts(builder, o) for o in operands]
        dtype = builder.dtype_of(pairs[0][0])
        real, imag = (builder.op(name, list(p), dtype) for p in zip(*pairs, strict=True))
        return joined(builder, real, imag)

    return rule


def _test(name: str, merge: str) -> Rule:
    """A bool of each part, both merged into one."""

    def rule(builder: Builder, operands: Sequence[int]) -> int:
        pairs = [parts(builder, o) for o in operands]
        tests = [builder.op(name, list(p), BOOL) for p in zip(*pairs, strict=True)]
        return builder.op(merge, tests, BOOL)

    return rule


def _select(builder: Builder, operands: Sequence[int]) -> int:
    condition, if_true, if_false = operands
    (a, b), (c, d) = parts(builder, if_true), parts(builder, if_false)
    dtype = builder.dtype_of(a)
    real = builder.op("select", [condition, a, c], dtype)
    return joined(builder, real, builder.op("select", [condition, b, d], dtype))


def conjugate(builder: Builder, operands: Sequence[int]) -> int:
    """``a - b i`` of ``a + b i``."""
    real, imag = parts(builder, operands[0])
    return joined(builder, real, builder.op("negative", [imag], builder.dtype_of(imag)))


def product(builder: Builder, operands: Sequence[int], *, fused: bool = False) -> int:
    """``(a + b i)(c + d i) = (a c - b d) + (a d + b c) i``.

    ``fused``: the products ``a c`` and ``a d`` are not rounded, as with NumPy's vectors.
    """
    (a, b), (c, d) = (parts(builder, o) for o in operands)
    dtype = builder.dtype_of(a)
    op = _writer(builder, dtype)
    bd, bc = op("multiply", b, d), op("multiply", b, c)
    if fused:
        return joined(builder, op("fma", a, c, op("negative", bd)), op("fma", a, d, bc))
    real = op("subtract", op("multiply", a, c), bd)
    return joined(builder, real, op("add", op("multiply", a, d), bc))


def square(builder: Builder, operands: Sequence[int], *, fused: bool = False) -> int:
    """``z * z``."""
    return product(builder, [operands[0]] * 2, fused=fused)


def quotient(builder: Builder, operands: Sequence[int], *, python: bool = False) -> int:
    """``(a + b i) / (c + d i)`` by Smith's algorithm; ``x / 0`` divides both parts by ``|0|``.

    NumPy multiplies by ``1 / (c + d * (d / c))``, Python divides by it.
    """
    (a, b), (c, d) = (parts(builder, o) for o in operands)
    dtype = builder.dtype_of(a)
    op = _writer(builder, dtype)
    sizes = op("absolute", c), op("absolute", d)
    is_real_larger = builder.op("greater_equal", sizes, BOOL)

    def either(if_real: int, if_imag: int) -> int:
        return op("select", is_real_larger, if_real, if_imag)

    large, small = either(c, d), either(d, c)
    ratio = op("divide", small, large)
    divisor = op("add", large, op("multiply", small, ratio))
    first, second = either(a, b), either(b, a)
    real = op("add", first, op("multiply", second, ratio))
    imag = either(
        op("subtract", b, op("multiply", a, ratio)), op("subtract", op("multiply", b, ratio), a)
    )
    if python:
        real, imag = op("divide", real, divisor), op("divide", imag, divisor)
        return joined(builder, real, imag)
    scale = op("divide", builder.const(1, dtype), divisor)
    real, imag = op("multiply", real, scale), op("multiply", imag, scale)
    is_zero = builder.op("equal", [op("add", *sizes), builder.const(0, dtype)], BOOL)
    real = op("select", is_zero, op("divide", a, sizes[0]), real)
    return joined(builder, real, op("select", is_zero, op("divide", b, sizes[0]), imag))


def reciprocal(builder: Builder, operands: Sequence[int]) -> int:
    """``1 / (a + b i)``."""
    a, b = parts(builder, operands[0])
    dtype = builder.dtype_of(a)
    op = _writer(builder, dtype)
    is_real_larger = builder.op("less_equal", [op("absolute", b), op("absolute", a)], BOOL)
    large = op("select", is_real_larger, a, b)
    small = op("select", is_real_larger, b, a)
    ratio = op("divide", small, large)
    divisor = op("add", large, op("multiply", small, ratio))
    one = builder.const(1, dtype)
    short, long = op("divide", ratio, divisor), op("divide", one, divisor)
    real = op("select", is_real_larger, long, short)
    imag = op("select", is_real_larger, op("negative", short), op("negative", long))
    return joined(builder, real, imag)


def modulus(builder: Builder, operands: Sequence[int]) -> int:
    """``hypot(a, b)``: the absolute value of a number on its own."""
    a, b = parts(builder, operands[0])
    return builder.op("hypot", [a, b], builder.dtype_of(a))


def modulus_of_arrays(builder: Builder, operands: Sequence[int], *, fused: bool = False) -> int:
    """``large * sqrt(1 + (small / large) ** 2)``: the absolute values of an array in NumPy.

    ``fused``: the square is not rounded, as with NumPy's vectors where there is an ``fma``.
    """
    a, b = parts(builder, operands[0])
    dtype = builder.dtype_of(a)
    op, test = _writer(builder, dtype), _writer(builder, BOOL)
    zero, infinity = builder.const(0, dtype), builder.const(np.inf, dtype)
    a, b = op("absolute", a), op("absolute", b)
    is_less = test("less", a, b)
    large, small = op("select", is_less, b, a), op("select", is_less, a, b)
    is_zero = test("equal", op("add", a, b), zero)  # which NaN beside 0 is not
    ratio = op("select", is_zero, zero, op("divide", small, large))
    one = builder.const(1, dtype)
    if fused:
        squares = op("fma", ratio, ratio, one)
    else:
        squares = op("add", op("multiply", ratio, ratio), one)
    size = op("multiply", op("sqrt", squares), large)
    is_infinite = test("logical_or", test("equal", a, infinity), test("equal", b, infinity))
    return op("select", is_infinite, infinity, size)


_LARGE = {4: 88.0, 8: 709.0}
"""Exponents from which on the exponential is computed in two factors, by the size of a float."""


def exponential(builder: Builder, operands: Sequence[int]) -> int:
    """``exp(a) (cos b + i sin b)``, infinite only where that is.

    The imaginary part of a real number stays 0; ``exp(-inf)`` is 0 whatever the angle, and the real
    part of ``exp(inf)`` infinite, as in C's ``cexp``.
    """
    a, b = parts(builder, operands[0])
    dtype = builder.dtype_of(a)
    op, test = _writer(builder, dtype), _writer(builder, BOOL)
    number = _LARGE[dtype.itemsize]
    zero, large = builder.const(0, dtype), builder.const(number, dtype)
    is_large = test("greater", a, large)
    size = op("exp", op("select", is_large, op("subtract", a, large), a))
    one, rest = builder.const(1, dtype), builder.const(math.exp(number), dtype)
    factor = op("select", is_large, rest, one)
    real = op("multiply", size, op("multiply", factor, op("cos", b)))
    imag = op("multiply", size, op("multiply", factor, op("sin", b)))
    is_real = test("equal", b, zero)
    real = op("select", is_real, op("multiply", size, factor), real)
    imag = op("select", is_real, b, imag)
    infinity, lowest = builder.const(np.inf, dtype), builder.const(-np.inf, dtype)
    has_angle = test("isfinite", b)
    is_lost = test("logical_and", test("equal", a, lowest), test("logical_not", has_angle))
    is_wide = test("logical_and", test("equal", a, infinity), test("logical_not", has_angle))
    real = op("select", is_wide, infinity, op("select", is_lost, zero, real))
    imag = op("select", is_lost, op("copysign", zero, b), imag)
    return joined(builder, real, imag)


RULES: dict[str, Rule] = {
    "add": _each_part("add"),
    "subtract": _each_part("subtract"),
    "negative": _each_part("negative"),
    "multiply": product,
    "divide": quotient,
    "square": square,
    "reciprocal": reciprocal,
    "absolute": modulus,
    "exp": exponential,
    "select": _select,
    "equal": _test("equal", "logical_and"),
    "not_equal": _test("not_equal", "logical_or"),
    "isnan": _test("isnan", "logical_or"),
    "isinf": _test("isinf", "logical_or"),
    "isfinite": _test("isfinite", "logical_and"),
}
"""What rows of the scalar op table are on complex numbers; those not here fall back."""
