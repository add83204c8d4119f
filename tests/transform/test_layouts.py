"""Operands in other layouts, with borders, and in blocks; convolutions as products."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fusejit.linalg as linalg
from fusejit.dataclass import replace
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


# --------------------------------------------------------------------------------------------- pad
@pytest.mark.parametrize("dtype", DTYPES)
def test_padded_products(dtype: Any) -> None:
    h = in_loops(dtype).pad(m=8, n=16)
    assert h.schedule.steps[-1].tag == "bits"
    assert_products(h.schedule, dtype)
    h = h.pad(k=4, reassociate=True)
    assert h.schedule.steps[-1].tag == ("reassoc" if np.dtype(dtype).kind == "f" else "bits")
    assert_products(h.schedule, dtype)


def test_padded_tiles_have_one_size() -> None:
    h = in_loops(np.float64).tile(m=6, n=16).pad(m=4, n=16)
    assert [e.as_constant() for e in h.op.domain[:2]] == [8, 16]
    assert_products(h.schedule, np.float64)


@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_padded_convolutions(name: str) -> None:
    image, kernel, function = CONVOLUTIONS[name]
    args = image_and_kernel(image, kernel)
    h = schedule(function, *args)[name]
    h = h.pad(**dict(zip(h.dims, (3, 4, 5, 2, 4, 4, 4), strict=False)))
    np.testing.assert_array_equal(h.schedule.compile()(*args), function(*args))


def test_a_neutral_number_of_a_maximum() -> None:
    x = -np.abs(np.random.default_rng(0).standard_normal((9, 7)))
    h = schedule(lambda a: a.max(axis=1), x)["max"].pad(i=4, j=8)
    assert "max pads a with -inf" in h.schedule.log
    np.testing.assert_array_equal(h.schedule.compile()(x), x.max(axis=1))
    h = schedule(lambda a: (-a).max(axis=1), x)
    h = h["max"].rematerialize("negative").pad(j=8)
    assert "pads a with inf" in h.schedule.log
    np.testing.assert_array_equal(h.schedule.compile()(x), (-x).max(axis=1))


def test_no_neutral_number() -> None:
    """A factor that does not depend on the dim may be infinite."""
    s = schedule(lambda a, b: (a * b).sum(axis=1), np.ones((9, 7)), np.ones((9, 1)))
    h = s["sum"].rematerialize("multiply")
    with pytest.raises(ScheduleError, match="no number in the operands beyond j makes a term that"):
        h.pad(j=8, reassociate=True)
    assert h.pad(i=8).schedule.steps[-1].tag == "bits"
    ints = schedule(s.stage.function, np.ones((9, 7), int), np.ones((9, 1), int))
    padded = ints["sum"].rematerialize("multiply").pad(j=8)
    assert padded.schedule.compile()(np.ones((9, 7), int), np.ones((9, 1), int)).sum() == 63


def test_what_cannot_be_padded() -> None:
    h = in_loops(np.float64)
    with pytest.raises(ScheduleError, match="k is summed, and the order of a float sum shows"):
        h.pad(k=4)
    with pytest.raises(ScheduleError, match="the size of m is 0: it is at least 1"):
        h.pad(m=0)
    with pytest.raises(ScheduleError, match="it has no dim z"):
        h.pad(z=4)
    with pytest.raises(ScheduleError, match="nothing would change"):
        h.pad(m=1)
    with pytest.raises(ScheduleError, match="nothing would change"):
        h.pad(m=8).pad(m=4)
    with pytest.raises(ScheduleError, match="the routine matmul takes its operands"):
        schedule(product, *matrices(np.float64))["matmul"].pad(m=8)
    gather = schedule(lambda a, n: a[n] + 1, np.ones((9, 7)), np.array([3, 0, 2]))
    name = next(n for n in ("getitem", "take", "gather") if n in str(gather))
    with pytest.raises(ScheduleError, match="it gathers"):
        gather[name].pad(i=2)


# --------------------------------------------------------------------------------------- hoist_pad
def test_a_copy_leaves_the_loops_that_it_does_not_depend_on() -> None:
    h = in_loops(np.float64).tile(m=8).tile(n=8).pad(m=8, n=8)
    log = h.hoist_pad("a").schedule.log
    assert "pad of a before n.0;" in log
    assert_products(h.hoist_pad("a").schedule, np.float64)
    with pytest.raises(ScheduleError, match=r"b depends on n.0: %\w+ mentions n_1"):
        h.hoist_pad("b")
    other = in_loops(np.float64).tile(n=8).tile(m=8).transpose_matmul("b")
    assert "transpose of b before m.0;" in other.hoist_pad("b").schedule.log
    whole = in_loops(np.float64).tile(m=8).tile(k=4, reassociate=True).tile(n=8)
    whole = whole.transpose_matmul("a").hoist_pad("a")
    assert "transpose of a before n.0;" in whole.schedule.log
    assert_products(whole.schedule, np.float64)
    threads = h.hoist_pad("a").threads("n.0").schedule
    assert_products(threads, np.float64)


def test_a_copy_before_all_loops() -> None:
    h = in_loops(np.float64).tile(m=8).transpose_matmul("b").hoist_pad("b")
    assert "transpose of b before m.0;" in h.schedule.log
    assert_products(h.schedule, np.float64)


def test_what_cannot_be_hoisted() -> None:
    h = in_loops(np.float64)
    with pytest.raises(ScheduleError, match=r"a is no copy beside the op; legal: pad\(..\) first"):
        h.tile(m=8).hoist_pad("a")
    with pytest.raises(ScheduleError, match="no loop is around it"):
        h.transpose_matmul("a").hoist_pad("a")
    moved = h.tile(m=8).transpose_matmul("b").hoist_pad("b")
    with pytest.raises(ScheduleError, match="b is no copy beside the op"):
        moved.hoist_pad("b")


# -------------------------------------------------------------------------------- pack and unpack
@pytest.mark.parametrize("dtype", DTYPES)
def test_packed_operands(dtype: Any) -> None:
    h = in_loops(dtype).pack("a", m=8, k=4).pack("b", k=3, n=16)
    assert [step.tag for step in h.schedule.steps[-2:]] == ["bits", "bits"]
    assert_products(h.schedule, dtype)
    assert_products(h.unpack("a").schedule, dtype)


def test_tiles_of_packed_operands_are_whole_blocks() -> None:
    h = in_loops(np.float64).pack("a", m=8, k=4)
    tiled = h.tile(m=16, k=4, reassociate=True)
    assert "-> (d0 + 2 * m_0, d1 + k_0, d2, d3)" in tiled.show()
    assert_products(tiled.schedule, np.float64)
    assert_products(h.tile(m=16).pack("b", n=8).hoist_pad("b").schedule, np.float64)
    with pytest.raises(ScheduleError, match=r"reads %v0_pack at \(d0\) floordiv 8, which is no"):
        h.tile(m=12)


def test_a_packed_kernel() -> None:
    image, kernel, function = CONVOLUTIONS["conv_2d_nhwc_hwcf"]
    args = image_and_kernel(image, kernel)
    h = schedule(function, *args)["conv_2d_nhwc_hwcf"]
    h = h.pack("b", **{h.dims[3]: 4, h.dims[6]: 2})
    np.testing.assert_array_equal(h.schedule.compile()(*args), function(*args))
    with pytest.raises(ScheduleError, match="j is not one subscript by itself of a, which it"):
        h.pack("a", j=2)


def test_unpack_undoes_copies() -> None:
    h = in_loops(np.float64)
    for copied in (h.pack("a", m=8), h.transpose_matmul("a"), h.pack("a", m=4).pack("a", k=2)):
        plain = copied.unpack("a")
        plain = plain if "pack" not in plain.show() else plain.unpack("a")
        assert plain.show() == h.show()
    with pytest.raises(ScheduleError, match=r"a is no copy; legal: pack\(..\) first"):
        h.unpack("a")
    with pytest.raises(ScheduleError, match="it reads the border of a: element d0 of axes"):
        h.pad(m=8).unpack("a")


def test_what_cannot_be_packed() -> None:
    h = in_loops(np.float64)
    with pytest.raises(ScheduleError, match=r"no dim is given; legal: m=.. or k=.."):
        h.pack("a")
    with pytest.raises(ScheduleError, match=r"n is not one subscript by itself of a.*legal: m=.."):
        h.pack("a", n=8)
    with pytest.raises(ScheduleError, match="the size of m is 0: it is at least 1"):
        h.pack("a", m=0)


# ------------------------------------------------------------------------------------- pack_matmul
@pytest.mark.parametrize("dtype", DTYPES)
def test_products_in_blocks(dtype: Any) -> None:
    h = in_loops(dtype).pack_matmul(m=8, n=16, k=4, reassociate=True)
    assert h.dims == ("m.0", "n.0", "k.0", "m.1", "n.1", "k.1")
    assert h.schedule.steps[-1].tag == ("reassoc" if np.dtype(dtype).kind == "f" else "bits")
    assert_products(h.schedule, dtype)
    assert_products(in_loops(dtype).pack_matmul(n=3, m=5).schedule, dtype)
    assert "mmt4d" in h.schedule["mmt4d"].show()


def test_blocks_are_tiled_further() -> None:
    h = in_loops(np.float64).pack_matmul(m=8, n=16, k=4, reassociate=True)
    h = h.tile(**{"m.0": 2, "n.0": 1}).threads("m.0.0")
    assert_products(h.schedule, np.float64)
    tiled = in_loops(np.float64).tile(m=12).pack_matmul(m=8, n=16, k=4, reassociate=True)
    assert tiled.op.domain[0].as_constant() == 2
    assert_products(tiled.schedule, np.float64)
    sums = in_loops(np.float64).tile(k=5, reassociate=True).pack_matmul(m=2, n=4)
    assert_products(sums.schedule, np.float64)


def test_stacks_of_products_in_blocks() -> None:
    a, b = np.arange(120).reshape(2, 5, 12), np.arange(2 * 12 * 7).reshape(2, 12, 7)
    h = schedule(product, a, b)["matmul"]
    h = h.pack_matmul(**dict(zip(h.dims, (1, 2, 4, 8), strict=True)))
    np.testing.assert_array_equal(h.schedule.compile()(a, b), a @ b)


def test_what_is_no_product() -> None:
    s = schedule(lambda a, b: np.exp(a).sum(axis=1), *matrices(np.float64))
    with pytest.raises(ScheduleError, match="it is no product of two operands: it has 1 operands"):
        s["sum"].pack_matmul(i=8)
    h = in_loops(np.float64)
    with pytest.raises(ScheduleError, match="k is summed, and the order of a float sum shows"):
        h.pack_matmul(m=8, n=16, k=4)
    with pytest.raises(ScheduleError, match=r"no dim is given; legal: m=.. or n=.."):
        h.pack_matmul()
    with pytest.raises(ScheduleError, match="the size of a block is at least 1"):
        h.pack_matmul(m=0)
    image, kernel, function = CONVOLUTIONS["conv_2d_nhwc_hwcf"]
    conv = schedule(function, *image_and_kernel(image, kernel))["conv_2d_nhwc_hwcf"]
    with pytest.raises(ScheduleError, match="it is no product of two operands: its maps are"):
        conv.pack_matmul(**{conv.dims[0]: 2})


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
    h = h.tile(**{h.dims[1]: 3}).conv_to_matmul()
    np.testing.assert_array_equal(h.schedule.compile()(*args), function(*args))


def test_what_is_no_convolution() -> None:
    with pytest.raises(ScheduleError, match="no window of one operand meets the other one"):
        in_loops(np.int64).conv_to_matmul()
    args = image_and_kernel((1, 6, 6, 3), (3, 3, 3))
    h = schedule(lambda i, k: linalg.depthwise_conv_2d_nhwc_hwc(i, k), *args)
    with pytest.raises(ScheduleError, match="no axis of the result is one of the kernel alone"):
        h["depthwise_conv_2d_nhwc_hwc"].conv_to_matmul()
    s = schedule(lambda a, b: np.exp(a).sum(axis=1), *matrices(np.float64))
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
    tiled = h.tile(**{h.dims[1]: 3}).winograd(m=2, approximate=True)
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
        in_loops(np.float64).winograd(approximate=True)
