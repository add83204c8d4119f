"""``convolve`` and ``correlate``: windowed sums, the ends apart from the middle.

    out[i] = sum_j a[i + j - left] * v[j]

In the middle the whole window lies inside ``a``. At the ends what lies outside is left out, as in
NumPy: it is no zero, which an infinite ``v[j]`` would turn into NaN.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fusejit.ir.affine import AffineExpr
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.ops import Init
from fusejit.ir.ops import Operand as GraphOperand
from fusejit.ir.payload import PayloadBuilder
from fusejit.ir.types import Kind
from fusejit.tracer.indexing.creation import array_from
from fusejit.tracer.indexing.view_functions import atleast_1d
from fusejit.tracer.np.arrays.parts import ZERO, new_array, section, store
from fusejit.tracer.ops.elementwise_op import copy_of
from fusejit.tracer.program.fallback import Fallback, numpy_raises
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.operand_types import BOOL, operand_of, supported
from fusejit.tracer.values.traced_primitives import primitive_of

Inside = tuple[str, AffineExpr]  # a comparison of ``i + j`` with a bound


def _windowed(
    a: TracedArray, v: TracedArray, length: AffineExpr, dtype: np.dtype, inside: Inside | None
) -> TracedArray:
    """``out[i] = sum_j a[i + j] * v[j]``, over the ``j`` for which ``i + j`` is ``inside``."""
    trace = a.trace
    domain = (trace.decisions.canonical(length), trace.decisions.canonical(v.extents[0]))
    place = AffineExpr.dim(0) + AffineExpr.dim(1)
    builder = PayloadBuilder([a.dtype, v.dtype], [dtype])
    term = builder.op("multiply", [builder.cast(0, dtype), builder.cast(1, dtype)], dtype)
    if inside is not None:
        condition = builder.op(inside[0], [builder.index(place), builder.index(inside[1])], BOOL)
        term = builder.op("select", [condition, term, builder.const(0, dtype)], dtype)
    result = trace.new_value(dtype, domain[:1])
    inputs = (
        GraphOperand(a.value(), IndexingMap(2, (place,))),
        GraphOperand(v.value(), IndexingMap.select(2, [1])),
    )
    init = Init(IndexingMap.select(2, [0]), "or" if dtype == BOOL else "add")
    payload = builder.finish([term])
    trace.emit_generic("convolve", result, inputs, payload, domain=domain, reduced=(1,), init=init)
    return TracedArray.of_value(trace, result)


def _correlated(a: TracedArray, v: TracedArray, mode: Any, dtype: np.dtype) -> TracedArray:
    """The correlation of ``a`` with ``v``, which is not longer."""
    trace = a.trace
    n, m = a.extents[0], v.extents[0]
    inner = n - m + 1
    if mode == "valid":
        return _windowed(a, v, inner, dtype, None)
    left = m.floordiv(2) if mode == "same" else m - 1
    right = m - 1 - left if mode == "same" else m - 1
    middle = _windowed(a, v, inner, dtype, None)
    if trace.decisions.constant(m) == 1:
        return middle
    result = new_array((left + inner + right,), dtype)
    store(section(result, 0, left, inner), middle)
    zero = operand_of(a.dtype.type(0))
    for width, at, used, inside in (
        (left, ZERO, section(a, 0, 0, m - 1), ("greater_equal", left)),
        (right, left + inner, section(a, 0, inner, m - 1), ("less", m - 1)),
    ):
        if trace.decisions.constant(width) == 0:
            continue
        longer = new_array((width + m - 1,), a.dtype)
        is_left = at == ZERO
        store(section(longer, 0, ZERO if is_left else m - 1, width), zero)
        store(section(longer, 0, width if is_left else ZERO, m - 1), used)
        store(section(result, 0, at, width), _windowed(longer, v, width, dtype, inside))
    return result


def _operands(a: Any, v: Any, mode: Any) -> tuple[TracedArray, TracedArray, bool, np.dtype]:
    """Both as arrays of rank 1, whether the second one is longer, and the result's dtype."""
    if mode not in ("valid", "same", "full"):
        raise Fallback(f"np.convolve or np.correlate with mode={mode!r}")
    first, second = atleast_1d(array_from(a)), atleast_1d(array_from(v))
    if first.ndim > 1 or second.ndim > 1:
        raise numpy_raises("ValueError: object too deep for desired array")
    decisions = first.trace.decisions
    for array in (first, second):
        if not decisions.nonnegative(array.extents[0] - 1, "np.convolve of elements"):
            raise numpy_raises("ValueError: a or v cannot be empty")
    is_longer = not decisions.at_most(
        second.extents[0], first.extents[0], "which operand of np.convolve is longer"
    )
    return first, second, is_longer, supported(np.result_type(first.dtype, second.dtype))


@primitive_of("a v", np.convolve)
def convolve(a: Any, v: Any, mode: Any = "full") -> Any:
    """``out[n] = sum_m a[m] * v[n - m]``, the sum in another order than NumPy's dot products."""
    first, second, is_longer, dtype = _operands(a, v, mode)
    if is_longer:
        first, second = second, first
    return _correlated(first, second[::-1], mode, dtype)


@primitive_of("a v", np.correlate)
def correlate(a: Any, v: Any, mode: Any = "valid") -> Any:
    """``out[k] = sum_n a[n + k] * v[n]``, the sum in another order than NumPy's dot products."""
    first, second, is_longer, dtype = _operands(a, v, mode)
    if not is_longer:
        return _correlated(first, second, mode, dtype)
    backwards = _correlated(second, first, mode, dtype)[::-1]
    return copy_of(backwards, dtype, None, "copy", Kind.ARRAY)
