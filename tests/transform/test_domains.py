"""Steps that change the domain of an op: which are refused, and values against NumPy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

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
