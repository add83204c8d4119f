"""Steps that change the domain of an op: which are refused, and values against NumPy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from fusejit import linalg
from fusejit.dataclass import replace
from fusejit.mlir.export.match_named import as_named
from fusejit.transform import Handle, Schedule, ScheduleError, schedule

A, B = np.ones((9, 7)), np.ones((7, 5))

DTYPES = ("f8", "f4", "i4", "u1")
SIZES = (
    (23, 17, 14),
    (8, 9, 10),
    (1, 5, 3),
    (3, 1, 2),
    (5, 3, 1),
    (0, 4, 3),
    (4, 0, 2),
    (31, 2, 40),
)

Recipe = Callable[[Schedule], Handle]


def arrays(axes: str, sizes: Sequence[int], dtype: str, seed: int = 0) -> list[Any]:
    """Arrays of these axes, ``"mk kn"``, with the three sizes of m, n and k."""
    rng = np.random.default_rng(seed)
    extents = dict(zip("mnk", sizes, strict=True))
    shapes = [tuple(extents[axis] for axis in word) for word in axes.split()]
    kind = np.dtype(dtype).kind
    if kind == "f":
        return [rng.standard_normal(shape).astype(dtype) for shape in shapes]
    return [rng.integers(0, 9, shape).astype(dtype) for shape in shapes]


def check(
    function: Callable[..., Any],
    axes: str,
    recipe: Recipe,
    *,
    dtypes: Sequence[str] = DTYPES,
    tag: str = "bits",
) -> Handle:
    """The schedule computes what NumPy does, for sizes of any kind; return it for the last dtype.

    ``bits``: the bits are those of the function without a schedule.
    """
    for dtype in dtypes:
        s = schedule(function, *arrays(axes, SIZES[0], dtype))
        h = recipe(s)
        exact = tag == "bits" or dtype[0] != "f"
        if exact:
            assert {step.tag for step in h.schedule.steps} == {"bits"}
        else:
            assert "reassoc" in {step.tag for step in h.schedule.steps}
        plain, found = s.compile(), h.schedule.compile()
        served = 0
        for sizes in SIZES:
            args = arrays(axes, sizes, dtype, 1)
            try:
                expected = plain(*args)
            except ScheduleError:  # another variant serves such sizes
                continue
            served += 1
            _same(found(*args), expected, exact, f"{dtype} {sizes}\n{h.schedule}")
            tolerance = 1e-4 if dtype == "f4" else 1e-10
            for x, y in zip(_each(expected), _each(function(*args)), strict=True):
                np.testing.assert_allclose(x, y, tolerance, tolerance)
        assert served > 2
    return h


def _each(results: Any) -> tuple[Any, ...]:
    return results if isinstance(results, tuple) else (results,)


def _same(found: Any, expected: Any, exact: bool, message: str) -> None:
    for x, y in zip(_each(found), _each(expected), strict=True):
        assert x.dtype == y.dtype, message
        assert x.shape == y.shape, message
        if exact:
            np.testing.assert_array_equal(x, y, err_msg=message)
        else:
            tolerance = 1e-4 if x.dtype.itemsize < 8 else 1e-10
            np.testing.assert_allclose(x, y, tolerance, tolerance, err_msg=message)


@pytest.fixture(autouse=True)
def _unjitted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FUSEJIT_UNJITTED", "1")


def outer(a: Any, b: Any) -> Any:
    return a.T * 2 + b


def total(a: Any) -> Any:
    return (a * 3).sum(axis=0)


def whole(a: Any) -> Any:
    return a.sum()


def largest(a: Any) -> Any:
    return np.where(np.arange(a.shape[1]) > 1, a, 0).max(axis=1, initial=1)


def windows(a: Any) -> Any:
    """Sums of three neighbours in rows and two in columns, with weights."""
    weights = np.arange(1, 4)
    return (a[:, :, None, None] * weights[:, None] * np.arange(2, 4)).sum(axis=(2, 3))


def product(a: Any, b: Any) -> Any:
    return a @ b


def loops(s: Schedule) -> Handle:
    """The matrix product of a schedule as loops: that of integers is not one of BLAS."""
    h = s["matmul"]
    return h.generalize() if h.op.library_call else h


# ------------------------------------------------------------------------------------ interchange
def test_interchange_of_other_dims() -> None:
    h = schedule(product, A, B)["matmul"]
    message = r"interchange\('m n'\) of matmul: its dims are m n k, each once"
    with pytest.raises(ScheduleError, match=message):
        h.interchange("m n")
    with pytest.raises(ScheduleError, match="its dims are m n k, each once"):
        h.interchange("m n k k")
    with pytest.raises(ScheduleError, match="nothing would change"):
        h.generalize().interchange("m n k")
    with pytest.raises(ScheduleError, match=r"calls the routine matmul; legal: generalize\(\) fir"):
        h.interchange("k m n")


def test_interchange_of_reduced_dims() -> None:
    h = schedule(whole, A)["sum"]
    message = r"j and i are summed, and the order of a float sum .*; legal: reassociate=True"
    with pytest.raises(ScheduleError, match=message):
        h.interchange("j i")
    assert h.interchange("j i", reassociate=True).schedule.steps[0].tag == "reassoc"


def test_interchange() -> None:
    check(outer, "mn nm", lambda s: s["add"].interchange("j i"))
    check(product, "mk kn", lambda s: loops(s).interchange("k n m"), tag="reassoc")
    h = check(largest, "mn", lambda s: s["max"].interchange("j i"))
    assert h.dims == ("j", "i")
    check(whole, "mn", lambda s: s["sum"].interchange("j i", reassociate=True), tag="reassoc")


# ------------------------------------------------------------------------------------------ split
def test_split_at_no_point() -> None:
    h = schedule(total, A)["sum"]
    with pytest.raises(ScheduleError, match=r"split\(j=0\) of sum: 0 is no point inside j; legal"):
        h.split(j=0)
    with pytest.raises(ScheduleError, match=r"one dim is cut at a time; legal: i=.. or j=.."):
        h.split(i=1, j=1)
    constant = schedule(lambda a: np.zeros(4) + a[0, 0], A)["add"]
    with pytest.raises(ScheduleError, match="4 is no point inside i; legal: 1 to 3"):
        constant.split(i=4)


def test_split_of_a_float_sum() -> None:
    h = schedule(total, A)["sum"]
    with pytest.raises(ScheduleError, match=r"i is summed, .*; legal: reassociate=True"):
        h.split(i=4)
    assert h.split(i=4, reassociate=True).schedule.steps[0].tag == "reassoc"
    assert h.split(j=4).schedule.steps[0].tag == "bits"


def test_split_of_dims_in_sequence() -> None:
    h = schedule(lambda a: np.cumsum(a, axis=0), A)["add.accumulate"]
    with pytest.raises(ScheduleError, match="i is sequential, and some result depends on it"):
        h.split(i=2)


def test_split() -> None:
    h = check(outer, "mn nm", lambda s: s["add"].split(i=3))
    assert h.schedule["add_rest"].dims == ("i", "j")
    check(outer, "mn nm", lambda s: s["add"].split(j=8).schedule["add_rest"].split(i=2))
    check(largest, "mn", lambda s: s["max"].split(j=4))
    check(largest, "mn", lambda s: s["where"].split(j=4).schedule["where_rest"].interchange("j i"))
    check(total, "mn", lambda s: s["sum"].split(i=5, reassociate=True), tag="reassoc")
    check(product, "mk kn", lambda s: loops(s).split(k=5, reassociate=True), tag="reassoc")
    check(product, "mk kn", lambda s: s["matmul"].split(n=5), dtypes=("f8",), tag="reassoc")


# ------------------------------------------------------------------------------------------- peel
def test_peel_of_a_loop_that_is_not_there() -> None:
    h = schedule(outer, *arrays("mn nm", SIZES[0], "f8"))["add"].tile(i=8, j=4)
    message = r"peel\('k.0'\) of add: no loop k.0 is around it; legal: peel\(\"i.0\"\) or peel\(\"j"
    with pytest.raises(ScheduleError, match=message):
        h.peel("k.0")
    with pytest.raises(ScheduleError, match=r"no loop i.0 is around it"):
        h.schedule["multiply"].peel("i.0")


def test_peel_of_whole_tiles() -> None:
    h = schedule(outer, *arrays("mn nm", SIZES[0], "f8"))["add"].tile(i=8)
    with pytest.raises(ScheduleError, match=r"the tiles of i.0 have the same extent, 8"):
        h.peel("i.0").peel("i.0")
    constant = schedule(lambda a: np.zeros(12) + a[0, 0], A)["add"].tile(i=4)
    with pytest.raises(ScheduleError, match=r"the tiles of i.0 have the same extent, 4"):
        constant.peel("i.0")


def test_peel_makes_extents_constant() -> None:
    h = schedule(outer, *arrays("mn nm", SIZES[0], "f8"))["add"].tile(i=8, j=4)
    h = h.peel("i.0").peel("j.0")
    assert [extent.as_constant() for extent in h.op.domain] == [8, 4]
    assert h.schedule["add_rest1"].dims == ("i", "j")
    assert set(h.schedule.loops) == {"i.0", "j.0", "j.0_rest"}
    assert h.schedule["add_rest"].peel("j.0_rest").op.domain[1].as_constant() == 4


def test_peel_of_tiles_in_tiles() -> None:
    """The inner tiles of a whole outer tile are whole: nothing is left."""
    h = schedule(outer, *arrays("mn nm", SIZES[0], "f8"))["add"].tile(i=8).tile(i=4)
    h = h.peel("i.0").peel("i.01")
    assert h.op.domain[0].as_constant() == 4
    assert "add_rest1" not in str(h.schedule)


def test_peel() -> None:
    check(outer, "mn nm", lambda s: s["add"].tile(i=8, j=4).peel("i.0").peel("j.0"))
    check(outer, "mn nm", lambda s: s["add"].tile(i=8).tile(i=3, j=2).peel("i.0").peel("i.01"))
    check(outer, "mn nm", lambda s: s["add"].tile(i=4).fuse("multiply").peel("i.0").threads("i.0"))
    check(largest, "mn", lambda s: s["max"].tile(j=3).fuse("where").peel("j.0"))
    check(product, "mk kn", lambda s: loops(s).tile(m=4, n=5).peel("n.0"), tag="reassoc")

    def blocked(s: Schedule) -> Handle:
        h = loops(s).tile(n=8, k=4, m=3, reassociate=True).peel("n.0").peel("k.0")
        return h.schedule["matmul_rest"].peel("m.0_rest")

    check(product, "mk kn", blocked, tag="reassoc")


# --------------------------------------------------------------------------------- tile_reduction
def test_tile_reduction_of_other_dims() -> None:
    h = schedule(total, A)["sum"]
    message = r"tile_reduction\(j=4\) of sum: j is not reduced; legal: i=.."
    with pytest.raises(ScheduleError, match=message):
        h.tile_reduction(j=4)
    with pytest.raises(ScheduleError, match="one dim gets accumulators at a time"):
        h.tile_reduction(i=4, j=4)
    with pytest.raises(ScheduleError, match=r"1 accumulators change nothing; legal: 2 to .."):
        h.tile_reduction(i=1)
    with pytest.raises(ScheduleError, match=r"calls the routine matmul; legal: generalize\(\)"):
        schedule(product, A, B)["matmul"].tile_reduction(k=4, reassociate=True)


def test_tile_reduction_of_a_float_sum() -> None:
    h = schedule(total, A)["sum"]
    with pytest.raises(ScheduleError, match=r"i is summed, .*; legal: reassociate=True"):
        h.tile_reduction(i=4)
    partial = h.tile_reduction(i=4, reassociate=True)
    assert partial.dims == ("i.0", "j", "i.1")
    assert partial.schedule.steps[0].tag == "reassoc"
    assert partial.schedule["sum_total"].dims == ("j", "i.1")
    assert partial.schedule["sum_rest"].dims == ("i", "j")


def test_tile_reduction_without_a_rest() -> None:
    h = schedule(lambda a: (np.zeros((12, 3)) + a[0, 0]).sum(axis=0), A)["sum"]
    h = h.tile_reduction(i=4, reassociate=True)
    assert "sum_rest" not in str(h.schedule)
    with pytest.raises(ScheduleError, match=r"3 accumulators change nothing; legal: 2 to 2"):
        h.tile_reduction(**{"i.0": 3}, reassociate=True)


def test_tile_reduction() -> None:
    check(largest, "mn", lambda s: s["max"].tile_reduction(j=4))
    many = ("i2", "u1", "i8")
    check(total, "mn", lambda s: s["sum"].tile_reduction(i=3), dtypes=many)

    def accumulators(s: Schedule) -> Handle:
        return s["sum"].tile_reduction(i=8, reassociate=True).tile(**{"i.1": 3, "j": 4})

    check(total, "mn", accumulators, tag="reassoc")
    check(whole, "mn", lambda s: s["sum"].tile_reduction(i=3, reassociate=True), tag="reassoc")
    check(product, "mk kn", lambda s: loops(s).tile_reduction(k=4, reassociate=True), tag="reassoc")


# ------------------------------------------------------------------------------- unroll_reduction
def test_unroll_reduction_of_other_dims() -> None:
    h = schedule(windows, A)["sum"]
    with pytest.raises(ScheduleError, match='i is not reduced; legal: "k" or "l"'):
        h.unroll_reduction("i")
    with pytest.raises(ScheduleError, match="no dim is given"):
        h.unroll_reduction()
    with pytest.raises(ScheduleError, match="i has extent s0, which is no known number above 0"):
        schedule(total, A)["sum"].unroll_reduction("i")
    many = schedule(lambda a: (np.zeros((5, 99)) + a[0, 0]).sum(axis=1), A)["sum"]
    with pytest.raises(ScheduleError, match="99 points are too many for one payload: at most 64"):
        many.unroll_reduction("j")


def test_unroll_reduction_of_what_is_summed_last() -> None:
    h = schedule(windows, A)["sum"]
    message = r"l is summed first, .*; legal: unroll_reduction\(\"l\"\) or reassociate=True"
    with pytest.raises(ScheduleError, match=message):
        h.unroll_reduction("k")
    assert h.unroll_reduction("k", reassociate=True).schedule.steps[0].tag == "reassoc"
    assert h.unroll_reduction("l").unroll_reduction("k").op.is_elementwise


def test_unroll_reduction() -> None:
    check(windows, "mn", lambda s: s["sum"].unroll_reduction("l", "k"))
    check(windows, "mn", lambda s: s["sum"].unroll_reduction("l"))
    again = ("f8", "i4")
    unrolled: Recipe = lambda s: s["sum"].unroll_reduction("k", reassociate=True)  # noqa: E731
    check(windows, "mn", unrolled, dtypes=again, tag="reassoc")
    check(windows, "mn", lambda s: s["sum"].tile(i=4).unroll_reduction("l"), dtypes=again)


# --------------------------------------------------------------------------------------- collapse
def elementwise(a: Any) -> Any:
    return np.maximum(a * 2, 1)


def column(a: Any) -> Any:
    """A dim of extent 1 is added to each row."""
    return a.sum(axis=1, keepdims=True) * 2


def test_collapse_of_one_dim() -> None:
    h = schedule(elementwise, A)["maximum"]
    with pytest.raises(ScheduleError, match="two different dims are merged at least"):
        h.collapse("i")
    with pytest.raises(ScheduleError, match="two different dims are merged at least"):
        h.collapse("i", "i")


def test_collapse_of_what_does_not_lie_together() -> None:
    with pytest.raises(ScheduleError, match=r"is read through \(d0, d1\) -> \(d1\)"):
        schedule(lambda a, b: a + b[0], A, A)["add"].collapse("i", "j")
    with pytest.raises(ScheduleError, match="%v0 would have to be copied"):
        schedule(lambda a: a + 1, A[:, ::2])["add"].collapse("i", "j")
    with pytest.raises(ScheduleError, match=r"is read through \(d0, d1\) -> \(d0, d1\)"):
        schedule(elementwise, A)["maximum"].collapse("j", "i")
    with pytest.raises(ScheduleError, match="parallel and reduction dims of max cannot be one"):
        schedule(largest, A)["max"].collapse("i", "j")
    transposed = schedule(lambda a: a.T + 1, A)["add"]
    with pytest.raises(ScheduleError, match=r"would have to be copied|in another order in memory"):
        transposed.collapse("i", "j")


def test_collapse_in_a_loop() -> None:
    h = schedule(lambda a: np.exp(a[:, :4] + 1), A)["exp"].tile(i=4).fuse("add").schedule["add"]
    with pytest.raises(ScheduleError, match="would have to be copied"):
        h.collapse("i", "j")
    wide = schedule(lambda a: np.exp(a + 1), A)["exp"].tile(i=4)
    with pytest.raises(ScheduleError, match="i_1 times s1 is not known before the loop around it"):
        wide.collapse("i", "j")


def test_collapse() -> None:
    h = check(elementwise, "mn", lambda s: s["maximum"].collapse("i", "j"))
    assert h.dims == ("ij",)
    check(elementwise, "mn", lambda s: s["maximum"].collapse("i", "j").tile(ij=5))
    check(whole, "mn", lambda s: s["sum"].collapse("i", "j", reassociate=True), tag="reassoc")
    with pytest.raises(ScheduleError, match=r"i and j is summed, .*legal: reassociate=True"):
        schedule(whole, A)["sum"].collapse("i", "j")


# ----------------------------------------------------------------------------------------- expand
def test_expand_of_an_unknown_extent() -> None:
    h = schedule(elementwise, A)["maximum"]
    message = r"i has extent s0, which is not known to be a multiple of 4; legal: tile\(i=..\)"
    with pytest.raises(ScheduleError, match=message):
        h.expand(i=4)
    with pytest.raises(ScheduleError, match="a size of 1 changes nothing"):
        h.expand(i=1)
    with pytest.raises(ScheduleError, match=r"one dim is split at a time; legal: i=.. or j=.."):
        h.expand(i=2, j=2)


def test_expand_of_a_float_sum() -> None:
    h = schedule(lambda a: (np.zeros((12, 3)) + a[0, 0]).sum(axis=0), A)["sum"]
    with pytest.raises(ScheduleError, match=r"i is summed, .*; legal: reassociate=True"):
        h.expand(i=4)
    assert h.expand(i=4, reassociate=True).dims == ("i.0", "i.1", "j")


def test_expand() -> None:
    def whole_tiles(s: Schedule) -> Handle:
        return s["add"].tile(i=8, j=6).peel("i.0").expand(i=4)

    h = check(outer, "mn nm", whole_tiles)
    assert h.dims == ("i.0", "i.1", "j")
    check(outer, "mn nm", lambda s: whole_tiles(s).interchange("j i.0 i.1"))
    check(outer, "mn nm", lambda s: whole_tiles(s).tile(**{"i.1": 3}))

    def blocks(s: Schedule) -> Handle:
        h = s["sum"].tile(i=8, reassociate=True).peel("i.0")
        return h.expand(i=4, reassociate=True)

    check(total, "mn", blocks, tag="reassoc")
    check(largest, "mn", lambda s: s["max"].tile(j=6).peel("j.0").expand(j=2))


def test_tiles_of_a_padded_dim_are_whole() -> None:
    """An extent ``8 * ((s0 + 7) floordiv 8)`` is a multiple of 8, whatever the call."""
    recipe: Recipe = lambda s: loops(s).pad(n=8).tile(n=8).expand(n=4)  # noqa: E731
    h = check(product, "mk kn", recipe, dtypes=("f8", "i4"), tag="reassoc")
    assert h.dims == ("m", "n.0", "n.1", "k")
    assert h.op.domain[2].as_constant() == 4


# --------------------------------------------------------------------------------- fold_unit_dims
def test_fold_unit_dims() -> None:
    with pytest.raises(ScheduleError, match="no dim has extent 1 and may be dropped"):
        schedule(elementwise, A)["maximum"].fold_unit_dims()
    h = check(column, "mn", lambda s: s["multiply"].fold_unit_dims())
    assert h.dims == ("i",)
    last = schedule(lambda a: a[:, :1].sum(axis=1), A)["sum"]
    with pytest.raises(ScheduleError, match="no dim has extent 1 and may be dropped"):
        last.fold_unit_dims()


# ---------------------------------------------------------------------------------- fuse_siblings
def pair(a: Any) -> Any:
    return a * 2, np.maximum(a, 1)


def kept(a: Any) -> Any:
    doubled = a * 2
    return doubled, np.maximum(doubled, 1)


def extremes(a: Any) -> Any:
    return a.max(axis=1), a.min(axis=1)


def test_fuse_siblings_of_other_domains() -> None:
    s = schedule(lambda a: (a.sum(axis=0), np.exp(a), np.sqrt(a[1:])), A)
    with pytest.raises(ScheduleError, match=r"its domain is \(s0, s1\) .*, that of sqrt"):
        s["exp"].fuse_siblings("sqrt")
    with pytest.raises(ScheduleError, match=r"that of sum .* reduction, parallel"):
        s["exp"].fuse_siblings("sum")
    with pytest.raises(ScheduleError, match="it is the op itself"):
        s["exp"].fuse_siblings("exp")
    tiled = s["sqrt"].tile(i=2).schedule
    with pytest.raises(ScheduleError, match="sqrt stands in another loop"):
        tiled["exp"].fuse_siblings("sqrt")


def test_fuse_siblings_of_what_is_read_in_between() -> None:
    def total_first(a: Any) -> Any:
        e = np.exp(a)
        return np.sqrt(a + e.sum()), e

    with pytest.raises(ScheduleError, match="neither exp nor sqrt can move to the other"):
        schedule(total_first, A)["sqrt"].fuse_siblings("exp")


def test_fuse_siblings_of_a_reader_at_other_points() -> None:
    s = schedule(lambda a: kept(a[:4, :4]), A)
    with pytest.raises(ScheduleError, match="maximum reads multiply at other points"):
        s["maximum"].interchange("j i").fuse_siblings("multiply")


def test_fuse_siblings() -> None:
    check(pair, "mn", lambda s: s["maximum"].fuse_siblings("multiply"))
    check(pair, "mn", lambda s: s["multiply"].fuse_siblings("maximum").tile(i=4))
    check(kept, "mn", lambda s: s["maximum"].fuse_siblings("multiply"))
    check(extremes, "mn", lambda s: s["min"].fuse_siblings("max"))


# -------------------------------------------------------------------------------------- decompose
def convolution(a: Any) -> Any:
    """A 2-D convolution of integers with a window of 1 x 3, of an image that is one row high."""
    window = np.arange(6).reshape(1, 3, 1, 2)
    return linalg.conv_2d_nhwc_hwcf(a[:, None, :, None].astype("i8"), window)


def test_decompose_of_what_is_small() -> None:
    message = "it has one result, no window dim of extent 1, and one reduced dim at most"
    with pytest.raises(ScheduleError, match=message):
        schedule(total, A)["sum"].decompose()
    with pytest.raises(ScheduleError, match="it runs in sequence"):
        schedule(lambda a: np.cumsum(a, axis=0), A)["add.accumulate"].decompose()


def test_decompose() -> None:
    h = check(windows, "mn", lambda s: s["sum"].decompose())
    assert h.dims == ("i", "j", "k", "l")
    assert h.op.name == "sum_l"
    assert h.schedule["sum_k"].dims == ("i", "j", "k")
    check(
        whole,
        "mn",
        lambda s: s["sum"].decompose().schedule["sum_i"].split(i=3, reassociate=True),
        tag="reassoc",
    )
    both: Recipe = lambda s: s["maximum"].fuse_siblings("multiply").decompose()  # noqa: E731
    h = check(kept, "mn", both)
    assert h.op.name == "maximum_0"
    assert len(h.op.results) == 1


def test_decompose_of_a_convolution() -> None:
    h = check(convolution, "mn", lambda s: s["conv_2d_nhwc_hwcf"].decompose(), dtypes=("i8",))
    assert [o.value.type.rank for o in h.op.inputs] == [3, 3]
    assert len(h.op.domain) == 5


# ------------------------------------------------------------------------------------- specialize
def test_specialize_of_no_named_op() -> None:
    s = schedule(lambda a, b: np.where(np.arange(7) > 3, a * a + 1, 2) @ b, A, B)
    with pytest.raises(ScheduleError, match=r"no op of linalg has the maps .*and this payload"):
        s["where"].specialize()
    with pytest.raises(ScheduleError, match=r"calls the routine matmul; legal: generalize\(\)"):
        s["matmul"].specialize()


def test_specialize_of_a_named_op() -> None:
    h = schedule(product, A, B)["matmul"].generalize().specialize()
    assert h.op.is_named
    with pytest.raises(ScheduleError, match=r"it is linalg.matmul already"):
        h.specialize()


def test_specialize_finds_the_order_of_dims() -> None:
    """Equal up to the order of dims and inputs; dims of another order of summation are not."""
    h = schedule(product, A, B)["matmul"].generalize().interchange("k n m").specialize()
    assert h.dims == ("m", "n", "k")
    assert h.op.name == "matmul"
    swapped = replace(h.op, inputs=h.op.inputs[::-1], name="product", is_named=False)
    found = as_named(swapped)
    assert found is not None
    assert (found.op.name, found.op.inputs) == ("matmul", h.op.inputs)


def test_specialize_of_a_smaller_convolution() -> None:
    recipe: Recipe = lambda s: s["conv_2d_nhwc_hwcf"].decompose().specialize()  # noqa: E731
    h = check(convolution, "mn", recipe, dtypes=("i8",))
    assert h.op.name == "conv_1d_nwc_wcf"


def test_specialize() -> None:
    check(outer, "mn nm", lambda s: s["add"].tile(i=4).specialize())
    check(product, "mk kn", lambda s: loops(s).interchange("n m k").specialize(), tag="reassoc")


# ----------------------------------------------------------------------------------------- jitted
def test_jitted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FUSEJIT_UNJITTED")

    def registers(s: Schedule) -> Handle:
        h = loops(s).tile(m=4, n=16).peel("m.0").peel("n.0").vectorize("n", reassociate=True)
        return h.unroll("m").threads("m.0")

    check(product, "mk kn", registers, dtypes=("f4",), tag="reassoc")
    check(outer, "mn nm", lambda s: s["add"].tile(i=8).peel("i.0").expand(i=4), dtypes=("f8",))
    sums: Recipe = lambda s: s["sum"].tile_reduction(i=8, reassociate=True)  # noqa: E731
    check(total, "mn", sums, dtypes=("f8",), tag="reassoc")
