"""Windows that slide: ``sliding_window_view`` as an affine map, ``out[i, k] = x[i + k]``."""

from __future__ import annotations

from typing import Any

import numpy as np

from fusejit.ir.affine import AffineExpr
from fusejit.ir.indexing_map import IndexingMap
from fusejit.ir.write_access import WriteAccess
from fusejit.tracer.indexing.creation import array_from, shape_argument
from fusejit.tracer.indexing.view_functions import normalize_axis
from fusejit.tracer.program.fallback import numpy_raises
from fusejit.tracer.program.locations import unsupported
from fusejit.tracer.values.traced_primitives import primitive_of


@primitive_of("x window_shape", np.lib.stride_tricks.sliding_window_view)
def sliding_window_view(
    x: Any, window_shape: Any, axis: Any = None, *, subok: Any = False, writeable: Any = False
) -> Any:
    """``np.lib.stride_tricks.sliding_window_view``: a view whose windows share their elements.

    A reduction over a window becomes one loop nest that reads its neighbours, without a copy.
    """
    if writeable:
        what = "sliding_window_view with writeable=True is not traced"
        raise unsupported(what, "store into the array itself")
    array = array_from(x)
    shape = tuple(window_shape) if isinstance(window_shape, tuple | list) else (window_shape,)
    sizes = shape_argument(shape)
    if axis is None:
        axes = tuple(range(array.ndim))
    else:
        given = axis if isinstance(axis, tuple | list) else (axis,)
        axes = tuple(normalize_axis(a, array.ndim) for a in given)
    if len(sizes) != len(axes):
        raise numpy_raises("ValueError: Must provide matching length window_shape and axis")
    decisions = array.trace.decisions
    extents = list(array.extents)
    places = [AffineExpr.dim(d) for d in range(array.ndim)]
    for number, (a, size) in enumerate(zip(axes, sizes, strict=True)):
        if not decisions.at_most(size, extents[a], "a window fits into the array"):
            raise numpy_raises("ValueError: window shape cannot be larger than input array shape")
        extents[a] = decisions.canonical(extents[a] - size + 1)
        places[a] += AffineExpr.dim(array.ndim + number)
    whole = (*extents, *sizes)
    result = array.view(IndexingMap(len(whole), tuple(places)), whole)
    result.access = WriteAccess.READ_ONLY
    return result
