"""Numbers of the call as scalars of the graph."""

from __future__ import annotations

import numpy as np

from fusejit.ir.graph import HostScalar
from fusejit.ir.host_affine import host_of
from fusejit.ir.types import DTYPES, Kind, TensorType, dtype_name, is_supported
from fusejit.ir.values import Value
from fusejit.tracer.program.fallback import Fallback
from fusejit.tracer.values.symbolic_number import NUMBER_OPS, SymbolicNumber

_INT64 = np.iinfo(np.int64)


def scalar_value(number: SymbolicNumber) -> Value:
    """A number of the call as a scalar of the graph."""
    if number.is_local:
        return NUMBER_OPS.kernel_value(number)
    trace, value = number.trace, number.value
    if type(value) is int and not _INT64.min <= value <= _INT64.max:
        raise Fallback("an integer beyond int64")
    expr = host_of(number.affine) if number.affine is not None else number.expr
    key = f"{type(value).__name__} {expr}"
    if key not in trace.scalars:
        dtype = np.asarray(value).dtype if isinstance(value, np.generic | bool) else None
        if dtype is None:
            dtype = np.dtype(np.int64 if isinstance(value, int) else np.float64)
        if not is_supported(dtype):
            raise Fallback(f"dtype {dtype}")
        base = expr.attr.name if expr.op == "path" else "c"
        kind = Kind.SCALAR if number.is_strong else Kind.PYTHON
        scalar = Value(trace.unique_name(base), TensorType(DTYPES[dtype_name(dtype)]), kind)
        trace.graph.scalars.append(HostScalar(scalar, expr))
        trace.scalars[key] = scalar
    return trace.scalars[key]
