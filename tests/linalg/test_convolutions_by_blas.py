"""Convolutions of many channels are products of matrices: windows copied, then BLAS."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fusejit import fuse_jit, linalg
from fusejit.structured import library_calls

RNG = np.random.default_rng(0)
SHAPES: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = {
    "conv_1d_ncw_fcw": ((2, 3, 9), (4, 3, 3)),
    "conv_1d_nwc_wcf": ((2, 9, 3), (3, 3, 4)),
    "conv_2d_nchw_fchw": ((2, 3, 9, 10), (5, 3, 3, 2)),
    "conv_2d_ngchw_fgchw": ((2, 2, 3, 9, 10), (5, 2, 3, 3, 2)),
    "conv_2d_ngchw_gfchw": ((2, 2, 3, 9, 10), (2, 5, 3, 3, 2)),
    "conv_2d_nhwc_fhwc": ((2, 9, 10, 3), (5, 3, 2, 3)),
    "conv_2d_nhwc_hwcf": ((2, 9, 10, 3), (3, 2, 3, 5)),
    "conv_2d_nhwgc_gfhwc": ((2, 9, 10, 2, 3), (2, 5, 3, 2, 3)),
    "conv_3d_ncdhw_fcdhw": ((2, 3, 5, 6, 7), (4, 3, 2, 3, 2)),
    "conv_3d_ndhwc_dhwcf": ((2, 5, 6, 7, 3), (2, 3, 2, 3, 4)),
}
STEPS = [((1, 1, 1), (1, 1, 1)), ((2, 2, 2), (1, 1, 1)), ((1, 1, 1), (2, 1, 2)), ((2, 3, 1),) * 2]


def is_by_blas(text: str) -> bool:
    return "library call matmul" in text


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize(("strides", "dilations"), STEPS)
def test_against_the_reference(name: str, strides: Any, dilations: Any) -> None:
    rank = int(name.split("_")[1][0])
    op = getattr(linalg, name)
    image, kernel = (RNG.random(shape) for shape in SHAPES[name])
    options = {"strides": strides[:rank], "dilations": dilations[:rank]}
    try:
        expected = op.reference(image, kernel, **options)
    except ValueError as error:
        with pytest.raises(ValueError, match=type(error)(*error.args).args[0][:20]):
            op(image, kernel, **options)
        return
    found = op(image, kernel, **options)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert found.strides == expected.strides
    has_windows = bool(expected.size)
    assert is_by_blas(op.explain(image, kernel, **options, detail=True)) == has_windows
    start = np.ones_like(expected)
    np.testing.assert_allclose(op(image, kernel, init=start, **options), expected + 1, rtol=1e-12)


def test_one_variant_serves_every_size() -> None:
    @fuse_jit(fullgraph=True)
    def convolve(image: Any, kernel: Any) -> Any:
        return np.maximum(linalg.conv_2d_nhwc_hwcf(image, kernel) - 1.0, 0.0)

    for height, channels, filters in ((9, 3, 5), (12, 4, 2), (30, 8, 7)):
        image = RNG.random((2, height, 11, channels))
        kernel = RNG.random((3, 2, channels, filters))
        expected = np.maximum(linalg.conv_2d_nhwc_hwcf.reference(image, kernel) - 1.0, 0.0)
        np.testing.assert_allclose(convolve(image, kernel), expected, rtol=1e-12)
    assert len(convolve.variants) == 1


def test_loops_compute_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Integers, convolutions without a channel that is summed, and copies that are too large."""
    numbers = RNG.integers(0, 9, (2, 9, 10, 3)), RNG.integers(0, 9, (3, 2, 3, 5))
    assert not is_by_blas(linalg.conv_2d_nhwc_hwcf.explain(*numbers, detail=True))
    depthwise = RNG.random((2, 9, 10, 3)), RNG.random((3, 2, 3))
    assert not is_by_blas(linalg.depthwise_conv_2d_nhwc_hwc.explain(*depthwise, detail=True))
    multiplied = RNG.random((2, 9, 10, 3)), RNG.random((3, 2, 3, 4))
    assert not is_by_blas(linalg.depthwise_conv_2d_nhwc_hwcm.explain(*multiplied, detail=True))
    monkeypatch.setattr(library_calls, "MAX_COLUMN_BYTES", 10_000)
    large = RNG.random((2, 19, 10, 3)), RNG.random((3, 2, 3, 5))
    assert not is_by_blas(linalg.conv_2d_nhwc_hwcf.explain(*large, detail=True))
    small = RNG.random((1, 4, 4, 3)), RNG.random((3, 2, 3, 5))
    assert is_by_blas(linalg.conv_2d_nhwc_hwcf.explain(*small, detail=True))

    @fuse_jit(fullgraph=True)
    def convolve(image: Any, kernel: Any) -> Any:
        return linalg.conv_2d_nhwc_hwcf(image, kernel)

    for pair in (small, large, small):  # a variant for each: the limit is a guard
        found = convolve(*pair)
        np.testing.assert_allclose(found, linalg.conv_2d_nhwc_hwcf.reference(*pair), rtol=1e-12)
    assert len(convolve.variants) == 2
