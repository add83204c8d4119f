"""References of `pack` and `unpack`, by padding, reshapes and transposes; and of winograd."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fusejit_testing.linalg.windows import windows

TILINGS: tuple[tuple[tuple[int, ...], dict[str, Any]], ...] = (
    ((9, 10), {"inner_dims_pos": (0, 1), "inner_tiles": (4, 3)}),
    ((9, 10), {"inner_dims_pos": (1, 0), "inner_tiles": (3, 4)}),
    ((9, 10), {"inner_dims_pos": (0, 1), "inner_tiles": (4, 3), "outer_dims_perm": (1, 0)}),
    ((7, 5), {"inner_dims_pos": (1,), "inner_tiles": (4,), "outer_dims_perm": (1, 0)}),
    ((3, 4), {"outer_dims_perm": (1, 0)}),
    ((5, 3, 7), {"inner_dims_pos": (2, 0), "inner_tiles": (2, 3), "outer_dims_perm": (2, 0, 1)}),
    ((11,), {"inner_dims_pos": (0,), "inner_tiles": (4,)}),
    ((0, 5), {"inner_dims_pos": (1,), "inner_tiles": (2,)}),
)
"""Shapes, and how they are tiled."""


def packed(
    source: np.ndarray,
    value: Any,
    inner_dims_pos: Sequence[int] = (),
    inner_tiles: Sequence[int] = (),
    outer_dims_perm: Sequence[int] | None = None,
) -> np.ndarray:
    """The tiles of an array, the last ones filled up with ``value``."""
    tile = dict(zip(inner_dims_pos, inner_tiles, strict=True))
    missing = [(0, -n % tile.get(j, 1)) for j, n in enumerate(source.shape)]
    padded = np.pad(source, missing, constant_values=value)
    split: list[int] = []
    place = {}
    for j, n in enumerate(padded.shape):
        place[j] = len(split)
        split += [n // tile[j], tile[j]] if j in tile else [n]
    axes = [place[p] for p in outer_dims_perm or range(source.ndim)]
    axes += [place[j] + 1 for j in inner_dims_pos]
    return padded.reshape(split).transpose(axes)


def convolved(image: np.ndarray, filters: np.ndarray) -> np.ndarray:
    """The direct convolution of ``NHWC`` by ``FHWC``, all places."""
    every = windows(image, (1, 2), filters.shape[1:3], (1, 1), (1, 1))
    return np.asarray(np.einsum("nhwcyx,fyxc->nhwf", every, filters))
