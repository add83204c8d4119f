"""Forms of the dialect's older document, and `pad`: convolutions and pooling of any rank, views.

Where a window leaves its operand the older ops read a fixed number; no padded array is made.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fusejit.ir.definitions.definition import Access, OperandSpec, Role, Update, make_definition
from fusejit.ir.definitions.indices import DIM, EXTENT, Index
from fusejit.ir.definitions.scalars import Scalar, cast, const
from fusejit.ir.scalar_ops.combiners import COMBINERS
from fusejit.structured.generic import OpFamily, Resolved
from fusejit.structured.op import rank_of

Padding = Sequence[tuple[int, int]]


def _axis(name: str) -> Index:
    return Index(EXTENT, (name,))


def _dim(name: str) -> Index:
    return Index(DIM, (name,))


def _per_axis(op: str, what: str, given: Any, rank: int, least: int) -> list[int]:
    """One integer per axis; one for all where it is a number."""
    values = [given] * rank if np.ndim(given) == 0 else [*given]
    if len(values) != rank:
        raise ValueError(f"{op}: {what} has {len(values)} values for {rank} axes")
    if any(v < least for v in values):
        raise ValueError(f"{op}: {what} {values} are not all at least {least}")
    return [int(v) for v in values]


def _padding(op: str, given: Any, rank: int) -> list[tuple[int, int]]:
    """The widths in front of each axis and after it."""
    if np.ndim(given) == 0:
        given = [(given, given)] * rank
    pairs = [(int(low), int(high)) for low, high in given]
    if len(pairs) != rank or any(low < 0 or high < 0 for low, high in pairs):
        raise ValueError(f"{op}: padding {given!r} is no pair of widths for each of {rank} axes")
    return pairs


def _keywords(init: Any, out: Any) -> dict[str, Any]:
    return {name: v for name, v in (("init", init), ("out", out)) if v is not None}


def _axes(letter: str, rank: int) -> list[Index]:
    return [_axis(f"{letter}{k}") for k in range(rank)]


@OpFamily
def pad(input: Any, padding: Padding | int, value: Any = 0, *, out: Any = None) -> Resolved:
    """``input`` with a border of ``value``: ``padding`` has the widths (low, high) of each axis.

    In a traced function it is computed where it is read: no padded array is written.
    """
    rank = rank_of(input)
    widths = _padding("pad", padding, rank)
    dims = [f"d{k}" for k in range(rank)]
    place = tuple(
        _dim(d) - low if low or high else _dim(d)
        for d, (low, high) in zip(dims, widths, strict=True)
    )
    shape = tuple(
        _axis(f"D{k}") + (low + high) if low or high else _axis(f"D{k}")
        for k, (low, high) in enumerate(widths)
    )
    element = Scalar("padded", (const("T", value),), ("input", place))
    made = make_definition(
        "pad",
        [
            OperandSpec("input", Role.INPUT, "T", tuple(_axis(f"D{k}") for k in range(rank))),
            OperandSpec("O", Role.OUTPUT, "T", shape),
        ],
        [Access("input", place, is_padded=True)],
        [Update(Access("O", tuple(map(_dim, dims))), element)],
        dims=dims,
        doc=str(pad.__doc__),
    )
    return made, (input,), _keywords(None, out)


def _window(
    rank: int, strides: Sequence[int], dilations: Sequence[int], widths: Padding
) -> tuple[list[Index], list[Index]]:
    """Subscripts of the image for dims x0.. and z0.., and the extents of the output."""
    place, extents = [], []
    for k in range(rank):
        low, high = widths[k]
        place.append(_dim(f"x{k}") * strides[k] + _dim(f"z{k}") * dilations[k] - low)
        span = _axis(f"S{k}") + (low + high - 1) - (_axis(f"Z{k}") - 1) * dilations[k]
        extents.append(span // strides[k] + 1)
    return place, extents


def _image(
    op: str, rank: int, strides: Any, dilations: Any, padding: Any
) -> tuple[list[Index], list[Index], list[str], list[str]]:
    """Subscripts of the image, extents of the output, and the dims of output and window."""
    steps = _per_axis(op, "strides", strides, rank, 1)
    place, extents = _window(
        rank, steps, _per_axis(op, "dilations", dilations, rank, 1), _padding(op, padding, rank)
    )
    return place, extents, [f"x{k}" for k in range(rank)], [f"z{k}" for k in range(rank)]


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
    place, extents, x, z = _image("conv", rank, strides, dilations, padding)
    image = (_dim("b"), *place, _dim("q"))
    kernel = (*map(_dim, z), _dim("q"), _dim("k"))
    factors = (
        Scalar("element", (), ("filter", kernel)),
        Scalar("padded", (const("T1", 0),), ("input", image)),
    )
    first, second = (cast("U", factor) for factor in factors)
    windows, sizes = _axes("Z", rank), _axes("S", rank)
    made = make_definition(
        "conv",
        [
            OperandSpec("filter", Role.INPUT, "T2", (*windows, _axis("Q"), _axis("K"))),
            OperandSpec("input", Role.INPUT, "T1", (_axis("B"), *sizes, _axis("Q"))),
            OperandSpec("output", Role.OUTPUT, "U", (_axis("B"), *extents, _axis("K"))),
        ],
        [Access("filter", kernel), Access("input", image, is_padded=True)],
        [Update(Access("output", (_dim("b"), *map(_dim, x), _dim("k"))), first * second, "add")],
        dims=["b", *x, "k", *z, "q"],
        doc=str(conv.__doc__),
    )
    return made, (filter, input), _keywords(init, out)


def _pooling(combiner: str, name: str, doc: str) -> OpFamily:
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
        place, extents, x, z = _image(name, rank, strides, dilations, padding)
        outside = const("T", COMBINERS[combiner].identity)
        element = Scalar("padded", (outside,), ("input", tuple(place)))
        made = make_definition(
            name,
            [
                OperandSpec("input", Role.INPUT, "T", tuple(_axes("S", rank))),
                OperandSpec("window", Role.SHAPE, "W", tuple(_axes("Z", rank))),
                OperandSpec("output", Role.OUTPUT, "T", tuple(extents)),
            ],
            [Access("input", tuple(place), is_padded=True), Access("window", tuple(map(_dim, z)))],
            [Update(Access("output", tuple(map(_dim, x))), element, combiner)],
            dims=[*x, *z],
            doc=doc,
        )
        return made, (input, window), _keywords(init, out)

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
    shape = []
    for group in reassociation:
        size: Any = 1
        for axis in group:
            size = size * view.shape[axis]
        shape.append(size)
    return view.reshape(tuple(shape))


OLDER = {
    **{f.__name__: f for f in (pad, conv, pooling_max, pooling_min, pooling_sum, reshape)},
    "range": range_,
    "slice": slice_,
}
"""The functions of this file under their names in `fusejit.linalg`."""
