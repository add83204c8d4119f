"""``split`` and its family: views of consecutive parts."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from fusejit.tracer.builder.primitives import primitive
from fusejit.tracer.indexing.view_functions import array_operand, moveaxis, normalize_axis, permuted
from fusejit.tracer.np.arrays.parts import section
from fusejit.tracer.program.fallback import numpy_raises
from fusejit.tracer.program.locations import unsupported
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.symbolic_number import SymbolicNumber, as_affine


def _slices(array: TracedArray, bounds: list[Any], axis: int) -> list[TracedArray]:
    """Parts between neighbouring bounds, which are indices as in a slice."""
    swapped = list(range(array.ndim))
    swapped[0], swapped[axis] = axis, 0
    first = permuted(array, tuple(swapped))
    rows = [first[a:b] for a, b in itertools.pairwise(bounds)]
    return [permuted(r, tuple(swapped)) for r in rows]


@primitive(np.array_split, complex=True)
def array_split(ary: Any, indices_or_sections: Any, axis: Any = 0) -> Any:
    """``np.array_split``: views between bounds, or of lengths that differ by at most one."""
    array = array_operand(ary)
    at = normalize_axis(axis, array.ndim)
    size = array.shape[at]
    if isinstance(indices_or_sections, list | tuple | np.ndarray):
        return _slices(array, [0, *indices_or_sections, size], at)
    if isinstance(indices_or_sections, TracedArray):
        what = "an array of bounds that is known only when compiled code runs"
        raise unsupported(what, "pass the bounds as Python ints")
    sections = int(indices_or_sections)
    if sections <= 0:
        raise numpy_raises("ValueError: number sections must be larger than 0.")
    each, rest = divmod(size, sections)
    extra = rest.exact() if isinstance(rest, SymbolicNumber) else rest
    lengths = [each + 1] * extra + [each] * (sections - extra)
    parts, start = [], 0
    for length in lengths:
        parts.append(section(array, at, as_affine(start), as_affine(length)))
        start = start + length
    return parts


@primitive(np.split, complex=True)
def split(ary: Any, indices_or_sections: Any, axis: Any = 0) -> Any:
    """``np.split``: views of equal lengths, or between bounds."""
    array = array_operand(ary)
    if not isinstance(indices_or_sections, list | tuple | np.ndarray | TracedArray):
        size = array.shape[normalize_axis(axis, array.ndim)]
        if size % indices_or_sections != 0:
            raise numpy_raises("ValueError: array split does not result in an equal division")
    return array_split(array, indices_or_sections, axis)


def _split_along(name: str, axis: int, ary: Any, indices_or_sections: Any) -> Any:
    array = array_operand(ary)
    if array.ndim <= axis:
        raise numpy_raises(f"ValueError: {name} only works on arrays of more dimensions")
    return split(array, indices_or_sections, axis)


@primitive(np.hsplit, complex=True)
def hsplit(ary: Any, indices_or_sections: Any) -> Any:
    """``np.hsplit``: views of columns (of elements for rank 1)."""
    axis = 1 if array_operand(ary).ndim > 1 else 0
    return _split_along("hsplit", axis, ary, indices_or_sections)


@primitive(np.vsplit, complex=True)
def vsplit(ary: Any, indices_or_sections: Any) -> Any:
    """``np.vsplit``: views of rows."""
    if array_operand(ary).ndim < 2:
        raise numpy_raises("ValueError: vsplit only works on arrays of 2 or more dimensions")
    return _split_along("vsplit", 0, ary, indices_or_sections)


@primitive(np.dsplit, complex=True)
def dsplit(ary: Any, indices_or_sections: Any) -> Any:
    """``np.dsplit``: views along the third axis."""
    return _split_along("dsplit", 2, ary, indices_or_sections)


@primitive(np.unstack, complex=True)
def unstack(x: Any, /, *, axis: Any = 0) -> Any:
    """``np.unstack``: the views along an axis, as many as its length says."""
    array = array_operand(x)
    if not array.ndim:
        raise numpy_raises("ValueError: Input array must be at least 1-d.")
    return tuple(moveaxis(array, axis, 0))
