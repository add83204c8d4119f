"""``cov`` and ``corrcoef``: deviations from the mean, then one matrix product."""

from __future__ import annotations

from typing import Any

import numpy as np

from fusejit.tracer.indexing.creation import array_from
from fusejit.tracer.indexing.view_functions import permuted, squeeze, with_leading_axes
from fusejit.tracer.np.arrays.conversions import array_of
from fusejit.tracer.np.arrays.joins import concatenate
from fusejit.tracer.np.elementwise.ufuncs import CLIP, apply_ufunc, call_ufunc
from fusejit.tracer.np.reductions.contraction import matmul
from fusejit.tracer.np.reductions.over_axes import mean_of
from fusejit.tracer.program.fallback import Fallback, numpy_raises, numpy_warns
from fusejit.tracer.program.locations import MOVE_OUTSIDE, unsupported
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.operand_types import F64
from fusejit.tracer.values.symbolic_number import is_host_number
from fusejit.tracer.values.traced_primitives import primitive_of


def _variables(obj: Any, rowvar: Any, dtype: np.dtype, is_first: bool) -> TracedArray:
    """One variable per row, in the dtype of the computation; a fresh array."""
    array = array_from(obj)
    if array.ndim > 2:
        raise numpy_raises("ValueError: the array has more than 2 dimensions")
    made = with_leading_axes(array_of(array, dtype), 2)
    one_row = array.ndim == 1 if is_first else made.shape[0] == 1
    return permuted(made, (1, 0)) if not rowvar and not one_row else made


@primitive_of("m y", np.cov)
def cov(
    m: Any,
    y: Any = None,
    rowvar: Any = True,
    bias: Any = False,
    ddof: Any = None,
    fweights: Any = None,
    aweights: Any = None,
    *,
    dtype: Any = None,
) -> Any:
    """``np.cov`` without weights.

    Source: ``numpy.lib._function_base_impl.cov``.
    """
    if fweights is not None or aweights is not None:
        raise unsupported("np.cov with weights is not traced", MOVE_OUTSIDE)
    if bias is not True and bias is not False:
        raise unsupported(f"np.cov with bias={bias!r}", "use True or False")
    if ddof is None:
        ddof = 0 if bias else 1
    if not is_host_number(ddof):
        raise unsupported("np.cov with ddof= that is not a number", MOVE_OUTSIDE)
    given = [array_from(x).dtype for x in (m, y) if x is not None]
    wanted = np.result_type(*given, F64) if dtype is None else np.dtype(dtype)
    if wanted.kind != "f":
        raise unsupported(f"np.cov in {wanted}", "take the covariance of floats")
    rows = _variables(m, rowvar, wanted, True)
    if rows.trace.decisions.equal(rows.extents[0], 0, "np.cov of no variables"):
        raise Fallback("np.cov of no variables")
    if y is not None:
        rows = concatenate([rows, _variables(y, rowvar, wanted, False)], 0)
    degrees = rows.shape[1] - ddof
    if not degrees > 0:
        raise numpy_warns("Degrees of freedom <= 0 for slice")
    deviations = apply_ufunc(np.subtract, (rows, mean_of(rows, 1)[:, None]))
    products = matmul(deviations, permuted(deviations, (1, 0)))
    return squeeze(apply_ufunc(np.multiply, (products, 1.0 / degrees)))


@primitive_of("x y", np.corrcoef)
def corrcoef(x: Any, y: Any = None, rowvar: Any = True, *, dtype: Any = None) -> Any:
    """``np.corrcoef``: covariances over standard deviations, within -1 and 1."""
    covariance = cov(x, y, rowvar, dtype=dtype)
    if not covariance.ndim:
        return apply_ufunc(np.true_divide, (covariance, covariance))
    deviation = call_ufunc(np.sqrt, covariance.diagonal())
    by_rows = apply_ufunc(np.true_divide, (covariance, deviation[:, None]))
    result = apply_ufunc(np.true_divide, (by_rows, deviation[None, :]))
    return call_ufunc(CLIP, result, -1, 1)
