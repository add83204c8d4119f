"""Errors of illegal steps name the step, the op, the dim, the rule, and what would be legal."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fusejit
from fusejit import fuse_jit
from fusejit.ir.ops import Loop, walk
from fusejit.transform import Parts, Schedule, ScheduleError, schedule

A, B = np.ones((9, 7)), np.ones((7, 5))


def chain(a: Any, b: Any) -> Any:
    return np.maximum(a @ b + 1.0, 0.0)


def sums(a: Any, b: Any) -> Any:
    return np.exp(a).sum(axis=1)


@pytest.fixture
def s() -> Schedule:
    return schedule(chain, A, B)


def test_an_op_that_is_not_there(s: Schedule) -> None:
    with pytest.raises(ScheduleError, match=r"no op is named 'foo'; there are: matmul .*, add"):
        s["foo"]


def test_an_op_by_its_line(s: Schedule) -> None:
    with pytest.raises(ScheduleError, match="several ops are named"):
        s[f"test_rules.py:{chain.__code__.co_firstlineno + 1}"]
    assert schedule(lambda a: np.exp(a), A)["exp"].dims == ("i", "j")


def test_a_dim_that_is_not_there(s: Schedule) -> None:
    with pytest.raises(ScheduleError, match=r"tile\(z=4\) of add: it has no dim z; legal: i or j"):
        s["add"].tile(z=4)


def test_no_dim(s: Schedule) -> None:
    with pytest.raises(ScheduleError, match=r"tile\(\) of add: no dim is given; legal: i=.. or"):
        s["add"].tile()


def test_a_size_below_1(s: Schedule) -> None:
    with pytest.raises(ScheduleError, match="the size of i is 0: it is at least 1"):
        s["add"].tile(i=0)


def test_a_tile_of_the_whole_extent() -> None:
    s = schedule(lambda a: np.zeros((4, 3)) + a[0, 0], A)
    with pytest.raises(ScheduleError, match="i has extent 4, so that a tile of 4 changes nothing"):
        s["add"].tile(i=4)


def test_a_number_of_tiles(s: Schedule) -> None:
    """The size is a symbol: at most so many tiles for every extent."""
    h = s["maximum"].tile(i=Parts(4)).fuse("add", "matmul").threads("i.0")
    assert "for i_0 = 0 to i_0_count step 1 parallel tiles (i_1 max " in h.schedule.show()
    assert "computed again" not in h.schedule.log
    run = h.schedule.compile()
    for m in (9, 1, 2, 4, 7, 8, 33, 0):
        a = np.arange(7.0 * m).reshape(m, 7)
        try:
            found = run(a, B)
        except ScheduleError:  # another variant
            continue
        np.testing.assert_allclose(found, chain(a, B))
    with pytest.raises(ScheduleError, match="the size of i is 0: it is at least 1"):
        s["add"].tile(i=Parts(0))
    with pytest.raises(ScheduleError, match=r"the extent of the tiles of i\.0 is not known"):
        h.peel("i.0")
    sums = schedule(lambda a: a.astype(int).sum(axis=0), A)["sum"].tile(j=Parts(3))
    np.testing.assert_array_equal(sums.schedule.compile()(A), A.sum(axis=0))


def test_a_float_sum_in_tiles(s: Schedule) -> None:
    message = (
        r"tile\(k=4\) of matmul: k is summed, and the order of a float sum shows .*legal: reas"
    )
    with pytest.raises(ScheduleError, match=message):
        s["matmul"].tile(k=4)
    assert s["matmul"].tile(k=4, reassociate=True).schedule.steps[0].tag == "reassoc"
    whole = schedule(lambda a: a.sum(axis=0), A.astype(int))["sum"]
    assert whole.tile(j=3).schedule.steps[0].tag == "bits"


def test_a_gather_has_no_slices() -> None:
    s = schedule(lambda a, n: a[n] + 1, A, np.array([3, 0, 2]))
    gather = next(name for name in ("getitem", "take", "gather") if name in str(s))
    with pytest.raises(ScheduleError, match="it gathers"):
        s[gather].tile(i=2)


def test_fuse_without_a_loop(s: Schedule) -> None:
    message = r"fuse\('matmul'\) of add: no loop is around it; legal: tile\(..\) first"
    with pytest.raises(ScheduleError, match=message):
        s["add"].fuse("matmul")
    with pytest.raises(ScheduleError, match="no producer is given"):
        s["add"].tile(i=2).fuse()


def test_fuse_of_what_is_not_read(s: Schedule) -> None:
    message = r"nothing in the loop around it reads a slice of maximum"
    with pytest.raises(ScheduleError, match=message):
        s["add"].tile(i=2).fuse("maximum")


def test_a_result_that_does_not_tell_the_point() -> None:
    s = schedule(lambda a: np.exp(np.diagonal(a)[:, None] + np.zeros((7, 2))), A)
    assert s["exp"].tile(i=2).fuse("add").schedule.log.count("bits") == 2


def test_recomputation_is_said() -> None:
    def product(a: Any, b: Any) -> Any:
        return np.exp(a) @ b

    h = schedule(product, A, B)["matmul"].tile(m=4, n=2).fuse("exp")
    assert "exp in the loops around matmul, computed again for each n.0" in h.schedule.log
    assert "fuse('exp')" in h.schedule.log


def test_a_producer_that_others_read_stays() -> None:
    def twice(a: Any) -> Any:
        e = np.sqrt(np.abs(a))
        return e + 1, e * 2

    h = schedule(twice, A)["add"].tile(i=4).fuse("sqrt")
    assert "and outside, where others read it" in h.schedule.log
    np.testing.assert_array_equal(h.schedule.compile()(A)[1], np.sqrt(np.abs(A)) * 2)


def test_rematerialize(s: Schedule) -> None:
    with pytest.raises(ScheduleError, match="of add: matmul is the library call matmul"):
        s["add"].rematerialize("matmul")
    with pytest.raises(ScheduleError, match="of add: it does not read maximum"):
        s["add"].rematerialize("maximum")
    log = s["maximum"].rematerialize("add").schedule.log
    assert log.endswith("2 ops, 0 loops; checked on 6 inputs")


def test_threads(s: Schedule) -> None:
    h = s["matmul"].tile(m=4, k=4, reassociate=True)
    message = r"threads\('k.0'\) of matmul: the tiles of k.0 are combined .*legal: threads\(\"m.0"
    with pytest.raises(ScheduleError, match=message):
        h.threads("k.0")
    with pytest.raises(ScheduleError, match=r"there is no loop n.0; legal: threads"):
        h.threads("n.0")
    shared = h.threads("m.0")
    with pytest.raises(ScheduleError, match="nothing would change"):
        shared.threads("m.0")
    loops = [op for op in walk(shared.schedule.graph.block) if isinstance(op, Loop)]
    assert [loop.is_parallel for loop in loops] == [True, False]


def test_routines(s: Schedule) -> None:
    with pytest.raises(ScheduleError, match="matmul: it calls the routine matmul already"):
        s["matmul"].to_library()
    with pytest.raises(ScheduleError, match="add: it is no matrix product: its iterators are par"):
        s["add"].to_library()
    loops = s["matmul"].generalize()
    with pytest.raises(ScheduleError, match="it is computed by loops already"):
        loops.generalize()
    assert loops.to_library().op.library_call == "matmul"
    other = schedule(lambda a: a.T @ a, A)["matmul"].generalize()
    assert other.op.library_call is None


def test_tiles_of_a_product_by_blas_are_added(s: Schedule) -> None:
    """The routine wrote each tile over the ones before: it does not start from an array."""
    a, b = np.arange(63.0).reshape(9, 7), np.arange(35.0).reshape(7, 5)
    run = s["matmul"].tile(k=3, reassociate=True).schedule.compile()
    np.testing.assert_array_equal(run(a, b), chain(a, b))


def test_a_fused_producer_of_another_rank() -> None:
    def softmax(x: Any) -> Any:
        e = np.exp(x - x.max(axis=1, keepdims=True))
        return e / e.sum(axis=1, keepdims=True)

    h = schedule(softmax, A)["divide"].tile(i=4).fuse("sum", "exp", "subtract", "max")
    assert h.schedule.log.count("5 ops, 1 loops") == 5  # each slice is computed once
    np.testing.assert_allclose(h.schedule.compile()(A), softmax(A))


def test_a_library_that_changes_elsewhere(s: Schedule, monkeypatch: pytest.MonkeyPatch) -> None:
    run = s["add"].tile(i=2).schedule.compile()
    monkeypatch.setattr(np, "a_new_name", 1, raising=False)
    np.testing.assert_array_equal(run(A, B), chain(A, B))


def test_the_log_says_what_was_not_checked(s: Schedule) -> None:
    h = s["add"].tile(i=2)
    assert h.schedule.log.endswith("checked on 6 inputs")
    assert s["add"].tile(i=2, check=False).schedule.log.endswith("not checked")
    assert h.threads("i.0").schedule.log.endswith("not checked")


def test_the_sign_of_zero_in_tiles() -> None:
    """A step that keeps bits keeps that, too."""
    zeros = np.random.default_rng(0).choice([0.0, -0.0], (40, 13))
    for function in (lambda a: a.max(axis=1), lambda a: a.min(axis=0), lambda a: -np.abs(a)):
        s = schedule(function, zeros)
        name = next(n for n in ("max", "min", "negative") if f'"{n}"' in s.show())
        h = s[name].tile(**dict.fromkeys(s[name].dims, 4))
        assert [step.tag for step in h.schedule.steps] == ["bits"]
        plain, found = s.compile()(zeros), h.schedule.compile()(zeros)
        assert plain.tobytes() == found.tobytes()


def test_nothing_is_changed(s: Schedule) -> None:
    before = str(s)
    s["add"].tile(i=2)
    assert str(s) == before


def test_the_printed_form() -> None:
    s = schedule(sums, A, B)["sum"].tile(i=4).fuse("exp").schedule
    text = s.show()
    assert "for i_0 = 0 to (s0 + 3) floordiv 4 step 1 tiles (i_1 max 4 of s0) {" in text
    assert "%v0_slice = view %v0 [(d0, d1) -> (d0 + 4 * i_0, d1)] : i_1 x s1 x f64" in text
    assert " for " not in s.show(0)
    assert len(s.time()) == 3


def test_a_recipe_of_a_decorated_function() -> None:
    def recipe(s: Schedule) -> Any:
        return s["maximum"].tile(i=4).fuse("add", "matmul").threads("i.0")

    fused: Any = fuse_jit(schedule=recipe, fullgraph=True)(chain)
    np.testing.assert_allclose(fused(A, B), chain(A, B))
    assert "loop over" in fused.explain(A, B, detail=True)

    def other(a: Any) -> Any:
        return np.square(a)

    with pytest.raises(ScheduleError, match="no op is named 'maximum'"):
        fuse_jit(schedule=recipe, fullgraph=True)(other)(A)

    def broken(s: Schedule) -> Any:
        raise KeyError("of the recipe")

    with pytest.raises(KeyError, match="of the recipe"):  # not an internal error
        fuse_jit(schedule=broken)(other)(A)
    with pytest.warns(fusejit.FuseWarning, match="other runs without its schedule: no op"):
        np.testing.assert_array_equal(fuse_jit(schedule=recipe)(other)(A), np.square(A))


def test_guards_that_do_not_hold() -> None:
    run = schedule(chain, A, B)["add"].tile(i=2).schedule.compile()
    with pytest.raises(ScheduleError, match="the call is not like the traced one"):
        run(A.astype(np.float32), B)
