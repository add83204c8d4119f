"""Calls of `numpy.linalg` that kernels make themselves: those of single real matrices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from fusejit.ir.inline_calls.inline_linalg import inline_linalg
from fusejit.ir.ops import Assert, HostCall
from fusejit.ir.types import Kind
from fusejit.tracer.builder.shapes import Varies
from fusejit.tracer.builder.trace import current_trace
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.operand_types import BOOL, F64

_REAL = "biuf"
_HALF = np.dtype(np.float16)


def linalg_in_kernel(name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """``numpy.linalg.name(*args)`` as an op of a kernel; None if NumPy has to run it.

    Parameters
    ----------
    name : str
        With its module: ``numpy.linalg.inv``.
    args, kwargs
        As the program gives them.
    """
    row, trace = inline_linalg(name), current_trace()
    if row is None or kwargs or trace.tries or len(args) != row.num_operands:
        return None
    if not all(isinstance(arg, TracedArray) and _is_real(arg) for arg in args):
        return None
    matrix, *sides = args
    if matrix.ndim != 2 or any(side.ndim not in (1, 2) for side in sides):
        return None
    size, *others = matrix.extents[0], matrix.extents[1], *(side.extents[0] for side in sides)
    try:
        if not all(trace.decisions.equal(size, other, "a matrix is square") for other in others):
            return None
    except Varies:
        return None
    given = tuple((arg if arg.dtype == F64 else arg.astype(F64)).value() for arg in args)
    extents = (sides or [matrix])[0].extents if row.error else ()
    made = trace.new_value(F64, extents, Kind.ARRAY if row.error else Kind.SCALAR)
    flags = [trace.new_value(BOOL, (), Kind.SCALAR)] if row.error else []
    results = (made, *flags)
    trace.emit(HostCall(results=results, function=row.function, arguments=given, inline=True))
    for flag in flags:
        trace.emit(Assert(condition=flag, reason=row.error, error="raise LinAlgError"))
    result = TracedArray.of_value(trace, made)
    is_single = all(arg.dtype == np.float32 for arg in args)  # NumPy rounds what it gets in float64
    return result.astype(np.float32) if is_single else result


def _is_real(array: TracedArray) -> bool:
    """Whether `numpy.linalg` takes an array, as real numbers."""
    return array.dtype.kind in _REAL and array.dtype != _HALF
