"""Steps that make other ops of one: which are refused, and values against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fusejit.dataclass import replace
from fusejit.mlir.export.match_named import as_named
from fusejit.transform import Handle, Schedule, ScheduleError, schedule
from fusejit_testing.schedules import (
    Recipe,
    check,
    column,
    convolution,
    elementwise,
    extremes,
    kept,
    largest,
    loops,
    outer,
    pair,
    product,
    total,
    whole,
    windows,
)

A, B = np.ones((9, 7)), np.ones((7, 5))


@pytest.fixture(autouse=True)
def _unjitted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FUSEJIT_UNJITTED", "1")


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
    legal = r"legal: unroll_reduction\(\"k\", \"l\"\) or reassociate=True"
    message = f"k, l are summed as one, .*; {legal}"
    with pytest.raises(ScheduleError, match=message):
        h.unroll_reduction("k")
    assert h.unroll_reduction("k", reassociate=True).schedule.steps[0].tag == "reassoc"
    assert h.unroll_reduction("k", "l").op.is_elementwise


def test_unroll_reduction() -> None:
    check(windows, "mn", lambda s: s["sum"].unroll_reduction("l", "k"))
    last: Recipe = lambda s: s["sum"].unroll_reduction("l", reassociate=True)  # noqa: E731
    check(windows, "mn", last, tag="reassoc")
    again = ("f8", "i4")
    unrolled: Recipe = lambda s: s["sum"].unroll_reduction("k", reassociate=True)  # noqa: E731
    check(windows, "mn", unrolled, dtypes=again, tag="reassoc")
    check(windows, "mn", lambda s: s["sum"].tile(i=4).unroll_reduction("k", "l"), dtypes=again)


# --------------------------------------------------------------------------------------- collapse
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
def test_decompose_of_what_is_small() -> None:
    message = "it has one result, no window dim of extent 1, and one reduced dim at most"
    with pytest.raises(ScheduleError, match=message):
        schedule(total, A)["sum"].decompose()
    with pytest.raises(ScheduleError, match="it runs in sequence"):
        schedule(lambda a: np.cumsum(a, axis=0), A)["add.accumulate"].decompose()


def test_decompose() -> None:
    with pytest.raises(ScheduleError, match=r"summed as one, .*; legal: reassociate=True"):
        schedule(windows, A)["sum"].decompose()
    h = check(windows, "mn", lambda s: s["sum"].decompose(reassociate=True), tag="reassoc")
    assert h.dims == ("i", "j", "k", "l")
    assert h.op.name == "sum_l"
    assert h.schedule["sum_k"].dims == ("i", "j", "k")
    check(
        whole,
        "mn",
        lambda s: (
            s["sum"].decompose(reassociate=True).schedule["sum_i"].split(i=3, reassociate=True)
        ),
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
