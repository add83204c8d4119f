"""Ufuncs of complex numbers: which form of each NumPy computes.

Products, squares and absolute values of arrays are made by other loops of NumPy than those of two
scalars: with vectors, whose products may be fused, and which scale an absolute value in another
way. The forms for scalars are those of `fusejit.ir.complex_numbers.RULES`.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np

from fusejit.ir.complex_numbers import (
    RULES,
    Builder,
    Rule,
    conjugate,
    modulus_of_arrays,
    product,
    quotient,
    square,
)
from fusejit.ir.payload import PayloadBuilder
from fusejit.ir.types import Kind
from fusejit.tracer.declined import Declined
from fusejit.tracer.elementwise import Compute
from fusejit.tracer.operands import Operand

_SAMPLE = 3


@functools.cache
def fuses_products() -> bool:
    """Whether NumPy's loops round the products of arrays of complex numbers once, not twice."""
    tiny = 2.0**-30
    z = np.full(_SAMPLE, complex(1 + tiny, 1 - tiny))
    return bool((z * z).real[0] != (1 + tiny) ** 2 - (1 - tiny) ** 2)


def _of_arrays() -> dict[np.ufunc, Rule]:
    if not fuses_products():
        return {}
    return {
        np.multiply: functools.partial(product, fused=True),
        np.square: functools.partial(square, fused=True),
        np.absolute: modulus_of_arrays,
    }


def _rule(ufunc: np.ufunc, operands: Sequence[Operand]) -> Rule | None:
    if ufunc is np.conjugate:
        return conjugate
    kinds = {o.array.kind for o in operands if o.array is not None}
    if Kind.ARRAY in kinds:
        of_arrays = _of_arrays().get(ufunc)
        if of_arrays is not None:
            return of_arrays
    elif ufunc is np.true_divide and all(o.token is complex for o in operands):
        return functools.partial(quotient, python=True)
    return RULES.get(ufunc.__name__)


def complex_computation(
    ufunc: np.ufunc, operands: Sequence[Operand], loop: Sequence[np.dtype]
) -> Compute:
    """What a ufunc computes whose loop has complex operands; declines where that is not known."""
    rule = _power(operands, loop) if ufunc is np.power else _rule(ufunc, operands)
    if ufunc is np.positive:
        return lambda builder, refs: refs[0]
    if rule is None or ufunc is np.heaviside:
        raise Declined(f"np.{ufunc.__name__} of {loop[0]}")
    found = rule

    def compute(builder: PayloadBuilder, refs: list[int]) -> int:
        return found(builder, refs)

    return compute


def _power(operands: Sequence[Operand], loop: Sequence[np.dtype]) -> Rule | None:
    """``z ** n`` for whole ``n`` from 1 on, by products as NumPy and Python order them."""
    exponent = operands[1].literal
    if exponent is None or exponent != exponent or exponent.imag or not 1 <= exponent.real < 100:
        return None
    n = int(exponent.real)
    if n != exponent.real:
        return None
    is_python = not any(isinstance(o.token, np.dtype) for o in operands)
    if is_python and type(exponent) is not int:
        return None

    def rule(builder: Builder, refs: Sequence[int]) -> int:
        base = refs[0]
        if n <= 3 and not is_python:  # without the factor 1, which shows for infinities
            total = base
            for _ in range(n - 1):
                total = product(builder, [base, total])
        else:
            total = _by_squaring(builder, base, n, loop[0])
        if is_python:
            return total
        zero = builder.const(0, loop[0])
        is_zero = builder.op("equal", [base, zero], np.dtype(np.bool_))
        return builder.op("select", [is_zero, zero, total], loop[0])

    return rule


def _by_squaring(builder: Builder, base: int, n: int, dtype: np.dtype) -> int:
    total = builder.const(1, dtype)
    while True:
        if n % 2:
            total = product(builder, [total, base])
        n //= 2
        if not n:
            return total
        base = product(builder, [base, base])


def operator_of_power(exponent: object) -> np.ufunc | None:
    """The ufunc that ``array ** exponent`` is of complex arrays, where it is not `np.power`."""
    if type(exponent) not in (int, float, complex):
        return None
    table = {1: np.positive, 2: np.square, -1: np.reciprocal}
    return table.get(exponent)  # type: ignore[call-overload, no-any-return]
