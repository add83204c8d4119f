"""Steps that cut or reorder the domain of an op: which are refused, and values against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit.transform import Handle, Schedule, ScheduleError, schedule
from fusejit_testing.schedules import (
    SIZES,
    Recipe,
    arrays,
    check,
    largest,
    loops,
    outer,
    product,
    total,
    whole,
)

A, B = np.ones((9, 7)), np.ones((7, 5))


@pytest.fixture(autouse=True)
def _unjitted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FUSEJIT_UNJITTED", "1")


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


def test_symbols_of_a_recipe() -> None:
    """A step adds integers that the launcher computes: calls of other sizes have others."""

    def recipe(s: Schedule) -> Handle:
        h = s["maximum"].collapse("i", "j").split(ij=100).tile(ij=16).peel("ij.0").expand(ij=4)
        return h.schedule["add"].split(j=3)

    fused: Any = fuse_jit(schedule=recipe, fullgraph=True)(lambda a, b: np.maximum(a + b, 0))
    for sizes in ((7, 9, 1), (33, 21, 1), (64, 64, 1), (1, 1, 1)):
        a, b = arrays("mn mn", sizes, "f8")
        np.testing.assert_array_equal(fused(a, b), np.maximum(a + b, 0))
    assert "d0 < 33, d1 < 18" in fused.explain(np.ones((33, 21)), np.ones((33, 21)), detail=True)
