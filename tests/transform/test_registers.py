"""`vectorize`, `unroll` and `promote`: rules, values, and where the tiles are stored."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

from fusejit import fuse_jit, linalg
from fusejit.ir.ops import Alloc, Load, walk
from fusejit.ir.text.parser import parse_graph
from fusejit.ir.text.printer import print_graph
from fusejit.transform import Handle, Schedule, ScheduleError, schedule

SIZES = [(23, 17, 14), (1, 1, 1), (8, 16, 5), (9, 40, 3), (33, 33, 33), (16, 8, 0), (0, 5, 2)]


def product(a: Any, b: Any) -> Any:
    return a @ b


def integers(a: Any, b: Any) -> Any:
    return a.astype(np.int32) @ b.astype(np.int32)


def largest(a: Any, b: Any) -> Any:
    return (a[:, None, :] - b.T[None]).max(axis=2)


def convolution(a: Any, b: Any) -> Any:
    return linalg.conv_2d_nhwc_hwcf(a, b)


def arguments(m: int, n: int, k: int, dtype: str = "f4") -> tuple[Any, Any]:
    rng = np.random.default_rng(m + n)
    a, b = rng.integers(-9, 9, (m, k)), rng.integers(-9, 9, (k, n))
    return a.astype(dtype), b.astype(dtype)


def in_registers(s: Schedule, name: str, rows: str, columns: str) -> Handle:
    h = s[name]
    h = h.generalize() if h.op.library_call else h
    h = h.tile(**{rows: 4}).tile(**{columns: 16})
    return h.vectorize(columns, reassociate=True).unroll(rows)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("function", [product, integers])
def test_products(function: Any, dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sums of small integers have no rounding: each order gives NumPy's bits."""
    monkeypatch.setenv("FUSEJIT_UNJITTED", "1")
    s = schedule(function, *arguments(23, 17, 14, dtype))
    s = in_registers(s, "matmul", "m", "n").promote("b").schedule
    run = s.compile()
    for m, n, k in SIZES:
        a, b = arguments(m, n, k, dtype)
        try:
            found = run(a, b)
        except ScheduleError:  # another variant serves such sizes
            continue
        expected = function(a, b)
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)


def test_jitted() -> None:
    a, b = arguments(70, 90, 40)
    s = schedule(product, a, b)["matmul"].generalize().tile(m=32, k=16, reassociate=True)
    h = s.tile(n=32).promote("b").tile(m=8).vectorize("n", reassociate=True).unroll("m")
    run = h.threads("m.0").schedule.compile()
    for m, n, k in [(70, 90, 40), (71, 95, 33), (5, 3, 7), (64, 64, 64)]:
        a, b = arguments(m, n, k)
        np.testing.assert_array_equal(run(a, b), a @ b)


def test_an_extremum_keeps_its_bits() -> None:
    s = schedule(largest, *arguments(9, 20, 6))
    h = s["max"].tile(j=16).vectorize("j")
    assert h.schedule.steps[-1].tag == "bits"
    a, b = arguments(9, 20, 6)
    np.testing.assert_array_equal(h.schedule.compile()(a, b), largest(a, b))


def test_rules() -> None:
    s = schedule(product, *arguments(23, 17, 14))
    h = s["matmul"]
    with pytest.raises(ScheduleError, match=r"it calls the routine matmul; legal: generalize"):
        h.vectorize("n")
    h = h.generalize()
    with pytest.raises(ScheduleError, match=r"order of a float sum .*; legal: reassociate=True"):
        h.vectorize("n")
    with pytest.raises(ScheduleError, match=r"the extent of n is s3; legal: tile\(n=16\) first"):
        h.vectorize("n", reassociate=True)
    with pytest.raises(ScheduleError, match=r"k is reduction: .*; legal: m or n"):
        h.vectorize("k", reassociate=True)
    with pytest.raises(ScheduleError, match=r"no partial results in registers; legal: vectorize"):
        h.unroll("m")
    tiled = h.tile(m=4, n=16).vectorize("n", reassociate=True)
    with pytest.raises(ScheduleError, match="it is vectorized already; legal: unroll"):
        tiled.vectorize("m", reassociate=True)
    with pytest.raises(ScheduleError, match="n is part of the register tile already"):
        tiled.unroll("n")
    with pytest.raises(ScheduleError, match="n is part of the register tile"):
        tiled.tile(n=8)
    with pytest.raises(ScheduleError, match="2048 partial results do not fit into registers"):
        h.tile(m=32, n=64).vectorize("n", reassociate=True).unroll("m")
    with pytest.raises(ScheduleError, match="combines nothing: LLVM vectorizes such loops by"):
        schedule(lambda a: a + 1, np.ones(40))["add"].tile(i=16).vectorize("i")
    with pytest.raises(ScheduleError, match="it has a result at each point of a sequential dim"):
        schedule(lambda a: a.cumsum(axis=0), np.ones((40, 40)))["add.accumulate"].vectorize("j")


def test_rules_of_promote() -> None:
    s = schedule(product, *arguments(23, 17, 14))
    h = s["matmul"].generalize().tile(m=4, n=8)
    with pytest.raises(ScheduleError, match=r"no operand is named 'c'; legal: a .* or b"):
        h.promote("c")
    with pytest.raises(ScheduleError, match=r'no loop k.0 is around it; legal: at="m.0" or at="n'):
        h.promote("b", at="k.0")
    with pytest.raises(ScheduleError, match=r"its slice of b depends on loops inside m.0"):
        h.promote("b", at="m.0")
    copied = h.promote("b")
    with pytest.raises(ScheduleError, match="b is read from memory of its own already"):
        copied.promote("b")
    outer = h.promote("a", at="m.0").schedule
    lines = [line.strip() for line in outer.show().splitlines()]
    copy = next(k for k, line in enumerate(lines) if line.startswith("%v0_copy"))
    assert copy < next(k for k, line in enumerate(lines) if line.startswith("for n_0"))
    a, b = arguments(9, 9, 9)
    np.testing.assert_array_equal(outer.compile()(a, b), product(a, b))


@pytest.mark.parametrize(
    ("image", "kernel", "dtype"),
    [
        ((2, 9, 11, 32), (3, 3, 32, 64), "f4"),
        ((1, 7, 15, 32), (3, 3, 32, 32), "f4"),
        ((1, 20, 13, 56), (1, 5, 56, 48), "f8"),
        ((3, 12, 12, 16), (3, 3, 16, 20), "i4"),
        ((1, 9, 12, 5), (2, 2, 5, 100), "i8"),
    ],
)
def test_convolutions_keep_their_bits(image: Any, kernel: Any, dtype: str) -> None:
    """The automatic pipeline keeps sums in registers; the interpreter adds in the same order."""
    rng = np.random.default_rng(0)
    a, b = ((9 * rng.standard_normal(shape)).astype(dtype) for shape in (image, kernel))
    windows = sliding_window_view(a, kernel[:2], axis=(1, 2))
    total = np.zeros((*windows.shape[:3], kernel[3]), dtype)
    for i in range(kernel[0]):
        for j in range(kernel[1]):
            for c in range(kernel[2]):
                total = total + windows[:, :, :, c, i, j, None] * b[i, j, c]
    # in a function of its own: the op itself may have no variant left, and its general form adds
    # in another order
    found = fuse_jit(lambda a, b: linalg.conv_2d_nhwc_hwcf(a, b))(a, b)
    assert found.tobytes() == total.tobytes()
    fused = schedule(lambda a, b: np.maximum(linalg.conv_2d_nhwc_hwcf(a, b) + 1, 0), a, b)
    tile = f"registers (_, _, 8, {128 // a.itemsize} vector"
    assert tile in print_graph(fused.lower().before.graph)
    np.testing.assert_array_equal(fused.compile()(a, b), np.maximum(total + 1, 0))


def test_products_of_known_extents() -> None:
    """Extents of 1 have no tiles, and the whole domain may be no larger than one."""

    def product_of_few(a: Any) -> Any:
        return a.reshape(-1)[:6].reshape(2, 3) @ a.reshape(-1)[:12].reshape(3, 4)

    a = np.arange(40)
    fused: Any = fuse_jit(fullgraph=True)(product_of_few)
    np.testing.assert_array_equal(fused(a), product_of_few(a))
    matmul: Any = fuse_jit(fullgraph=True)(product)
    for m, n, k in [(1, 1, 4), (1, 5, 4), (5, 1, 4), (3, 4, 1), (70, 33, 40), (0, 3, 2)]:
        x, y = arguments(m, n, k, "i8")
        np.testing.assert_array_equal(matmul(x, y), x @ y)
        np.testing.assert_array_equal(matmul(np.stack([x, x]), y), np.stack([x, x]) @ y)


def test_sums_of_neighbours_are_rows() -> None:
    """Columns of a transposed array are contiguous, and need no tiles: int16 was slower in them."""
    a, b = arguments(20, 33, 40, "i2")
    for other, has_tiles in ((b, True), (np.asfortranarray(b), False)):
        s = schedule(product, a, other)
        assert ("registers" in print_graph(s.lower().before.graph)) is has_tiles
        np.testing.assert_array_equal(s.compile()(a, other), a @ b)


def test_explain_names_the_tiles() -> None:
    fused: Any = fuse_jit(lambda a, b: np.maximum(linalg.conv_2d_nhwc_hwcf(a, b), 0))
    a, b = np.ones((1, 9, 9, 32), "f4"), np.ones((3, 3, 32, 32), "f4")
    text = fused.explain(a, b, detail=True)
    assert "sums of tiles of 8 x 32 points in vector registers" in text
    assert "conv_2d_nhwc_hwcf, maximum, store" in text
    assert "not fused" not in text


def test_tiles_are_stored_into_the_result() -> None:
    """Neither a copy of each tile nor one of the whole result is made."""
    s = in_registers(schedule(product, *arguments(23, 17, 14)), "matmul", "m", "n").schedule
    ops = [*walk(s.graph.block)]
    assert sum(isinstance(op, Alloc) for op in ops) == 1
    assert not any(isinstance(op, Load) and op.view.buffer.origin is None for op in ops)
    source = s.lower().source
    assert "copy" not in source
    assert "store" not in source


def test_a_reduction_that_reads_what_it_writes() -> None:
    """It may not be written straight: each sum reads elements that others have overwritten."""

    def rows(a: Any) -> Any:
        b = a.copy()
        b[0] = b.sum(axis=0)
        b[:, 1] = (b * 2).sum(axis=1)
        return b

    a = np.arange(30.0).reshape(5, 6)
    np.testing.assert_array_equal(schedule(rows, a).compile()(a), rows(a))


def test_registers_are_printed_and_parsed() -> None:
    h = in_registers(schedule(product, *arguments(23, 17, 14)), "matmul", "m", "n")
    assert str(h.op.register_tile) == "registers (4, 16 vector, _)"
    text = h.promote("b").schedule.show()
    assert "materialized" in text
    assert print_graph(parse_graph(text)) == text
