"""References of convolutions and poolings: NumPy's sliding windows, by the letters of the names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from fusejit_testing.linalg.cases import Case, cast, sample

SIZES = {"n": 2, "c": 3, "f": 4, "g": 2, "m": 2}
PLACES = {"d": 2, "h": 3, "w": 4}
WINDOW = {"d": 2, "h": 3, "w": 2}
MOVES: tuple[tuple[Any, Any], ...] = (
    ((1, 1, 1), (1, 1, 1)),
    ((2, 3, 1), (1, 2, 3)),
    ((1, 2, 3), (2, 1, 1)),
)
"""Strides and dilations."""
CONV_TYPES = (("f8", "f8"), ("f4", "f4"), ("i1", "i4"), ("u1", "i4"), ("?", "?"), ("c16", "c16"))
POOL_TYPES = {
    "sum": (("f8", "f8"), ("f4", "f4"), ("i1", "i4"), ("u1", "i8"), ("?", "?"), ("c8", "c8")),
    "max": (("f8", "f8"), ("f4", "f4"), ("i1", "i4"), ("u1", "u2"), ("?", "?")),
    "unsigned": (("i1", "i4"), ("i4", "i4"), ("u1", "u2"), ("?", "?")),
}


def windows(
    image: np.ndarray, axes: Sequence[int], window: Sequence[int], strides: Any, dilations: Any
) -> np.ndarray:
    """The windows of an image as axes at the end; ``axes`` become the places of the window."""
    span = [(k - 1) * d + 1 for k, d in zip(window, dilations, strict=False)]
    every = sliding_window_view(image, span, axis=tuple(axes))
    place = [slice(None)] * image.ndim
    for axis, stride in zip(axes, strides, strict=False):
        place[axis] = slice(None, None, stride)
    steps = [slice(None, None, d) for d, _ in zip(dilations, axes, strict=False)]
    return every[(*place, *steps)]


def moves_of(name: str) -> tuple[tuple[Any, Any], ...]:
    """The strides and dilations that an op is tried with."""
    return MOVES if "_" in name.removeprefix("conv_") else MOVES[:1]


def _extent(axis: str, stride: int, dilation: int, extra: int) -> int:
    return (PLACES[axis] - 1) * stride + (WINDOW[axis] - 1) * dilation + 1 + extra


def letters_of(name: str) -> tuple[str, str, str]:
    """The axes of image, kernel and result: ``nhwc``, ``hwcf``, ``nhwf``."""
    parts = name.removesuffix("_q").split("_")
    is_depthwise = parts[0] == "depthwise"
    rank = int(parts[2 if is_depthwise else 1][0])
    spatial = "dhw"[-rank:]
    if parts[-1].endswith("d"):
        return spatial, spatial, spatial
    image, kernel = parts[-2:]
    if is_depthwise:
        return image, kernel, image + ("m" if "m" in kernel else "")
    return image, kernel, image.replace("c", "f")


def convolutions(name: str, empty: str = "") -> list[Case]:
    """Cases of a convolution; extents of the axes in ``empty`` are 0."""
    rng = np.random.default_rng(sum(map(ord, name)))
    types = CONV_TYPES[:4] if name.endswith("_q") else CONV_TYPES
    moves = moves_of(name)
    return [
        _convolution(rng, name, t, *moves[number % len(moves)], empty, number % 2)
        for number, t in enumerate(types)
    ]


def _convolution(
    rng: np.random.Generator,
    name: str,
    types: tuple[str, str],
    strides: Any,
    dilations: Any,
    empty: str,
    extra: int,
) -> Case:
    image, kernel, result = letters_of(name)
    spatial = [axis for axis in image if axis in "dhw"]
    strides, dilations = strides[: len(spatial)], dilations[: len(spatial)]
    if len(moves_of(name)) == 1:
        extra = 0  # an extent more would be a place more
    moved = dict(zip(spatial, zip(strides, dilations, strict=True), strict=True))
    sizes = {**SIZES, **dict.fromkeys(empty, 0)}
    extra *= all(s > 1 for s in strides)  # an element that no window reaches
    i = sample(
        rng,
        [sizes[x] if x in sizes else _extent(x, *moved[x], extra) for x in image],
        types[0],
    )
    k = sample(rng, [WINDOW[x] if x in WINDOW else sizes[x] for x in kernel], types[0])
    x, y = cast(i, types[1]), cast(k, types[1])
    inputs: tuple[Any, ...] = (i, k)
    if name.endswith("_q"):
        x, y = x - np.asarray(5, x.dtype), y - np.asarray(-2, y.dtype)
        inputs = i, k, np.int32(5), np.int32(-2)
    axes = [image.index(axis) for axis in spatial]
    every = windows(x, axes, [WINDOW[axis] for axis in spatial], strides, dilations)
    inner = "xyz"[: len(spatial)]
    by_window = kernel.translate(str.maketrans("".join(spatial), inner))
    alone = np.asarray(np.einsum(f"{image}{inner},{by_window}->{result}", every, y), types[1])
    start = sample(rng, alone.shape, types[1])
    started = start | alone if alone.dtype.kind == "b" else start + alone
    keywords: dict[str, Any] = {"dtype": types[1]}
    if len(moves_of(name)) > 1:
        keywords |= {"strides": strides, "dilations": dilations}
    label = f"{name} {types[0]}->{types[1]} strides {strides} dilations {dilations}"
    return Case(label, inputs, keywords, alone, start, np.asarray(started))


def poolings(name: str, empty: str = "") -> list[Case]:
    """Cases of a pooling; extents of the axes in ``empty`` are 0."""
    rng = np.random.default_rng(sum(map(ord, name)))
    kind = "unsigned" if name.endswith("unsigned") else "sum" if "sum" in name else "max"
    return [
        _pooling(rng, name, t, *MOVES[number % len(MOVES)], empty)
        for number, t in enumerate(POOL_TYPES[kind])
    ]


def _pooling(
    rng: np.random.Generator,
    name: str,
    types: tuple[str, str],
    strides: Any,
    dilations: Any,
    empty: str,
) -> Case:
    layout, kind = name.split("_")[1:3]
    is_signed = not name.endswith("unsigned")
    spatial = [axis for axis in layout if axis in "dhw"]
    strides, dilations = strides[: len(spatial)], dilations[: len(spatial)]
    moved = dict(zip(spatial, zip(strides, dilations, strict=True), strict=True))
    sizes = {**SIZES, **dict.fromkeys(empty, 0)}
    i = sample(
        rng, [sizes[x] if x in sizes else _extent(x, *moved[x], 0) for x in layout], types[0]
    )
    window = np.empty([WINDOW[axis] for axis in spatial], np.float32)
    x = cast(i, types[1], is_signed)
    every = windows(x, [layout.index(a) for a in spatial], window.shape, strides, dilations)
    last = tuple(range(-len(spatial), 0))
    start = sample(rng, every.shape[: i.ndim], types[1])
    alone, started = _pooled(kind, is_signed, every, start, last)
    keywords = {"dtype": types[1], "strides": strides, "dilations": dilations}
    label = f"{name} {types[0]}->{types[1]} strides {strides} dilations {dilations}"
    return Case(label, (i, window), keywords, alone, start, started)


def _pooled(
    kind: str, is_signed: bool, every: np.ndarray, start: np.ndarray, last: tuple[int, ...]
) -> tuple[np.ndarray, np.ndarray]:
    """The result alone and from a start; of bools the signed True is -1."""
    dtype = start.dtype
    if dtype.kind == "b":
        is_and = (kind == "max") == is_signed and kind != "sum"
        alone = np.asarray(every.all(last) if is_and else every.any(last))
        return alone, start & alone if is_and else start | alone
    if not is_signed and dtype.kind == "i":
        every, start = (a.view(dtype.str.replace("i", "u")) for a in (every.copy(), start))
    if kind == "sum":
        alone = every.sum(last, dtype=dtype)
        return alone, start + alone
    reduce, merge = (np.max, np.maximum) if kind == "max" else (np.min, np.minimum)
    alone = reduce(every, last)
    return alone.view(dtype), merge(start, alone).view(dtype)
