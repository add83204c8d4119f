"""Places of extrema: ``argmax`` and ``argmin``, the first of equal elements, the first NaN if any.

``out[i] = min { k : a[i, k] == m[i] or a[i, k] is NaN }`` with ``m`` the maximum, which is NaN if
any element is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fusejit.ir.affine import AffineExpr
from fusejit.ir.payload import I64, PayloadBuilder
from fusejit.tracer.builder.primitives import PRIMITIVES, primitive
from fusejit.tracer.indexing.creation import array_from
from fusejit.tracer.indexing.reshape_functions import reshape_method
from fusejit.tracer.np.reductions.over_axes import NO_VALUE, into, one_axis, reduce_array
from fusejit.tracer.ops.elementwise_op import emit_elementwise
from fusejit.tracer.program.fallback import numpy_raises
from fusejit.tracer.program.locations import MOVE_OUTSIDE, unsupported
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.operand_types import BOOL

_NOWHERE = np.iinfo(np.int64).max


def _place_of(function: Any, extremum: Any) -> None:
    """``out[i]`` is the first ``k`` with the extremum of ``a[i, k]``, or with a NaN."""

    @primitive(function)
    def place(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = NO_VALUE) -> Any:
        keeps = keepdims is not NO_VALUE and bool(keepdims)
        name = function.__name__
        return _first(array_from(a), name, PRIMITIVES[extremum], axis, out, keeps)

    place.__name__ = place.__qualname__ = function.__name__


_place_of(np.argmax, np.max)
_place_of(np.argmin, np.min)


def _first(
    array: TracedArray,
    name: str,
    extremum: Callable[..., TracedArray],
    axis: Any,
    out: Any,
    keepdims: bool,
) -> TracedArray:
    rank = array.ndim
    if isinstance(out, TracedArray) and out.dtype != I64:
        raise unsupported(f"out= of np.{name} with another dtype than int64", MOVE_OUTSIDE)
    if axis is None:
        array, along = PRIMITIVES[np.ravel](array), 0
    else:
        array = array if rank else PRIMITIVES[np.ravel](array)
        along = one_axis(axis, array.ndim)
    if array.trace.decisions.is_empty(array.extents[along], name):
        raise numpy_raises(f"ValueError: attempt to get {name} of an empty sequence")
    largest = extremum(array, axis=along, keepdims=True)

    def place(builder: PayloadBuilder, refs: list[int]) -> int:
        element, best = refs
        found = builder.op("equal", [element, best], BOOL)
        if array.dtype.kind == "f":
            is_nan = builder.op("not_equal", [element, element], BOOL)
            found = builder.op("logical_or", [found, is_nan], BOOL)
        here = builder.index(AffineExpr.dim(along))
        return builder.op("select", [found, here, builder.const(_NOWHERE, I64)], I64)

    places = emit_elementwise(name, [array, largest], None, I64, place, order=None)
    first = reduce_array(places, name, "min", along, keepdims and axis is not None, I64, False)
    if keepdims and axis is None:
        first = reshape_method(first, (1,) * rank).as_owner()
    return into(first, out)
