"""Operands in other layouts, with borders, and in blocks; convolutions as products."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fusejit.linalg as linalg
from fusejit.transform import Handle, Schedule, ScheduleError, schedule

DTYPES = (np.float64, np.float32, np.int64, np.int16, np.uint8, np.bool_)
SIZES = ((23, 17, 14), (1, 1, 1), (8, 16, 4), (9, 31, 5), (3, 1, 40))


def product(a: Any, b: Any) -> Any:
    return a @ b


def matrices(dtype: Any, m: int = 23, n: int = 17, k: int = 14) -> tuple[Any, Any]:
    rng = np.random.default_rng(m)
    values = (rng.standard_normal((m, k)) * 9, rng.standard_normal((k, n)) * 9)
    return tuple(v.astype(dtype) for v in values)


def in_loops(dtype: Any) -> Handle:
    h = schedule(product, *matrices(dtype))["matmul"]
    return h if h.op.library_call is None else h.generalize()


def assert_products(s: Schedule, dtype: Any) -> None:
    """A schedule of `product` computes it for other sizes, too."""
    run = s.compile()
    for m, n, k in SIZES:
        a, b = matrices(dtype, m, n, k)
        try:
            found = run(a, b)
        except ScheduleError:  # another variant serves such sizes
            continue
        tolerance = {"f": 1e-4 if a.itemsize == 4 else 1e-10}.get(a.dtype.kind, 0)
        np.testing.assert_allclose(found, a @ b, tolerance, tolerance * 100)
        assert found.dtype == (a @ b).dtype


# --------------------------------------------------------------------------------------- transpose
@pytest.mark.parametrize("dtype", DTYPES)
def test_transposed_products(dtype: Any) -> None:
    h = in_loops(dtype).transpose_matmul("a")
    assert h.schedule.steps[-1].tag == "bits"
    assert_products(h.transpose_matmul("b").schedule, dtype)


def test_a_copy_stays_in_memory() -> None:
    a, b = matrices(np.float64)
    h = in_loops(np.float64).transpose_matmul("b")
    text = str(h.schedule)
    assert 'generic "transpose" domain (s3, s1)' in text
    assert "materialized" in text
    traced = h.schedule.stage
    from fusejit.dataclass import replace

    fused = replace(traced, traced=replace(traced.traced, graph=h.schedule.graph)).fuse()
    assert '"transpose' in str(fused)
    np.testing.assert_allclose(h.schedule.compile()(a, b), a @ b)


def test_an_operand_that_is_not_there() -> None:
    h = in_loops(np.float64)
    with pytest.raises(ScheduleError, match=r"no operand is named 'c'; legal: a \(a\) or b \(b\)"):
        h.transpose_matmul("c")
    swapped = schedule(lambda b, a: b @ a, *matrices(np.float64))["matmul"].generalize()
    with pytest.raises(ScheduleError, match=r"several operands are named 'a'; legal: a \(b\)"):
        swapped.transpose_matmul("a")
    exp = schedule(lambda x, y: np.exp(x) @ y, *matrices(np.float64))["matmul"].generalize()
    assert "a of matmul" in exp.transpose_matmul("exp").schedule.log


def test_a_routine_takes_operands_as_they_are() -> None:
    h = schedule(product, *matrices(np.float64))["matmul"]
    with pytest.raises(ScheduleError, match="the routine matmul takes its operands as they are"):
        h.transpose_matmul("a")
    with pytest.raises(ScheduleError, match="the routine matmul takes its operands as they are"):
        h.transpose_conv()


def test_nothing_to_swap() -> None:
    h = schedule(lambda a, b: a @ b, np.ones((3, 4), int), np.ones(4, int))["matmul"]
    with pytest.raises(ScheduleError, match="b has 1 axes: there is nothing to swap"):
        h.transpose_matmul("b")


# ------------------------------------------------------------------------------------ convolutions
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


@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_transposed_kernels(name: str) -> None:
    image, kernel, function = CONVOLUTIONS[name]
    args = image_and_kernel(image, kernel)
    h = schedule(function, *args)[name].transpose_conv()
    np.testing.assert_array_equal(h.schedule.compile()(*args), function(*args))
    other = image_and_kernel((1, *image[1:]), kernel)
    np.testing.assert_array_equal(h.schedule.compile()(*other), function(*other))


def test_kernels_without_filters() -> None:
    args = image_and_kernel((1, 6, 6, 3), (3, 3, 3))
    h = schedule(lambda i, k: linalg.depthwise_conv_2d_nhwc_hwc(i, k), *args)
    with pytest.raises(ScheduleError, match="b has 0 axes that only the result shares"):
        h["depthwise_conv_2d_nhwc_hwc"].transpose_conv()
    with pytest.raises(ScheduleError, match="it is no convolution: no window"):
        in_loops(np.int64).transpose_conv()
