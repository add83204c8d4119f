"""Pictures: channels last, grey conversion, edges, blur, tone curves."""

# mypy: disable-error-code="no-any-return"
# NumPy declares its ufuncs as returning Any.

from typing import Any

import numpy as np

from benchmarks.arguments import blocked_squares, pictures, squares
from benchmarks.workload import FUSION_SIZES, Array, Workload

FAMILY = "image"


def grey(rgb: Array) -> Array:
    return 0.2126 * rgb[:, :, 0] + 0.7152 * rgb[:, :, 1] + 0.0722 * rgb[:, :, 2]


def grey_bytes(rgb: Array) -> Array:
    linear = rgb.astype(np.float32)
    mixed = 0.2126 * linear[:, :, 0] + 0.7152 * linear[:, :, 1] + 0.0722 * linear[:, :, 2]
    return (mixed + 0.5).astype(np.uint8)


def sobel(g: Array) -> Array:
    dx = (g[:-2, 2:] + 2.0 * g[1:-1, 2:] + g[2:, 2:]) - (
        g[:-2, :-2] + 2.0 * g[1:-1, :-2] + g[2:, :-2]
    )
    dy = (g[2:, :-2] + 2.0 * g[2:, 1:-1] + g[2:, 2:]) - (
        g[:-2, :-2] + 2.0 * g[:-2, 1:-1] + g[:-2, 2:]
    )
    return np.sqrt(dx * dx + dy * dy)


def blur(g: Array) -> Array:
    across = 0.25 * g[:, :-2] + 0.5 * g[:, 1:-1] + 0.25 * g[:, 2:]
    return 0.25 * across[:-2] + 0.5 * across[1:-1] + 0.25 * across[2:]


def encode_srgb(linear: Array) -> Array:
    bright = 1.055 * np.maximum(linear, 0.0031308) ** (1.0 / 2.4) - 0.055
    return np.where(linear <= 0.0031308, 12.92 * linear, bright)


def reinhard(rgb: Array) -> Array:
    luminance = 0.2126 * rgb[:, :, 0] + 0.7152 * rgb[:, :, 1] + 0.0722 * rgb[:, :, 2]
    scale = (1.0 + luminance / 4.0) / (1.0 + luminance)
    return np.minimum(rgb * scale[:, :, None], 1.0)


def contrast(g: Array) -> Any:
    low = g.min()
    high = g.max()
    return (g - low) / (high - low)


def downsample(g: Array) -> Any:
    height, width = g.shape
    return g.reshape(height // 4, 4, width // 4, 4).mean(axis=(1, 3))


WORKLOADS = (
    Workload("grey", FAMILY, grey, pictures()),
    Workload("grey_bytes", FAMILY, grey_bytes, pictures(0, 256), ("u8",)),
    Workload("sobel", FAMILY, sobel, squares(1, 0.0, 1.0)),
    Workload("blur", FAMILY, blur, squares(1, 0.0, 1.0)),
    Workload("encode_srgb", FAMILY, encode_srgb, pictures()),
    Workload("reinhard", FAMILY, reinhard, pictures(0.0, 4.0)),
    Workload("contrast", FAMILY, contrast, squares(1, 0.0, 1.0)),
    Workload(
        "downsample",
        FAMILY,
        downsample,
        blocked_squares(4),
        sizes=FUSION_SIZES,
        reassociates=True,
        tags=frozenset({"fusion"}),
    ),
)
