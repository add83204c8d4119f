"""Convolutions of small integers and floats, which schedules transform."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import fusejit.linalg as linalg


def image_and_kernel(image: Any, kernel: Any, dtype: Any = np.int64) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    return tuple((rng.standard_normal(shape) * 9).astype(dtype) for shape in (image, kernel))


CONVOLUTIONS: dict[str, tuple[Any, Any, Callable[..., Any]]] = {
    "conv_2d_nhwc_hwcf": (
        (2, 9, 10, 3),
        (3, 2, 3, 5),
        lambda i, k: linalg.conv_2d_nhwc_hwcf(i, k, strides=(2, 1), dilations=(1, 2)),
    ),
    "conv_2d_nhwc_fhwc": (
        (2, 9, 10, 3),
        (5, 3, 3, 3),
        lambda i, k: linalg.conv_2d_nhwc_fhwc(i, k),
    ),
    "conv_2d_nchw_fchw": (
        (1, 3, 8, 9),
        (4, 3, 3, 3),
        lambda i, k: linalg.conv_2d_nchw_fchw(i, k, strides=(1, 2)),
    ),
    "conv_1d_nwc_wcf": ((2, 11, 3), (4, 3, 2), lambda i, k: linalg.conv_1d_nwc_wcf(i, k)),
}
