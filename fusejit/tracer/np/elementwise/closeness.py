"""Whether two arrays are equal or close: ``np.array_equal``, ``np.isclose``, ``np.allclose``.

Source: ``numpy._core.numeric``.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from fusejit.ir.types import Kind
from fusejit.tracer.builder.primitives import primitive
from fusejit.tracer.indexing.creation import array_from
from fusejit.tracer.np.arrays.conversions import astype
from fusejit.tracer.np.elementwise.ufuncs import apply_ufunc, operator_call
from fusejit.tracer.np.reductions.over_axes import all_of
from fusejit.tracer.ops.kernel_numbers import as_kernel_number
from fusejit.tracer.program.fallback import numpy_warns
from fusejit.tracer.program.locations import unsupported
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.operand_types import BOOL
from fusejit.tracer.values.symbolic_number import is_host_number
from fusejit.tracer.values.traced_primitives import primitive_of


@primitive_of("a1 a2", np.array_equal, complex=True)
def array_equal(a1: Any, a2: Any, equal_nan: Any = False) -> Any:
    """Whether shapes and all elements are equal: a Python bool."""
    left, right = array_from(a1), array_from(a2)
    if left.ndim != right.ndim:
        return False
    equal = left.trace.decisions.equal
    pairs = zip(left.extents, right.extents, strict=True)
    if not all(equal(m, n, "np.array_equal of arrays of one shape") for m, n in pairs):
        return False
    same = apply_ufunc(np.equal, (left, right))
    if equal_nan:
        same = apply_ufunc(np.logical_or, (same, _both_nan(left, right)))
    return as_kernel_number(all_of(same), Kind.PYTHON, BOOL)


@primitive_of("a b", np.isclose)
def isclose(a: Any, b: Any, rtol: Any = 1.0e-5, atol: Any = 1.0e-8, equal_nan: Any = False) -> Any:
    """``abs(a - b) <= atol + rtol * abs(b)`` for finite ``b``, or ``a == b``."""
    for tolerance in (rtol, atol):
        if not is_host_number(tolerance):
            what = "np.isclose with a tolerance that is not a number is not traced"
            raise unsupported(what, "compare abs(a - b) with it instead")
        if not abs(tolerance) < math.inf:
            raise numpy_warns("one of rtol or atol is not valid")
    y = b
    if isinstance(b, TracedArray | np.ndarray | np.generic):
        y = astype(array_from(b), np.result_type(b.dtype, 1.0))
    elif type(b) is int:
        y = float(b)

    def operator(ufunc: np.ufunc, *operands: Any) -> Any:
        return operator_call(ufunc, operands)

    distance = apply_ufunc(np.absolute, (operator(np.subtract, a, y),))
    scaled = operator(np.multiply, rtol, apply_ufunc(np.absolute, (y,)))
    near = apply_ufunc(np.less_equal, (distance, operator(np.add, atol, scaled)))
    near = apply_ufunc(np.logical_and, (near, apply_ufunc(np.isfinite, (y,))))
    near = apply_ufunc(np.logical_or, (near, apply_ufunc(np.equal, (a, y))))
    if equal_nan:
        near = apply_ufunc(np.logical_or, (near, _both_nan(a, y)))
    return near.as_view() if near.ndim else near  # NumPy's ends with ``[()]``


@primitive(np.allclose)
def allclose(a: Any, b: Any, rtol: Any = 1.0e-5, atol: Any = 1.0e-8, equal_nan: Any = False) -> Any:
    """Whether all elements are close: a Python bool."""
    close = isclose(a, b, rtol, atol, equal_nan)
    if close is NotImplemented:
        return close
    return as_kernel_number(all_of(close), Kind.PYTHON, BOOL)


def _both_nan(a: Any, b: Any) -> TracedArray:
    nan = [apply_ufunc(np.not_equal, (x, x)) for x in (a, b)]
    return apply_ufunc(np.logical_and, (nan[0], nan[1]))
