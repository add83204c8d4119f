"""Identities of scalar ops: the only ones used are those that keep every bit.

Exact for floats: ``x * 1``, ``x / 1``, ``x - 0.0``, ``x + -0.0``, ``max(x, x)``, ``a + -b`` (it is
``a - b``), ``x < x`` (never). Exact for integers alone: ``x - x``, ``x * 0``, ``0 - x``,
``x == x``, ``not (a < b)``, ``(x + 1) + 2``, ``(a + b) - b``, the maximum with the largest one.

Tempting and wrong for floats: ``x + 0.0`` (-0.0 becomes 0.0), ``x * 0`` and ``x - x`` (NaN and inf,
the sign of the zero), ``x / x``, ``0 - x`` (0.0, where ``-x`` is -0.0), ``-(a - b)`` as ``b - a``
(the sign of the zero again), ``x == x`` and ``not (a < b)`` (NaN), ``fmax(x, -inf)`` (NaN), sums
and products in another order. Wrong for integers: ``abs(x * x)`` (it wraps), ``bool(int32(x))``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fusejit.ir.payload import Instr, PayloadBuilder
from fusejit.ir.scalar_ops.row import Identity as TableIdentity
from fusejit.ir.scalar_ops.scalar_op_table import SCALAR_OPS
from fusejit.ir.types import BOOL

Identity = Callable[[PayloadBuilder, Instr], int | None]
"""Gives a ref of the same bits as the instruction (which is not added yet), or None."""

ROUNDINGS = frozenset({"floor", "ceil", "trunc", "rint"})


def number_of(builder: PayloadBuilder, ref: int) -> Any:
    """The number of a constant, or None."""
    instr = builder.instr_of(ref)
    return instr.attr if instr is not None and instr.op == "const" else None


def _is(number: Any, value: float) -> bool:
    """Whether a constant is ``value``, with the same sign of zero."""
    return (
        number is not None
        and bool(number == value)
        and math.copysign(1.0, number) == math.copysign(1.0, value)
    )


def _operands_of(builder: PayloadBuilder, ref: int, op: str) -> tuple[int, ...] | None:
    """The operands of the ``op`` that makes ``ref``, or None if something else makes it."""
    instr = builder.instr_of(ref)
    return instr.operands if instr is not None and instr.op == op else None


# ------------------------------------------------------------------------ identities of the table
def _of_table(builder: PayloadBuilder, instr: Instr) -> int | None:
    """A neutral or absorbing number, or an operand with itself."""
    dtype = builder.dtype_of(instr.operands[0])
    for identity in SCALAR_OPS[instr.op].identities:
        if dtype.kind not in identity.kinds:
            continue
        other = _left_over(builder, identity, instr.operands, dtype)
        if other is not None:
            known = identity.result
            return other if known is None else builder.const(known(dtype), instr.dtype)
    return None


def _left_over(
    builder: PayloadBuilder, identity: TableIdentity, operands: Sequence[int], dtype: np.dtype
) -> int | None:
    """The operand beside the number of an identity, or None if there is no such number."""
    first, second = operands
    if identity.number is None:
        return first if first == second else None
    number = identity.number(dtype)
    if _is(number_of(builder, second), number):
        return first
    return second if identity.is_symmetric and _is(number_of(builder, first), number) else None


# ------------------------------------------------------------------------------------- repetition
def _involution(builder: PayloadBuilder, instr: Instr) -> int | None:
    """``f(f(x))`` is ``x``."""
    inner = _operands_of(builder, instr.operands[0], instr.op)
    return None if inner is None else inner[0]


def _rounding(builder: PayloadBuilder, instr: Instr) -> int | None:
    """What is whole already: a rounded number, an integer, an integer in a float."""
    (operand,) = instr.operands
    inner = builder.instr_of(operand)
    if instr.dtype.kind != "f" or (inner is not None and inner.op in ROUNDINGS):
        return operand
    if inner is not None and inner.op == "cast":
        return operand if builder.dtype_of(inner.operands[0]).kind in "biu" else None
    return None


def _absolute(builder: PayloadBuilder, instr: Instr) -> int | None:
    """``abs(abs(x))``, ``abs(-x)``; unsigned numbers; squares, where they do not wrap."""
    (operand,) = instr.operands
    inner = builder.instr_of(operand)
    if instr.dtype.kind in "bu":
        return operand
    if inner is None:
        return None
    squared = inner.op == "square" or (inner.op == "multiply" and len(set(inner.operands)) == 1)
    if inner.op in ("absolute", "fabs") or (squared and instr.dtype.kind == "f"):
        return operand
    return builder.op(instr.op, inner.operands, instr.dtype) if inner.op == "negative" else None


def _square(builder: PayloadBuilder, instr: Instr) -> int | None:
    """``square(-x)`` and ``square(abs(x))`` are ``square(x)``, for integers that wrap too."""
    inner = builder.instr_of(instr.operands[0])
    if inner is not None and inner.op in ("negative", "absolute", "fabs"):
        return builder.op("square", inner.operands, instr.dtype)
    return None


def _constants_of_integers(builder: PayloadBuilder, instr: Instr) -> int | None:
    """``(x + 1) + 2`` is ``x + 3`` where numbers wrap; floats would round otherwise."""
    first, second = instr.operands
    outer = number_of(builder, second)
    inner = _operands_of(builder, first, instr.op)
    if instr.dtype.kind not in "biu" or outer is None or inner is None:
        return None
    number = number_of(builder, inner[1])
    if number is None:
        return None
    combine = "add" if instr.op == "subtract" else instr.op
    with np.errstate(all="ignore"):
        values = [instr.dtype.type(number), instr.dtype.type(outer)]
        total = SCALAR_OPS[combine].evaluate(values, instr.dtype)
    return builder.op(instr.op, [inner[0], builder.const(total, instr.dtype)], instr.dtype)


def _taken_back(builder: PayloadBuilder, instr: Instr) -> int | None:
    """``(a + b) - b`` and ``(a - b) + b`` are ``a`` for integers, which wrap."""
    if instr.dtype.kind not in "iu":
        return None
    first, second = instr.operands
    if instr.op == "subtract":
        a, b = _operands_of(builder, first, "add") or (None, None)
        return a if b == second else b if a == second else None
    for one, other in ((first, second), (second, first)):
        a, b = _operands_of(builder, one, "subtract") or (None, None)
        if b == other:
            return a
    return None


# -------------------------------------------------------------------------------------- negation
def _add_negated(builder: PayloadBuilder, instr: Instr) -> int | None:
    """``a + -b`` is ``a - b``, ``-a + b`` is ``b - a``."""
    a, b = instr.operands
    for kept, other in ((a, b), (b, a)):
        negated = _operands_of(builder, other, "negative")
        if negated is not None:
            return builder.op("subtract", [kept, *negated], instr.dtype)
    return None


def _subtract_negated(builder: PayloadBuilder, instr: Instr) -> int | None:
    """``a - -b`` is ``a + b``; ``0 - x`` is ``-x`` for integers."""
    a, b = instr.operands
    negated = _operands_of(builder, b, "negative")
    if negated is not None:
        return builder.op("add", [a, *negated], instr.dtype)
    if instr.dtype.kind in "iu" and _is(number_of(builder, a), 0):
        return builder.op("negative", [b], instr.dtype)
    return None


def _both_negated(builder: PayloadBuilder, instr: Instr) -> int | None:
    """``-a * -b`` and ``-a / -b``."""
    a, b = (_operands_of(builder, o, "negative") for o in instr.operands)
    return None if a is None or b is None else builder.op(instr.op, [*a, *b], instr.dtype)


def _divide_by_power_of_two(builder: PayloadBuilder, instr: Instr) -> int | None:
    """The multiplication by the inverse, if that is exact and not subnormal."""
    a, b = instr.operands
    divisor = number_of(builder, b)
    if divisor is None or not math.isfinite(divisor) or abs(math.frexp(divisor)[0]) != 0.5:
        return None
    inverse = instr.dtype.type(1.0 / divisor)
    limits = np.finfo(instr.dtype)
    if not limits.smallest_normal <= abs(inverse) <= limits.max:
        return None
    return builder.op("multiply", [a, builder.const(inverse, instr.dtype)], instr.dtype)


# -------------------------------------------------------------------------------- logic, selection
def _negated_comparison(builder: PayloadBuilder, instr: Instr) -> int | None:
    """``not (a == b)``; ``not (a < b)`` only where there is no NaN."""
    inner = builder.instr_of(instr.operands[0])
    row = None if inner is None else SCALAR_OPS.get(inner.op)
    if inner is None or row is None:
        return None
    floats = builder.dtype_of(inner.operands[0]).kind == "f"
    name = row.opposite if floats else row.opposite_if_ordered
    return builder.op(name, inner.operands, instr.dtype) if name else None


def _select(builder: PayloadBuilder, instr: Instr) -> int | None:
    """One answer, a known answer, the condition itself, a condition that is negated."""
    condition, if_true, if_false = instr.operands
    if if_true == if_false:
        return if_true
    number = number_of(builder, condition)
    if number is not None:
        return if_true if number else if_false
    negated = _operands_of(builder, condition, "logical_not")
    if negated is not None:
        return builder.op("select", [*negated, if_false, if_true], instr.dtype)
    if instr.dtype == BOOL:
        answers = (number_of(builder, if_true), number_of(builder, if_false))
        if answers == (True, False):
            return condition
        if answers == (False, True):
            return builder.op("logical_not", [condition], BOOL)
    return None


# ------------------------------------------------------------------------------------------ casts
def _cast(builder: PayloadBuilder, instr: Instr) -> int | None:
    """``cast(cast(x))`` is one cast where the first loses nothing that shows in the second."""
    inner = builder.instr_of(instr.operands[0])
    if builder.dtype_of(instr.operands[0]) == instr.dtype:
        return instr.operands[0]
    if inner is None or inner.op != "cast":
        return None
    source, middle, target = builder.dtype_of(inner.operands[0]), inner.dtype, instr.dtype
    if not is_exact_cast(source, middle):
        # Integers wrap: the low bits of the low bits.
        integers = source.kind + middle.kind + target.kind
        wraps = set(integers) <= set("iu") and target.itemsize <= middle.itemsize
        return builder.cast(inner.operands[0], target) if wraps else None
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


# ------------------------------------------------------------------------------------------ table
_OTHERS: dict[str, tuple[Identity, ...]] = {
    "add": (_add_negated, _taken_back, _constants_of_integers),
    "subtract": (_subtract_negated, _taken_back, _constants_of_integers),
    "multiply": (_both_negated, _constants_of_integers),
    "divide": (_divide_by_power_of_two, _both_negated),
    "bitwise_and": (_constants_of_integers,),
    "bitwise_or": (_constants_of_integers,),
    "bitwise_xor": (_constants_of_integers,),
    "negative": (_involution,),
    "invert": (_involution,),
    "logical_not": (_involution, _negated_comparison),
    "absolute": (_absolute,),
    "fabs": (_absolute,),
    "square": (_square,),
    "select": (_select,),
    "cast": (_cast,),
    **dict.fromkeys(sorted(ROUNDINGS), (_rounding,)),
}
IDENTITIES: dict[str, tuple[Identity, ...]] = {
    **_OTHERS,
    **{
        row.name: (_of_table, *_OTHERS.get(row.name, ()))
        for row in SCALAR_OPS.values()
        if row.identities
    },
}
"""The identities of each op, in the order in which they are tried."""


def apply_identities(builder: PayloadBuilder, instr: Instr) -> int | None:
    """A ref with the same bits as ``instr``, whose operands are refs of ``builder``, or None."""
    for identity in IDENTITIES.get(instr.op, ()):
        ref = identity(builder, instr)
        if ref is not None and builder.dtype_of(ref) == instr.dtype:
            return ref
    return None
