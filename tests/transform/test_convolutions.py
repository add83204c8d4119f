"""Convolutions as products of matrices, and of transformed tiles."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fusejit.linalg as linalg
from fusejit import fuse_jit
from fusejit.transform import Handle, Schedule, ScheduleError, schedule
from fusejit_testing.convolutions import CONVOLUTIONS, image_and_kernel


# ---------------------------------------------------------------------------------- conv_to_matmul
@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_convolutions_as_products(name: str) -> None:
    image, kernel, function = CONVOLUTIONS[name]
    args = image_and_kernel(image, kernel)
    h = schedule(function, *args)[name].conv_to_matmul()
    assert h.dims == ("m", "n", "k")
    assert h.schedule.steps[-1].tag == "bits"
    run = h.schedule.compile()
    for shape in (image, (image[0], *(n + 2 for n in image[1:-1]), image[-1])):
        args = image_and_kernel(shape, kernel) if name != "conv_2d_nchw_fchw" else args
        np.testing.assert_array_equal(run(*args), function(*args))
    h = h.tile(m=8).pad(m=8)
    np.testing.assert_array_equal(h.schedule.compile()(*args), function(*args))


def test_convolutions_with_groups() -> None:
    args = image_and_kernel((2, 3, 4, 8, 7), (3, 2, 4, 3, 3))
    function = lambda i, k: linalg.conv_2d_ngchw_gfchw(i, k)  # noqa: E731
    h = schedule(function, *args)["conv_2d_ngchw_gfchw"].conv_to_matmul()
    assert h.dims == ("b", "m", "n", "k")
    np.testing.assert_array_equal(h.schedule.compile()(*args), function(*args))


def test_a_convolution_in_tiles() -> None:
    """The sizes of the matrices are known in the loop only."""
    image, kernel, function = CONVOLUTIONS["conv_2d_nhwc_hwcf"]
    args = image_and_kernel(image, kernel)
    h = schedule(function, *args)["conv_2d_nhwc_hwcf"]
    h = h.tile(oh=3).conv_to_matmul()
    np.testing.assert_array_equal(h.schedule.compile()(*args), function(*args))


def test_what_is_no_convolution() -> None:
    with pytest.raises(ScheduleError, match="no window of one operand meets the other one"):
        plain_product().conv_to_matmul()
    args = image_and_kernel((1, 6, 6, 3), (3, 3, 3))
    h = schedule(lambda i, k: linalg.depthwise_conv_2d_nhwc_hwc(i, k), *args)
    with pytest.raises(ScheduleError, match="no axis of the result is one of the kernel alone"):
        h["depthwise_conv_2d_nhwc_hwc"].conv_to_matmul()
    s = schedule(lambda a, b: np.exp(a).sum(axis=1), np.ones((3, 4)), np.ones((4, 5)))
    with pytest.raises(ScheduleError, match="it has 1 operands and 1 results"):
        s["sum"].conv_to_matmul()


# ---------------------------------------------------------------------------------------- winograd
WINOGRAD = {
    "conv_2d_nhwc_hwcf": ((2, 9, 10, 3), (3, 3, 3, 5)),
    "conv_2d_nhwc_fhwc": ((1, 8, 3, 3), (5, 3, 3, 3)),
    "conv_2d_nchw_fchw": ((2, 3, 9, 10), (5, 3, 5, 5)),
    "conv_1d_nwc_wcf": ((2, 11, 3), (5, 3, 4)),
    "conv_2d_ngchw_gfchw": ((2, 3, 4, 8, 7), (3, 2, 4, 3, 3)),
}


def floats(dtype: Any, *shapes: Any) -> list[Any]:
    rng = np.random.default_rng(1)
    return [rng.standard_normal(shape).astype(dtype) for shape in shapes]


def relative_error(found: Any, expected: Any) -> float:
    assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
    return float(np.abs(found - expected).max(initial=0) / np.abs(expected).max(initial=1e-30))


@pytest.mark.parametrize("name", WINOGRAD)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("m", [2, 4])
def test_winograd(name: str, dtype: Any, m: int) -> None:
    function = getattr(linalg, name)
    image, kernel = floats(dtype, *WINOGRAD[name])
    h = schedule(lambda x, k: function(x, k), image, kernel)[name]
    if m == 4 and name in ("conv_1d_nwc_wcf", "conv_2d_nchw_fchw"):
        with pytest.raises(ScheduleError, match="no matrices for m=4 and a kernel of 5"):
            h.winograd(m=4, approximate=True)
        return
    h = h.winograd(m=m, approximate=True)
    assert h.schedule.steps[-1].tag == "approx"
    assert h.schedule.steps[-1].num_checked
    limit = 1e-5 if dtype is np.float32 else 1e-13
    run = h.schedule.compile()
    assert relative_error(run(image, kernel), function(image, kernel)) < limit
    larger = floats(dtype, [n + 3 if n > 6 else n for n in image.shape], kernel.shape)
    assert relative_error(run(*larger), function(*larger)) < limit


def test_winograd_in_loops_and_then_by_blas() -> None:
    image, kernel = floats(np.float64, *WINOGRAD["conv_2d_nhwc_hwcf"])
    h = schedule(lambda x, k: linalg.conv_2d_nhwc_hwcf(x, k), image, kernel)["conv_2d_nhwc_hwcf"]
    expected = linalg.conv_2d_nhwc_hwcf(image, kernel)
    assert h.op.library_call == "convolution"
    made = h.generalize().winograd(m=2, approximate=True)
    assert made.op.library_call is None
    for s in (made, made.to_library(), made.tile(n=2)):
        assert relative_error(s.schedule.compile()(image, kernel), expected) < 1e-13
    tiled = h.tile(oh=3).winograd(m=2, approximate=True)
    assert relative_error(tiled.schedule.compile()(image, kernel), expected) < 1e-13


def test_what_winograd_does_not_compute() -> None:
    def handle(name: str, image: Any, kernel: Any, dtype: Any = float, **options: Any) -> Handle:
        function = getattr(linalg, name)
        args = floats(dtype, image, kernel)
        return schedule(lambda x, k: function(x, k, **options), *args)[name]

    h = handle("conv_2d_nhwc_hwcf", (2, 9, 10, 3), (3, 3, 3, 5))
    with pytest.raises(ScheduleError, match="results are rounded otherwise; legal: approximate="):
        h.winograd()
    with pytest.raises(ScheduleError, match="no matrices for m=3 and a kernel of 3 x 3; legal"):
        h.winograd(m=3, approximate=True)
    h = handle("conv_2d_nhwc_hwcf", (2, 9, 10, 3), (3, 2, 3, 5))
    with pytest.raises(ScheduleError, match="no matrices for m=2 and a kernel of 3 x 2"):
        h.winograd(approximate=True)
    for option in ("strides", "dilations"):
        h = handle("conv_2d_nhwc_hwcf", (2, 9, 10, 3), (3, 3, 3, 5), **{option: (1, 2)})
        with pytest.raises(ScheduleError, match="steps and dilations are 1"):
            h.winograd(approximate=True)
    h = handle("conv_2d_nhwc_hwcf", (2, 9, 10, 3), (3, 3, 3, 5), int)
    with pytest.raises(ScheduleError, match="it adds no products of floats"):
        h.winograd(approximate=True)
    h = handle("conv_3d_ndhwc_dhwcf", (2, 5, 6, 7, 3), (3, 3, 3, 3, 4))
    with pytest.raises(ScheduleError, match="windows along 3 axes, not along 1 or 2"):
        h.winograd(approximate=True)
    with pytest.raises(ScheduleError, match="windows along 0 axes, not along 1 or 2"):
        plain_product().winograd(approximate=True)


def plain_product() -> Handle:
    a, b = np.ones((3, 4)), np.ones((4, 5))
    return schedule(lambda a, b: a @ b, a, b)["matmul"].generalize()


def test_a_recipe_for_a_network() -> None:
    def recipe(s: Schedule) -> Handle:
        return s["conv_2d_nhwc_hwcf"].winograd(m=2, approximate=True)

    def layer(image: Any, kernel: Any) -> Any:
        return np.maximum(linalg.conv_2d_nhwc_hwcf(image, kernel), 0.0)

    fused: Any = fuse_jit(schedule=recipe, fullgraph=True)(layer)
    kernel = floats(np.float64, (3, 3, 3, 4))[0]
    for shape in ((2, 9, 8, 3), (1, 5, 6, 3), (3, 11, 4, 3)):
        image = floats(np.float64, shape)[0]
        assert relative_error(fused(image, kernel), layer(image, kernel)) < 1e-13


def test_sizes_of_zero_and_one() -> None:
    image, kernel = floats(np.float64, *WINOGRAD["conv_2d_nhwc_hwcf"])
    s = schedule(lambda x, k: linalg.conv_2d_nhwc_hwcf(x, k), image, kernel)
    h = s["conv_2d_nhwc_hwcf"]
    made = h.winograd(m=4, approximate=True), h.generalize().conv_to_matmul(reassociate=True)
    for run in [m.schedule.compile() for m in made]:
        for n, height, channels, filters in ((0, 5, 3, 2), (1, 3, 1, 1), (2, 5, 3, 0)):
            args = floats(np.float64, (n, height, 4, channels), (3, 3, channels, filters))
            try:
                found = run(*args)
            except ScheduleError:  # another variant serves such sizes
                continue
            assert relative_error(found, linalg.conv_2d_nhwc_hwcf.reference(*args)) < 1e-13
