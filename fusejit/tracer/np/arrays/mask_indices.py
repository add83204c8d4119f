"""Masks beside other indices: a mask alone behind a view, or the integers that NumPy makes of them.

NumPy defines ``x[m, i]`` by ``x[*m.nonzero(), i]``. Where the mask comes first and basic indices
follow, the same elements are those of a view under the mask, which needs no integers and stays in
the kernel:

=========================  =======================
as written                 as traced
=========================  =======================
``x[m, 0]``                ``x[:, 0][m]``
``x[k, m]``                ``x[k][m]``
``x[m, 1:3]``              ``x[:, 1:3][m]``
``x[:, m]``, ``x[m, ids]`` ``x[:, *m.nonzero()]``
=========================  =======================
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fusejit.tracer.host.host_call_tracing import host_call
from fusejit.tracer.indexing.index_arrays import index_array
from fusejit.tracer.program.fallback import numpy_raises
from fusejit.tracer.program.locations import needs_python, unsupported
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.operand_types import operand_of
from fusejit.tracer.values.symbolic_number import SymbolicNumber

_WHOLE = slice(None)


def is_mask(item: Any) -> bool:
    """Whether an item of an index is boolean: an array of them, or a bool on its own."""
    if isinstance(item, SymbolicNumber):
        item = item.value
    if isinstance(item, bool | np.bool_):
        return True
    return isinstance(item, TracedArray | np.ndarray) and item.dtype == np.bool_


def view_beside_mask(index: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """The basic index of a view of which the mask selects elements, or None.

    Parameters
    ----------
    index : tuple
        As written, with one mask or more.

    Returns
    -------
    tuple or None
        ``index`` with full slices in place of its mask, if that is the only array in it and only
        integers stand before it: then what the mask selects is NumPy's first axis too.
    """
    at = next(k for k, item in enumerate(index) if is_mask(item))
    before, mask, behind = index[:at], index[at], index[at + 1 :]
    if not getattr(mask, "ndim", 0) or not all(_is_integer(i) for i in before):
        return None
    if not all(_is_basic(i) for i in behind):
        return None
    return (*before, *(_WHOLE,) * mask.ndim, *behind)


def without_masks(array: TracedArray, index: tuple[Any, ...]) -> tuple[Any, ...]:
    """The index with the integers of `numpy.nonzero` in place of each mask."""
    taken = sum(_axes_of(item) for item in index)
    if taken > array.ndim:
        raise numpy_raises("IndexError: too many indices for array")
    made: list[Any] = []
    axis = 0
    for item in index:
        if item is Ellipsis:
            axis += array.ndim - taken
        mask = operand_of(item).array if is_mask(item) else None
        if is_mask(item) and (mask is None or not mask.ndim):
            why = "a bool that is not an array, beside other indices"
            what = f"fusejit does not trace this index: {why}"
            raise unsupported(what, "write `if` around the statement, or np.where(condition, x, y)")
        if mask is None:
            made.append(item)
        else:
            require_mask_fits(array, mask, axis)
            made += positions(mask)
        axis += _axes_of(item)
    return tuple(made)


def positions(mask: TracedArray) -> tuple[TracedArray, ...]:
    """``mask.nonzero()``: how many there are is what the mask selects elsewhere too."""
    trace = mask.trace
    key = ("selected", mask.value())
    size = trace.locals.find_bound(key)
    made = host_call("numpy.nonzero", np.nonzero, (mask,), {}, by_data=True, size=size)
    assert isinstance(made, tuple)
    trace.locals.note_bound(key, made[0].extents[0])
    return made


def require_mask_fits(array: TracedArray, mask: TracedArray, axis: int = 0) -> None:
    """Falls back unless a mask has the extents of the axes of ``array`` from ``axis`` on."""
    if mask.ndim > array.ndim - axis:
        raise numpy_raises("IndexError: too many indices for array")
    for a, b in zip(mask.extents, array.extents[axis:], strict=False):
        if not array.trace.decisions.equal(
            a, b, "a mask has the shape of the array", or_raises=True
        ):
            if array.trace.decisions.equal(a, 0, "a mask without elements has any shape"):
                what = "a mask without elements, of another shape than the array"
                raise needs_python(what, "x[:0] is an empty selection")
            raise numpy_raises("IndexError: boolean index did not match indexed array")


def _axes_of(item: Any) -> int:
    if item is None or item is Ellipsis:
        return 0
    return int(getattr(item, "ndim", 0)) if is_mask(item) else 1


def _is_integer(item: Any) -> bool:
    return not (item is None or item is Ellipsis or isinstance(item, slice)) and _is_basic(item)


def _is_basic(item: Any) -> bool:
    if item is None or item is Ellipsis or isinstance(item, slice):
        return True
    if is_mask(item):
        return False
    array = index_array(item)
    return array is None or not array.ndim
