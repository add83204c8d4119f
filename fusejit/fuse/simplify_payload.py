"""Payload simplification: only rewrites that keep every bit.

``x * 1``, ``x / 1``, ``x - 0.0`` and ``x + -0.0`` are ``x``; ``x + 0.0`` is not (it turns -0.0 into
0.0), nor is ``x * 0.0`` zero. A division by a power of two is the multiplication by its inverse.
Constants fold through the table of scalar ops, but not into NaN (whose sign bit is the machine's)
and not through casts of numbers the target cannot hold.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from fusejit.ir.payload import Instr, Payload, PayloadBuilder
from fusejit.ir.scalar_ops import EXTREMA, SCALAR_OPS

_NEVER_FOLDED = frozenset(EXTREMA)  # the sign of a zero is not NumPy's
_Rule = Callable[[PayloadBuilder, Instr], int | None]


def simplify(payload: Payload) -> Payload:
    """The payload after one round of rewriting; the same object if nothing changed."""
    num_inputs = payload.num_inputs
    builder = PayloadBuilder(payload.arguments[:num_inputs], payload.arguments[num_inputs:])
    refs = list(range(payload.num_arguments))
    for old in payload.instrs:
        instr = replace(old, operands=tuple(refs[o] for o in old.operands))
        ref = _simplified(builder, instr)
        refs.append(builder.add(instr) if ref is None else ref)
    new = builder.finish([refs[r] for r in payload.results])
    return payload if _same(new, payload) else new


def _same(a: Payload, b: Payload) -> bool:
    """Equality that tells 0.0 from -0.0 and takes NaN for NaN."""
    keys_a, keys_b = ([i.key() for i in p.instrs] for p in (a, b))
    return keys_a == keys_b and a.results == b.results


def _simplified(builder: PayloadBuilder, instr: Instr) -> int | None:
    if instr.op in ("const", "extract"):
        return None
    if instr.op == "index":
        number = instr.attr.as_constant()
        return None if number is None else builder.const(number, instr.dtype)
    if (folded := _fold_constants(builder, instr)) is not None:
        return folded
    rule = _RULES.get(instr.op)
    ref = None if rule is None else rule(builder, instr)
    if ref is not None and builder.dtype_of(ref) == instr.dtype:
        return ref
    return None


# -------------------------------------------------------------------------------------- constants
def _definition(builder: PayloadBuilder, ref: int) -> Instr | None:
    position = ref - len(builder.arguments)
    return builder.instrs[position] if position >= 0 else None


def _number(builder: PayloadBuilder, ref: int) -> Any:
    """The number of a constant, or None."""
    instr = _definition(builder, ref)
    return instr.attr if instr is not None and instr.op == "const" else None


def _fold_constants(builder: PayloadBuilder, instr: Instr) -> int | None:
    numbers = [_number(builder, o) for o in instr.operands]
    if not numbers or any(n is None for n in numbers):
        return None
    values = [builder.dtype_of(o).type(n) for o, n in zip(instr.operands, numbers, strict=True)]
    if instr.op == "cast":
        if not _can_hold(instr.dtype, numbers[0]):
            return None
        result = values[0].astype(instr.dtype)
    else:
        row = SCALAR_OPS[instr.op]
        if not row.exact or row.name in _NEVER_FOLDED:
            return None
        with np.errstate(all="ignore"):
            result = row.evaluate(values, instr.dtype)
    if result != result:
        return None
    return builder.const(result, instr.dtype)


def _can_hold(dtype: np.dtype, number: Any) -> bool:
    """Whether a cast of ``number`` is defined by the language, not by the machine."""
    if dtype.kind in "iu":
        if not math.isfinite(number):
            return False
        limits = np.iinfo(dtype)
        return bool(limits.min <= int(number) <= limits.max)
    if dtype.kind == "f":
        return bool(number == number) and abs(number) <= float(np.finfo(dtype).max)
    return bool(number == number)


# ------------------------------------------------------------------------------------------ rules
def _is(number: Any, value: float) -> bool:
    """Whether a constant is ``value``, with the same sign of zero."""
    return (
        number is not None
        and bool(number == value)
        and math.copysign(1.0, number) == math.copysign(1.0, value)
    )


def _is_zero(builder: PayloadBuilder, ref: int, sign: float) -> bool:
    """Whether ``ref`` is an integer 0 or the floating-point zero with the sign of ``sign``."""
    number = _number(builder, ref)
    if builder.dtype_of(ref).kind != "f":
        return number is not None and number == 0
    return _is(number, math.copysign(0.0, sign))


def _add(builder: PayloadBuilder, instr: Instr) -> int | None:
    a, b = instr.operands
    if _is_zero(builder, b, -1.0):
        return a
    return b if _is_zero(builder, a, -1.0) else None


def _subtract(builder: PayloadBuilder, instr: Instr) -> int | None:
    a, b = instr.operands
    return a if _is_zero(builder, b, 1.0) else None


def _multiply(builder: PayloadBuilder, instr: Instr) -> int | None:
    a, b = instr.operands
    if _is(_number(builder, b), 1.0):
        return a
    if _is(_number(builder, a), 1.0):
        return b
    if instr.dtype.kind != "f" and any(_is(_number(builder, o), 0.0) for o in (a, b)):
        return builder.const(0, instr.dtype)
    return None


def _divide(builder: PayloadBuilder, instr: Instr) -> int | None:
    a, b = instr.operands
    divisor = _number(builder, b)
    if divisor is None:
        return None
    if _is(divisor, 1.0):
        return a
    if not math.isfinite(divisor) or abs(math.frexp(divisor)[0]) != 0.5:
        return None
    inverse = instr.dtype.type(1.0 / divisor)
    limits = np.finfo(instr.dtype)
    if not limits.smallest_normal <= abs(inverse) <= limits.max:
        return None
    return builder.op("multiply", [a, builder.const(inverse, instr.dtype)], instr.dtype)


def _involution(builder: PayloadBuilder, instr: Instr) -> int | None:
    """``f(f(x))`` is ``x``."""
    inner = _definition(builder, instr.operands[0])
    if inner is not None and inner.op == instr.op:
        return inner.operands[0]
    return None


def _absolute(builder: PayloadBuilder, instr: Instr) -> int | None:
    inner = _definition(builder, instr.operands[0])
    if inner is None:
        return None
    if inner.op == "absolute":
        return instr.operands[0]
    if inner.op == "negative" and instr.dtype.kind in "if":  # unsigned: -x is 2**n - x
        return builder.op("absolute", inner.operands, instr.dtype)
    return None


def _select(builder: PayloadBuilder, instr: Instr) -> int | None:
    condition, if_true, if_false = instr.operands
    if if_true == if_false:
        return if_true
    number = _number(builder, condition)
    if number is None:
        return None
    return if_true if number else if_false


def _logical_and(builder: PayloadBuilder, instr: Instr) -> int | None:
    return _boolean(builder, instr, neutral=True)


def _logical_or(builder: PayloadBuilder, instr: Instr) -> int | None:
    return _boolean(builder, instr, neutral=False)


def _boolean(builder: PayloadBuilder, instr: Instr, neutral: bool) -> int | None:
    a, b = instr.operands
    if a == b:
        return a
    for one, other in ((a, b), (b, a)):
        number = _number(builder, one)
        if number is not None:
            return other if bool(number) == neutral else one
    return None


def _cast(builder: PayloadBuilder, instr: Instr) -> int | None:
    """``cast(cast(x))`` is one cast where the first loses nothing that shows in the second."""
    inner = _definition(builder, instr.operands[0])
    if builder.dtype_of(instr.operands[0]) == instr.dtype:
        return instr.operands[0]
    if inner is None or inner.op != "cast":
        return None
    source, middle, target = builder.dtype_of(inner.operands[0]), inner.dtype, instr.dtype
    if not is_exact_cast(source, middle):
        return None
    # A float that an integer type cannot hold is converted as the machine does it.
    if middle.kind == "f" and target.kind in "iu" and not is_exact_cast(source, target):
        return None
    return builder.cast(inner.operands[0], target)


def is_exact_cast(source: np.dtype, target: np.dtype) -> bool:
    """Whether every number of ``source`` is one of ``target`` (int64 in float64 is not)."""
    if source == target or source.kind == "b":
        return True
    if source.kind in "iu":
        info = np.iinfo(source)
        if target.kind == "f":
            return info.bits - (source.kind == "i") <= np.finfo(target).nmant + 1
        if target.kind in "iu":
            other = np.iinfo(target)
            return bool(other.min <= info.min and info.max <= other.max)
        return False
    return target.kind == "f" and target.itemsize >= source.itemsize


_RULES: dict[str, _Rule] = {
    "add": _add,
    "subtract": _subtract,
    "multiply": _multiply,
    "divide": _divide,
    "negative": _involution,
    "invert": _involution,
    "logical_not": _involution,
    "absolute": _absolute,
    "select": _select,
    "logical_and": _logical_and,
    "logical_or": _logical_or,
    "cast": _cast,
}
