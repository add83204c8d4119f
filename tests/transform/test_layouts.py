"""Operands in other layouts, with borders, and in blocks; convolutions as products."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fusejit.linalg as linalg
from fusejit.dataclass import replace
from fusejit.transform import Handle, Schedule, ScheduleError, schedule
from fusejit_testing.convolutions import CONVOLUTIONS, image_and_kernel

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
    twice = in_loops(np.float64).tile(m=8).tile(m=4).transpose_matmul("b").hoist_pad("b").schedule
    assert "before m.01, m.0;" in twice.log
    assert twice["transpose"].show().startswith("%"), "it is still in a loop"
    assert_products(twice, np.float64)


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
    assert "[(d0, d1, d2) -> ((d0) floordiv 8, 0, (d0) mod 8, d2)]" in tiled.show()
    assert_products(tiled.schedule, np.float64)
    assert_products(h.tile(m=16).pack("b", n=8).hoist_pad("b").schedule, np.float64)
    with pytest.raises(ScheduleError, match=r"reads %v0_pack at \(d0\) floordiv 8, which is no"):
        h.tile(m=12)


def test_a_packed_kernel() -> None:
    image, kernel, function = CONVOLUTIONS["conv_2d_nhwc_hwcf"]
    args = image_and_kernel(image, kernel)
    h = schedule(function, *args)["conv_2d_nhwc_hwcf"]
    h = h.pack("b", f=4, c=2)
    np.testing.assert_array_equal(h.schedule.compile()(*args), function(*args))
    with pytest.raises(ScheduleError, match="oh is not one subscript by itself of a, which it"):
        h.pack("a", oh=2)


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


@pytest.mark.parametrize("unjitted", ["0", "1"])
def test_blocks_are_tiled_further(unjitted: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The symbols of the loops are identifiers, which the names of the dims are not."""
    monkeypatch.setenv("FUSEJIT_UNJITTED", unjitted)
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
        conv.pack_matmul(n=2)
