"""``polyval`` and ``vander``."""

from __future__ import annotations

from typing import Any

import numpy as np

from fusejit.ir.affine import AffineExpr
from fusejit.tracer.indexing.creation import array_from
from fusejit.tracer.np.arrays.conversions import astype
from fusejit.tracer.np.arrays.like_functions import full_like, zeros_like
from fusejit.tracer.np.arrays.parts import new_array, section, store
from fusejit.tracer.np.elementwise.ufuncs import apply_ufunc
from fusejit.tracer.program.fallback import numpy_raises
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.operand_types import contains_traced
from fusejit.tracer.values.symbolic_number import SymbolicNumber
from fusejit.tracer.values.traced_primitives import primitive_of


@primitive_of("p x", np.polyval)
def polyval(p: Any, x: Any) -> Any:
    """``np.polyval``: Horner's rule, ``((p[0]) x + p[1]) x + ..``."""
    coefficients = list(array_from(p)) if contains_traced(p) else list(np.asarray(p))
    points = array_from(x)
    result: Any = zeros_like(points)
    for coefficient in coefficients:
        scaled = apply_ufunc(np.multiply, (result, points))
        result = apply_ufunc(np.add, (scaled, coefficient))
    return result


@primitive_of("x", np.vander)
def vander(x: Any, N: Any = None, increasing: Any = False) -> Any:
    """``np.vander``: the powers of each element, multiplied one after the other."""
    points = array_from(x)
    if points.ndim != 1:
        raise numpy_raises("ValueError: x must be a one-dimensional array or sequence.")
    length = points.shape[0] if N is None else N
    count = length.exact() if isinstance(length, SymbolicNumber) else int(length)
    if count < 0:
        raise numpy_raises("ValueError: negative dimensions are not allowed")
    dtype = np.promote_types(points.dtype, int)
    if points.dtype != dtype:
        points = astype(points, dtype)
    result = new_array((points.extents[0], AffineExpr.const(count)), dtype)
    power: TracedArray = full_like(points, 1)
    for k in range(count):
        at = k if increasing else count - 1 - k
        store(section(result, 1, at, 1)[:, 0], power)
        power = points if k == 0 else apply_ufunc(np.multiply, (power, points))
    return result
