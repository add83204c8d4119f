"""Comparisons of integers as NumPy makes them: by value, whatever their dtypes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fusejit.ir.payload import PayloadBuilder
from fusejit.tracer.ops.elementwise_op import Compute
from fusejit.tracer.values.operand_types import BOOL, F64, I64, U64, Operand, int_fits

COMPARISONS = {np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal}
_TRUE_OF_NEGATIVE = {np.less, np.less_equal, np.not_equal}
_SWAPPED: dict[np.ufunc, np.ufunc] = {
    np.less: np.greater,
    np.less_equal: np.greater_equal,
    np.greater: np.less,
    np.greater_equal: np.less_equal,
}


def decide_comparison(operands: Sequence[Operand]) -> list[Operand]:
    """A Python int outside the dtype it is compared with: NumPy knows the answer, not the dtype.

    ``uint8_array < 300`` is True everywhere. Such an int is replaced by a number that compares
    alike: one beyond the dtype's range in a wider dtype.
    """
    operands = [*operands]
    if len(operands) != 2:
        return operands
    for k, operand in enumerate(operands):
        other = operands[1 - k].token
        if not operand.is_weak_int or not isinstance(other, np.dtype) or other.kind not in "iu":
            continue
        is_counter = operand.number is not None and operand.number.is_local
        if operand.array is not None or is_counter:  # an int of the kernel has 64 bits
            whole = Operand(I64, array=operand.array, number=operand.number)
            operands = [whole if i == k else o for i, o in enumerate(operands)]
            continue
        if operand.number is None:
            info = np.iinfo(other)
            below, above = operand.literal < info.min, operand.literal > info.max
        else:
            fits = int_fits(operand.number, other)
            below, above = not fits[0], not fits[1]
        if below or above:
            far = Operand(F64, literal=np.float64(-np.inf if below else np.inf))
            operands = [far if i == k else o for i, o in enumerate(operands)]
    return operands


def compare_signed_with_unsigned(ufunc: np.ufunc, loop: Sequence[np.dtype]) -> Compute:
    """``s < u`` for int64 and uint64 is ``s < 0 or uint64(s) < u``: neither is rounded."""

    def compute(builder: PayloadBuilder, refs: list[int]) -> int:
        signed, unsigned = refs if loop[0].kind == "i" else refs[::-1]
        asked = ufunc if loop[0].kind == "i" else _SWAPPED.get(ufunc, ufunc)
        zero = builder.const(0, loop[0] if loop[0].kind == "i" else loop[1])
        as_unsigned = builder.op(asked.__name__, [builder.cast(signed, U64), unsigned], BOOL)
        if asked in _TRUE_OF_NEGATIVE:
            negative = builder.op("less", [signed, zero], BOOL)
            return builder.op("logical_or", [negative, as_unsigned], BOOL)
        natural = builder.op("greater_equal", [signed, zero], BOOL)
        return builder.op("logical_and", [natural, as_unsigned], BOOL)

    return compute
