"""``round(x, digits)`` of Python's floats: the float nearest to the decimal number nearest to x."""

from __future__ import annotations

from typing import Any

import numpy as np

from fusejit.ir.ops import Assert
from fusejit.ir.types import Kind
from fusejit.tracer.builder.primitives import PRIMITIVES
from fusejit.tracer.builder.trace import current_trace
from fusejit.tracer.ops.checks import LEFT_TO_PYTHON
from fusejit.tracer.ops.kernel_numbers import as_kernel_number
from fusejit.tracer.program.locations import needs_python
from fusejit.tracer.values.array import ARRAY_OPS, TracedArray
from fusejit.tracer.values.operand_types import F64

_MAX_DIGITS = 22
"""Up to which powers of ten are floats."""
_SPLITTER = np.float64(2.0**27 + 1)
_WHOLE = 2.0**52
"""From here on floats are integers."""
_AS_IT_IS = 2.0**54
"""A float as many units of the last digit large is the one nearest to its rounded number."""


def round_decimals(number: TracedArray, digits: Any) -> TracedArray:
    """``round(number, digits)``, half to even.

    The product with the power of ten is computed as the sum of two floats, p + e, so that halves
    are told from what is next to them. Its integer, divided by the power, is correctly rounded.

    Source: T. J. Dekker, A floating-point technique for extending the available precision (1971).
    """
    if type(digits) is not int or not 0 <= digits <= _MAX_DIGITS:
        raise needs_python("rounds to such a number of digits", "use np.round(x, digits)")
    if number.dtype.kind != "f":
        return as_kernel_number(number, Kind.PYTHON, number.dtype)
    select = PRIMITIVES[np.where]
    x: Any = as_kernel_number(number, Kind.SCALAR, F64)
    power: Any = np.float64(10.0**digits)
    p: Any = x * power
    size = ARRAY_OPS.compute(np.abs, (p,))
    is_between = (size >= _WHOLE) & (size < _AS_IT_IS)
    reason = "a float that is rounded has no more than 16 digits"
    holds = ARRAY_OPS.compute(np.logical_not, (is_between,)).value()
    current_trace().emit(Assert(condition=holds, reason=reason, error=LEFT_TO_PYTHON))
    (x_high, x_low), (high, low) = _split(x), _split(power)
    error = ((x_high * high - p) + x_high * low + x_low * high) + x_low * low
    whole = ARRAY_OPS.compute(np.rint, (p,))
    part = p - whole
    whole = select((part == 0.5) & (error > 0.0), whole + 1.0, whole)
    whole = select((part == -0.5) & (error < 0.0), whole - 1.0, whole)
    return as_kernel_number(select(size < _WHOLE, whole / power, x), Kind.PYTHON, F64)


def _split(x: Any) -> tuple[Any, Any]:
    """Two floats of half the digits, of which ``x`` is the sum."""
    scaled = x * _SPLITTER
    high = scaled - (scaled - x)
    return high, x - high
