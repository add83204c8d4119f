"""What a user sees of a schedule: names of ops, the log with its costs, measured times."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from fusejit.dataclass import replace
from fusejit.ir.ops import walk
from fusejit.transform import Handle, Parts, Schedule, ScheduleError, schedule
from fusejit.transform.core.costs import estimate
from fusejit.transform.log import quantity

A, B = np.ones((90, 70)), np.ones((70, 50))


def layer(a: Any, b: Any) -> Any:
    return np.maximum((a @ b + 1.0) * 2.0 + 3.0, 0.0)


def softmax(a: Any, b: Any) -> Any:
    e = np.exp(a - a.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


@pytest.fixture
def s() -> Schedule:
    return schedule(layer, A, B)


# ------------------------------------------------------------------------------------------ names
def test_the_second_op_of_a_name(s: Schedule) -> None:
    with pytest.raises(ScheduleError, match=r"several ops are named 'add'; .*add#1 \(.*, add#2 \("):
        s["add"]
    assert "const 1.0" in s["add#1"].show()
    assert "const 3.0" in s["add#2"].show()
    assert s["multiply#1"].value is s["multiply"].value
    line = f"test_reports.py:{layer.__code__.co_firstlineno + 1}"
    assert s[f"{line}#3"].value is s["multiply"].value
    with pytest.raises(ScheduleError, match=r"no op is named 'add#3'; there are: matmul"):
        s["add#3"]
    h = s["add#2"].tile(i=8).fuse("multiply", "add#1")
    assert h["maximum"].value is h.schedule["maximum"].value
    np.testing.assert_array_equal(h.schedule.compile()(A, B), layer(A, B))


def test_lengths_of_tiles_have_no_names(s: Schedule) -> None:
    with pytest.raises(ScheduleError, match="no op is named 'length'"):
        s["maximum"].tile(i=8).schedule["length"]


def test_an_op_that_a_step_removed(s: Schedule) -> None:
    h = s["maximum"].rematerialize("add#2").rematerialize("multiply")
    where = r"rematerialize\('multiply'\) \(test_reports.py:\d+\)"
    message = rf"no op is named 'multiply': step 2, {where}, removed it, and maximum computes it"
    with pytest.raises(ScheduleError, match=message):
        h.schedule["multiply"]
    with pytest.raises(ScheduleError, match=rf"is not computed any more: step 2, {where}"):
        h.schedule[s["multiply"]]


def test_an_op_of_an_earlier_step(s: Schedule) -> None:
    before = s["maximum"]
    after = s["maximum"].tile(i=8).fuse("add#2").schedule
    assert after[before].value is after["maximum"].value
    assert after[s["add#2"]].value is after["add#2"].value
    assert after[before].dims == ("i", "j")
    with pytest.raises(ScheduleError, match="of another schedule, or of a step after this one"):
        s[after["maximum"]]
    other = schedule(layer, A, B)
    with pytest.raises(ScheduleError, match="of another schedule"):
        other[before]


# ---------------------------------------------------------------------------------------- the log
def test_the_log_has_costs_and_lines(s: Schedule) -> None:
    def recipe(s: Schedule) -> Handle:
        return s["maximum"].tile(i=30).fuse("add#2", "multiply", "add#1")

    head, titles, traced, *steps = recipe(s).schedule.log.splitlines()
    assert head == "layer: 5 ops, 0 loops"
    assert titles.split() == ["step", "line", "keeps", "moved", "flops", "scratch", "what"]
    assert traced.endswith("as traced")
    line = recipe.__code__.co_firstlineno + 1
    assert all(f"test_reports.py:{line}" in step for step in steps)
    assert "recompute x1.00" in steps[1]
    assert "time" not in titles


def test_the_table_has_times(s: Schedule) -> None:
    table = s["maximum"].tile(i=30).schedule.table(A, B, rounds=1)
    assert "time" in table
    assert table.count("s  ") >= 2


def test_costs() -> None:
    s = schedule(softmax, A, B)
    traced = estimate(s.graph, s.sizes)
    num = 90 * 70
    # read: a twice, subtract, exp twice; written: subtract, exp, the result; the rest are rows
    assert traced.moved == 8 * (8 * num + 90 * 4)
    assert traced.flops == 5 * num
    assert traced.scratch == 8 * (2 * num + 2 * 90)
    h = s["divide"].tile(i=16).fuse("sum", "exp", "subtract", "max")
    fused = estimate(h.schedule.graph, s.sizes)
    assert fused.moved == 8 * 3 * num
    assert fused.flops == traced.flops
    assert fused.scratch == 8 * 16 * (2 * 70 + 2)
    assert sum(fused.points.values()) == sum(traced.points.values())


def test_costs_of_partial_sums() -> None:
    s = schedule(lambda a, b: a @ b, A, B)
    h = s["matmul"].generalize().tile(m=32, k=64, reassociate=True)
    costs = estimate(h.schedule.graph, s.sizes)
    assert costs.flops == 2 * 90 * 70 * 50
    # b is read for each of 3 tiles; the sums are filled, and read and written in 2 parts
    fill = 90 * 50
    assert costs.moved == 8 * (90 * 70 + 3 * 70 * 50 + 4 * 90 * 50 + fill)


def test_costs_of_loops_of_the_program() -> None:
    def triangle(a: Any) -> Any:
        total = np.zeros(a.shape[0])
        for i in range(a.shape[0]):
            total[: i + 1] += a[i, : i + 1]
        return total

    n = 31
    s = schedule(triangle, np.ones((n, n)))
    assert estimate(s.graph, s.sizes).flops == pytest.approx(n * (n + 1) / 2, rel=0.05)


def test_quantities() -> None:
    assert quantity(1920000, "B") == "1.92 MB"
    assert quantity(0.0000421, "s") == "42.1 µs"
    assert quantity(0, "B") == "0 B"
    assert quantity(123, "B") == "123 B"


# ----------------------------------------------------------------------------------- recomputation
def product(a: Any, b: Any) -> Any:
    return np.exp(a) @ b


def blurred(a: Any, b: Any) -> Any:
    e = np.exp(a)
    return e[2:] + e[1:-1] + e[:-2]


def test_recomputation() -> None:
    s = schedule(product, A, B)
    log = s["matmul"].tile(m=30, n=10).fuse("exp").schedule.log
    assert "computed again for each n.0, recompute x5.00" in log
    message = (
        r"fuse\('exp'\) of matmul: exp would be computed 25 times as often as now; "
        r"legal: recompute=True or larger tiles"
    )
    h = s["matmul"].tile(m=30, n=2)
    with pytest.raises(ScheduleError, match=message):
        h.fuse("exp")
    step = h.fuse("exp", recompute=True).schedule.steps[-1]
    assert step.call == "fuse('exp', recompute=True)"
    halo = schedule(blurred, A, B)["add#2"].tile(i=22).fuse("add#1").fuse("exp")
    assert "recompute x2.93" in halo.schedule.log.splitlines()[-1]  # for each of three slices


# -------------------------------------------------------------------------------------- verifying
def test_verify() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((30, 20)), rng.standard_normal((20, 10))
    s = schedule(softmax, a, b)["divide"].tile(i=8).fuse("sum", "exp", "subtract", "max").schedule
    report = s.verify()
    assert report.tag == "bits"
    assert str(report).startswith(
        "softmax: 7 of 8 calls compared with NumPy (bits)\n  (30, 20), (2"
    )
    assert "NumPy raises ValueError" in str(report)  # the maximum of nothing
    s = schedule(layer, a, b)["matmul"].generalize().tile(k=7, reassociate=True).schedule
    assert s.verify(a, b).tag == "reassoc"
    assert "of the largest number" in str(s.verify(a, b))
    with pytest.raises(ScheduleError, match="differs from NumPy by more than reassoc allows: res"):
        s.verify(a, b, tolerance=1e-18)
    with pytest.raises(ScheduleError, match="not like the traced one"):
        s.verify(a.astype(np.float32), b)


def test_verify_looks_at_memory_and_at_all_results() -> None:
    def several(a: Any, n: int) -> Any:
        a[1:] = a[:-1] * n
        return {"sum": a.sum(axis=0), "rest": (a + 1, [a * 2])}

    rng = np.random.default_rng(0)
    s = schedule(several, rng.standard_normal((9, 4)), 3)
    h = s["add"].tile(i=4)
    assert "same bits" in str(h.schedule.verify())
    wrong = replace(h.schedule, graph=schedule(lambda a, n: several(a, n + 1), *s.args).graph)
    with pytest.raises(ScheduleError, match=r"\(9, 4\), 3 differs .*bits than without the steps"):
        wrong.verify()


# ---------------------------------------------------------------------------------------- the nest
def test_the_loop_nest() -> None:
    s = schedule(softmax, A, B)["divide"].tile(i=64).fuse("sum", "exp", "subtract", "max").schedule
    text = s["divide"].threads("i.0").schedule.loop_nest()
    assert text.startswith("def softmax(a, b):\n    s0 = a.shape[0]\n")
    expected = """
    v7 = empty((s0, s1), f64)
    for i_0 in range((s0 + 63) // 64):  # loop i.0, on threads
        i_1 = minimum(64, -64 * i_0 + s0)
        # max
        v0_tile[:i_1] = -inf
        for i in range(i_1):
            for j in range(s1):
                v0_tile[i] = maximum(v0_tile[i], a[i + 64 * i_0, j])
"""
    assert expected in text
    assert "                v7[i + 64 * i_0, j] = v4_slice[i, j] / v5_tile[i]\n" in text


def test_the_loop_nest_of_partial_sums(s: Schedule) -> None:
    text = s["matmul"].generalize().tile(k=5, reassociate=True).schedule.loop_nest()
    assert "v2[m, n] += a[m, k + 5 * k_0] * b[k + 5 * k_0, n]" in text
    assert "# matmul\n        for m in" in text  # the sum so far is not copied
    assert "matmul, by the routine matmul" in s.loop_nest()


def test_the_loop_nest_of_memory() -> None:
    def stores(a: Any, b: Any) -> Any:
        a[1:] = a[:-1] * 2  # reads what it overwrites
        a[:, 0] = a[:, 0] + a[:, 0] * b[0, 0]
        e = np.where(a > 0, 1, a)
        return e * e + e, a.T[::2, 1:]

    text = schedule(stores, A, B).loop_nest()
    assert "a[1 : s0, :s1] = v" in text
    assert "a[i, 0] = a[i, 0] + " in text
    assert text.endswith("transpose(a[1 : s0, :2 * ((s1 + 1) // 2):2], [1, 0])")


def test_the_loop_nest_of_views_that_are_no_slices() -> None:
    def blocks(a: Any, b: Any) -> Any:
        e = np.exp(b).reshape(-1) * 2
        return a[:90, :70].reshape(45, 2, 35, 2).mean(axis=(1, 3)), a.reshape(-1), e

    text = schedule(blocks, A, B).loop_nest()
    assert "+= a[2 * i + j, 2 * k + l]" in text
    assert re.search(r"a_r = a.reshape\(\(s\d,\)\)", text)
    assert re.search(r"v\d+ = v\d+.reshape\(\(s\d,\)\)", text)


def test_steps_of_a_gather_are_checked() -> None:
    def gathered(a: Any, n: Any) -> Any:
        return np.exp(a)[n] + 1

    s = schedule(gathered, A[:8], np.array([3, 0, 2, 7, 1, 4]))
    assert s["add"].tile(i=2).schedule.steps[0].num_checked >= 2  # indices within bounds
    assert "NumPy raises IndexError" in str(s["add"].tile(i=2).schedule.verify())


def test_the_loop_nest_keeps_the_order_of_reads_and_stores() -> None:
    def late(a: Any, b: Any) -> Any:
        t = a + 1
        total = a.sum(axis=0)  # of what is overwritten
        a[:] = t
        a[b > 0] = 5.0
        return total

    text = schedule(late, A, np.ones_like(A)).loop_nest()
    assert text.index("v1[i, j] = ") < text.index("+= a[i, j]") < text.index("a[:s0, :s1] = v1")
    assert "a[:s0, :s1] = where(v" in text


def test_the_loop_nest_of_a_gather_from_a_view(s: Schedule) -> None:
    """The start of the second part is allocated after the first one was computed."""
    text = schedule(lambda a, n: a[::-1].T[n], A, np.array([3, 0, 2])).loop_nest()
    assert "view(a, (d0, d1) -> (-d1 + s0 - 1, d0))[" in text
    text = s["matmul"].split(m=8).schedule.loop_nest()
    assert text.index("v2 = empty((s0, s3), f64)") < text.index("v2[:m_0, :s3] = v2_tile")
    assert "v2[m_0 : s0, :s3] = 0.0" in text


def test_the_source_of_the_kernels(s: Schedule) -> None:
    assert "parallel_for" in s["maximum"].tile(i=8).schedule.lower().source


# ------------------------------------------------------------------------------------------ no_fuse
def several(a: Any, b: Any) -> Any:
    e = np.exp(a * 2)
    return e + 1, e - a, (a * 2).sum(axis=1), a.max(axis=1)


def test_no_fuse() -> None:
    s = schedule(several, A, B)
    for label in ("multiply#1", "exp", "add", "sum", "max"):
        h = s[label].no_fuse()
        assert "unfused" in h.show()
        with pytest.raises(ScheduleError, match="it is kept apart already"):
            h.no_fuse()
        fused = h.schedule.lower().before
        (op,) = [op for op in walk(fused.graph.block) if getattr(op, "is_unfused", False)]
        assert op.payload == s[label].op.payload
        assert len(op.results) == 1
        groups = [group for step in fused.schedule.steps for group in getattr(step, "groups", ())]
        assert not any(op in group.ops for group in groups)
        for expected, found in zip(several(A, B), h.schedule.compile()(A, B), strict=True):
            np.testing.assert_array_equal(found, expected)
    h = s["exp"].no_fuse("add", "sum")
    assert "no_fuse('add', 'sum')" in h.schedule.log
    with pytest.raises(ScheduleError, match="add is kept apart by no_fuse"):
        h.schedule["add"].rematerialize("exp")
    assert "unfused" in h.schedule["add"].tile(i=8).show()


def test_nests_beside_an_op_that_is_kept_apart() -> None:
    def two(a: Any, b: Any) -> Any:
        a[:] = np.exp(a)
        b[:] = a

    s = schedule(two, A, np.ones_like(A))
    merged, apart = s.lower().source, s["exp"].no_fuse().schedule.lower().source
    assert merged.count("def chunk") < apart.count("def chunk")


def test_costs_of_many_ragged_loops() -> None:
    """Each has a last tile of its own: counting them all takes time that doubles with each loop."""
    a = np.ones((5,) * 6)
    h = schedule(lambda a: a + 1, a)["add"]
    for size in (3, 2):
        h = h.tile(check=False, **dict.fromkeys(h.dims, size))
    assert estimate(h.schedule.graph, h.schedule.sizes).flops == 5**6


def test_parts_compute_each_row_once() -> None:
    """Each tile's beginning counted as a length, and the number of tiles was not known."""
    s = schedule(lambda a, b: np.maximum(a @ b + 1, 0), np.ones((103, 30)), np.ones((30, 20)))
    h = s["maximum"].tile(i=Parts(4)).fuse("add", "matmul")
    assert h.schedule.log.count("recompute x1.00") == 2
