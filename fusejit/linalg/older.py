"""Forms of the dialect's older document, and `pad`: convolutions and pooling of any rank, views.

Where a window leaves its operand the older ops read a fixed number; no padded array is made.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from fusejit.ir.definitions.definition import Access, OperandSpec, Role, Update, make_definition
from fusejit.ir.definitions.indices import Index, dim, dims, extent, extents
from fusejit.ir.definitions.instance import row_of_bools
from fusejit.ir.definitions.scalars import cast, const, element, padded
from fusejit.ir.scalar_ops.combiners import COMBINERS
from fusejit.ir.types import BOOL
from fusejit.structured.generic import OpFamily, Resolved, given_only
from fusejit.structured.op import rank_of

Padding = Sequence[tuple[int, int]]


def _per_axis(op: str, what: str, given: Any, rank: int) -> list[int]:
    """One integer per axis, at least 1; one for all where it is a number."""
    values = [given] * rank if np.ndim(given) == 0 else [*given]
    if len(values) != rank:
        raise ValueError(f"{op}: {what} has {len(values)} values for {rank} axes")
    if any(v < 1 for v in values):
        raise ValueError(f"{op}: {what} {values} are not all at least 1")
    return [int(v) for v in values]


def _padding(op: str, given: Any, rank: int) -> list[tuple[int, int]]:
    """The widths before each axis and after it."""
    if np.ndim(given) == 0:
        given = [(given, given)] * rank
    pairs = [(int(low), int(high)) for low, high in given]
    if len(pairs) != rank or any(low < 0 or high < 0 for low, high in pairs):
        raise ValueError(f"{op}: padding {given!r} is not a pair of widths for each of {rank} axes")
    return pairs


@OpFamily
def pad(input: Any, padding: Padding | int, value: Any = 0, *, out: Any = None) -> Resolved:
    """``input`` with a border of ``value``: ``padding`` has the widths (low, high) of each axis.

    In a traced function that reads each element once it is computed where it is read; where a
    stencil reads each several times, the padded array is written, unless ``fusion="aggressive"``.
    """
    rank = rank_of(input)
    widths = _padding("pad", padding, rank)
    both = list(zip(dims("d", rank), extents("D", rank), widths, strict=True))
    place = tuple(d - low if low or high else d for d, _, (low, high) in both)
    shape = tuple(e + (low + high) if low or high else e for _, e, (low, high) in both)
    value_there = padded("input", place, const("T", value))
    made = make_definition(
        "pad",
        [
            OperandSpec("input", Role.INPUT, "T", extents("D", rank)),
            OperandSpec("O", Role.OUTPUT, "T", shape),
        ],
        [Access("input", place, is_padded=True)],
        [Update(Access("O", dims("d", rank)), value_there)],
        doc=pad.__doc__,
    )
    return made, (input,), given_only(out=out)


def _image(
    op: str, rank: int, strides: Any, dilations: Any, padding: Any
) -> tuple[list[Index], list[Index], tuple[Index, ...], tuple[Index, ...]]:
    """Subscripts of the image, extents of the output, and the dims of output and window."""
    x, z, sizes, windows = dims("x", rank), dims("z", rank), extents("S", rank), extents("Z", rank)
    steps = _per_axis(op, "strides", strides, rank)
    gaps = _per_axis(op, "dilations", dilations, rank)
    place, shape = [], []
    for k, (low, high) in enumerate(_padding(op, padding, rank)):
        place.append(x[k] * steps[k] + z[k] * gaps[k] - low)
        span = sizes[k] + (low + high - 1) - (windows[k] - 1) * gaps[k]
        shape.append(span // steps[k] + 1)
    return place, shape, x, z


@OpFamily
def conv(
    filter: Any,
    input: Any,
    *,
    strides: Any = 1,
    dilations: Any = 1,
    padding: Any = 0,
    init: Any = None,
    out: Any = None,
) -> Resolved:
    """``out[b, x.., k] += filter[z.., q, k] * input[b, x * strides + z * dilations - low.., q]``.

    Any number of image axes, channels last; 0 is read outside of the image.
    """
    rank = rank_of(input) - 2
    if rank < 1:
        raise ValueError(f"conv: input has {rank + 2} axes, fewer than batch, image and channels")
    place, shape, x, z = _image("conv", rank, strides, dilations, padding)
    image = (dim("b"), *place, dim("q"))
    kernel = (*z, dim("q"), dim("k"))
    first = cast("U", element("filter", kernel))
    second = cast("U", padded("input", image, const("T1", 0)))
    windows, sizes = extents("Z", rank), extents("S", rank)
    made = make_definition(
        "conv",
        [
            OperandSpec("filter", Role.INPUT, "T2", (*windows, extent("Q"), extent("K"))),
            OperandSpec("input", Role.INPUT, "T1", (extent("B"), *sizes, extent("Q"))),
            OperandSpec("output", Role.OUTPUT, "U", (extent("B"), *shape, extent("K"))),
        ],
        [Access("filter", kernel), Access("input", image, is_padded=True)],
        [Update(Access("output", (dim("b"), *x, dim("k"))), first * second, "add")],
        doc=conv.__doc__,
    )
    return made, (filter, input), given_only(init=init, out=out)


def _pooling(combiner: str, name: str, doc: str) -> OpFamily:
    def identity(dtype: np.dtype) -> Any:
        row = row_of_bools(combiner, numpy_bools=False) if dtype == BOOL else combiner
        return COMBINERS[row].identity(dtype)

    def resolve(
        input: Any,
        window: Any,
        *,
        strides: Any = 1,
        dilations: Any = 1,
        padding: Any = 0,
        init: Any = None,
        out: Any = None,
    ) -> Resolved:
        rank = rank_of(input)
        place, shape, x, z = _image(name, rank, strides, dilations, padding)
        value = padded("input", tuple(place), const("T", identity))
        made = make_definition(
            name,
            [
                OperandSpec("input", Role.INPUT, "T", extents("S", rank)),
                OperandSpec("window", Role.SHAPE, "W", extents("Z", rank)),
                OperandSpec("output", Role.OUTPUT, "T", tuple(shape)),
            ],
            [Access("input", tuple(place), is_padded=True), Access("window", z)],
            [Update(Access("output", x), value, combiner)],
            doc=doc,
        )
        return made, (input, window), given_only(init=init, out=out)

    resolve.__name__, resolve.__doc__ = name, doc
    return OpFamily(resolve)


_OVER = "of each window over all axes; ``window`` gives its extents."
pooling_max = _pooling("max", "pooling_max", f"The largest element {_OVER}")
pooling_min = _pooling("min", "pooling_min", f"The smallest element {_OVER}")
pooling_sum = _pooling("add", "pooling_sum", f"The sum {_OVER}")


# ------------------------------------------------------------------------------------------ views
def range_(start: Any, stop: Any, step: Any = 1) -> Any:
    """The indices that `slice_` keeps of an axis: ``start, start + step, ..`` below ``stop``."""
    return slice(start, stop, step)


def slice_(view: Any, *indexings: Any) -> Any:
    """A view: for each axis a `range_`, which keeps it, or an index, which drops it."""
    if len(indexings) != view.ndim:
        raise ValueError(f"slice: {len(indexings)} indexings for {view.ndim} axes")
    return view[indexings]


def reshape(view: Any, reassociation: Sequence[Sequence[int]]) -> Any:
    """The array with each group of neighbouring axes merged into one: a view where it can be.

    Raises
    ------
    ValueError
        If the groups are not all axes in order.
    """
    if [a for group in reassociation for a in group] != [*range(view.ndim)]:
        raise ValueError(f"reshape: {list(reassociation)} are not the {view.ndim} axes in order")
    shape = tuple(math.prod(view.shape[axis] for axis in group) for group in reassociation)
    return view.reshape(shape)


OLDER = {
    **{f.__name__: f for f in (pad, conv, pooling_max, pooling_min, pooling_sum, reshape)},
    "range": range_,
    "slice": slice_,
}
"""The functions of this file under their names in `fusejit.linalg`."""
