"""Ufuncs of complex numbers: which form of each NumPy computes.

Products, squares and absolute values of arrays are made by other loops of NumPy than those of two
scalars: with vectors, whose products may be fused, and which scale an absolute value in another
way. The forms for scalars are those of `fusejit.ir.complex_numbers.RULES`.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

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
from fusejit.ir.types import Kind
from fusejit.tracer.builder.primitives import PRIMITIVES, primitive
from fusejit.tracer.np.numbers.complex_parts import part_view
from fusejit.tracer.ops.elementwise_op import Compute, emit_scalar
from fusejit.tracer.ops.powers import decide_equal
from fusejit.tracer.program.fallback import Fallback
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.operand_types import BOOL, C128, F64, Operand
from fusejit.tracer.values.symbolic_number import SymbolicNumber

_SAMPLE = 3
_SIZES = 32


@functools.cache
def fuses_products() -> bool:
    """Whether NumPy's loops round the products of arrays of complex numbers once, not twice."""
    tiny = 2.0**-30
    z = np.full(_SAMPLE, complex(1 + tiny, 1 - tiny))
    return bool((z * z).real[0] != (1 + tiny) ** 2 - (1 - tiny) ** 2)


@functools.cache
def scales_moduli() -> bool:
    """Whether NumPy's loops scale absolute values of arrays by the larger part; else `hypot`."""
    a = np.arange(1.0, _SIZES)
    return not np.array_equal(np.absolute(a + 1j * a[::-1]), np.hypot(a, a[::-1]))


def _of_arrays() -> dict[np.ufunc, Rule]:
    fused = fuses_products()
    rules: dict[np.ufunc, Rule] = {
        np.multiply: functools.partial(product, fused=fused),
        np.square: functools.partial(square, fused=fused),
    }
    if scales_moduli():
        rules[np.absolute] = functools.partial(modulus_of_arrays, fused=fused)
    return rules


def _rule(ufunc: np.ufunc, operands: Sequence[Operand]) -> Rule | None:
    if ufunc is np.conjugate:
        return conjugate
    kinds = {o.array.kind for o in operands if o.array is not None}
    of_arrays = _of_arrays().get(ufunc) if Kind.ARRAY in kinds else None
    if of_arrays is not None:
        return of_arrays
    return RULES.get(ufunc.__name__)


def complex_computation(
    ufunc: np.ufunc, operands: Sequence[Operand], loop: Sequence[np.dtype]
) -> Compute | None:
    """What a ufunc computes whose loop has complex operands; None where only NumPy knows."""
    rule = _power(operands, loop) if ufunc is np.power else _rule(ufunc, operands)
    if ufunc is np.positive:
        return lambda builder, refs: refs[0]
    return None if ufunc is np.heaviside else rule


def _power(operands: Sequence[Operand], loop: Sequence[np.dtype]) -> Rule | None:
    """``z ** n`` for whole ``n`` from 1 on, by products as NumPy orders them."""
    n = _whole(operands[1].literal)
    if n is None:
        return None

    def rule(builder: Builder, refs: Sequence[int]) -> int:
        base = refs[0]
        if n <= 3:  # without the factor 1, which shows for infinities
            total = base
            for _ in range(n - 1):
                total = product(builder, [base, total])
        else:
            total = _by_squaring(builder, base, n)
        zero = builder.const(0, loop[0])
        is_zero = builder.op("equal", [base, zero], BOOL)
        return builder.op("select", [is_zero, zero, total], loop[0])

    return rule


def _whole(exponent: Any) -> int | None:
    """An exponent for which there is a rule."""
    if exponent is None or exponent != exponent or exponent.imag or not 1 <= exponent.real < 100:
        return None
    return int(exponent.real) if int(exponent.real) == exponent.real else None


def _by_squaring(builder: Builder, base: int, n: int) -> int:
    total = builder.const(1, builder.dtype_of(base))
    while True:
        if n % 2:
            total = product(builder, [total, base])
        n //= 2
        if not n:
            return total
        base = product(builder, [base, base])


def operator_of_power(exponent: object) -> np.ufunc | None:
    """The ufunc that ``array ** exponent`` is of complex arrays, where it is not `np.power`.

    An exponent that each call computes is compared with those of which this NumPy has short forms.
    """
    if not isinstance(exponent, SymbolicNumber):
        return _short_form(exponent) if type(exponent) in (int, float, complex) else None
    kind = type(exponent.value)
    for special in {int: (1, 2, -1), float: (1.0, 2.0, -1.0, 0.5)}.get(kind, ()):
        form = _short_form(special)
        if form is not None and decide_equal(exponent, special):
            return form
    return None


_SHORT_FORMS = (np.positive, np.square, np.reciprocal, np.sqrt)


@functools.cache
def _ask_short_form(kind: str, exponent: Any) -> np.ufunc | None:
    """Find out what this NumPy does: signs of zeros and last bits tell the ufuncs apart.

    It depends on the type of the exponent, too.
    """
    sample = np.array([complex(0, -0.0), complex(0, -1), -1, 2 + 3j])[exponent.real < 0 :]
    made = sample**exponent
    if _are_same(made, np.power(sample, exponent)):
        return None
    with np.errstate(all="ignore"):
        return next((f for f in _SHORT_FORMS if _are_same(f(sample), made)), None)


def _short_form(exponent: Any) -> np.ufunc | None:
    return (
        _ask_short_form(type(exponent).__name__, exponent) if exponent in (1, 2, -1, 0.5) else None
    )


def _are_same(left: np.ndarray, right: np.ndarray) -> bool:
    return left.tobytes() == right.tobytes()


def python_complex(ufunc: np.ufunc, operands: Sequence[TracedArray], exponent: Any) -> TracedArray:
    """An operator on Python's complex numbers: quotients and powers are not those of NumPy."""
    n = _whole(exponent) if type(exponent) is int else None
    rule = RULES.get(ufunc.__name__) if ufunc is not np.conjugate else conjugate
    if ufunc is np.true_divide:
        rule = functools.partial(quotient, python=True)
    elif ufunc is np.power:
        rule = None if n is None else lambda builder, refs: _by_squaring(builder, refs[0], n)
    if ufunc is np.positive:
        return operands[0]
    if rule is None:
        raise Fallback(f"Python's {ufunc.__name__} of complex numbers")
    given = operands[:1] if ufunc is np.power else operands
    result = {np.absolute: F64, np.equal: BOOL, np.not_equal: BOOL}.get(ufunc, C128)
    loop = [C128] * len(given)
    return emit_scalar(ufunc.__name__, given, loop, result, rule)


@primitive(np.ndarray.conjugate, np.ndarray.conj, complex=True)
def conjugate_of(number: TracedArray, *rest: Any, **kwargs: Any) -> Any:
    """``z.conjugate()``, which Python's numbers have too."""
    is_python = number.kind is Kind.PYTHON
    if number.dtype.kind != "c" and (is_python or not (rest or kwargs)):
        return part_view(number, "real")  # the very array
    if not is_python:
        return PRIMITIVES[np.conjugate](number, *rest, **kwargs)
    return python_complex(np.conjugate, [number], None)
