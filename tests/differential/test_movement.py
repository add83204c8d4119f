"""roll, pad, tile, repeat, triangles, diagonals, grids and linspace against NumPy.

Regression: ``np.geomspace(.., axis=1)`` of numbers returned a result: the axis was not read.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fusejit_testing.compare import Bound
from fusejit_testing.oracle import check, check_not_compiled, decorate

DTYPES = ["?", "u1", "i4", "f4", "f8"]


def numbers(shape: tuple[int, ...], dtype: Any = "f8", order: Any = "C") -> Any:
    rng = np.random.default_rng(len(shape) + sum(shape))
    values = rng.permutation(int(np.prod(shape))).reshape(shape)
    return np.array(values, dtype, order=order)


# --------------------------------------------------------------------------------------------- roll
@pytest.mark.parametrize("shift", [0, 1, -1, 2, -3, 7, -12, 100])
@pytest.mark.parametrize("axis", [None, 0, 1, -1])
def test_rolls(shift: int, axis: Any) -> None:
    def f(x: Any) -> Any:
        return np.roll(x, shift, axis), np.roll(x * 2, shift, axis=axis) + x

    for order in "CF":
        check(f, (numbers((4, 5), order=order),), (numbers((1, 6), order=order),), variants=None)
    check(f, (numbers((6, 4))[::-2, ::-1],), (np.ones((0, 3)),), variants=None)


def test_rolls_along_several_axes() -> None:
    def f(x: Any) -> Any:
        return (
            np.roll(x, (1, -2), (0, 1)),
            np.roll(x, 1, (0, 2)),
            np.roll(x, (1, 2, -1), axis=1),
            np.roll(x, (1, 1), (0, 0)),
            np.roll(x.T, [2, 1], [0, -1]),
        )

    check(f, (numbers((4, 5, 6)),), (numbers((6, 5, 4)),), jit=True)


def test_rolls_by_a_number_of_each_call() -> None:
    def f(x: Any, n: Any) -> Any:
        return np.roll(x, n), np.roll(x[None], -n, axis=1)

    x = numbers((7,))
    check(f, *((x, n) for n in (0, 1, 3, 6, 7, 8, -1, -6, -7, -9, 30)), variants=None)
    check(f, (x, 2), (x, 3), (numbers((9,)), 6))
    check(lambda x, n: np.roll(x, n), (x, np.int64(3)), (x, np.int64(5)))


def test_rolls_of_dtypes_and_ranks() -> None:
    for dtype in DTYPES:
        check(lambda x: np.roll(x, 2), (numbers((5,), dtype),))
    check(lambda x: np.roll(x, 2), (np.array(3.0),))
    check(lambda x: np.roll(x.sum(), 2), (np.ones(3),))


def test_errors_of_rolls() -> None:
    check(lambda x: np.roll(x, 1, 2), (np.ones(3),), variants=None)
    check(lambda x: np.roll(x, (1, 2, 3), (0, 1)), (np.ones((3, 3)),), variants=None)
    reason = "a shift that is not an integer"
    check_not_compiled(lambda x, i: np.roll(x, i[0]), (np.ones(3), np.array([1.0])), reason)
    check_not_compiled(lambda x, i: np.roll(x, i, 0), (np.ones(3), np.arange(2)), "as many shifts")
    check(lambda x, i: np.roll(x, i, (0, 1)), (np.ones((3, 2)), np.arange(3)), variants=None)


def test_rolls_by_arrays_of_shifts() -> None:
    """Regression: shifts that are rows of a table left the loop to Python."""

    def streamed(f: Any, c: Any) -> Any:
        g = np.empty_like(f)
        for i in range(len(f)):
            g[i] = np.roll(f[i], c[i], axis=(0, 1))
        return g

    def others(f: Any, c: Any) -> Any:
        return np.roll(f[0], c[0, :1], axis=1), np.roll(f, c[:3, 0]), np.roll(f, c[1], (2, 2))

    c = np.array([[0, 0], [1, 0], [-1, 9], [2, -30], [1, 1]])
    for f in (numbers((5, 4, 6)), numbers((5, 6, 2))):
        check(streamed, (f, c), (f, c[::-1].copy()), jit=True)
        check(others, (f, c), (f, -c), jit=True)
    for shift in (np.array([2]), np.array([2], "u1"), np.array(3)):
        check(lambda x, i: np.roll(x, i), (numbers((4, 3)), shift))


def test_rolls_by_elements_of_arrays() -> None:
    def f(x: Any, i: Any) -> Any:
        return (
            np.roll(x, i[0], axis=0) * 2,
            np.roll(x, (i[1], 1), axis=(0, 1)),
            np.roll(x, (i[1], i[2]), axis=(1, 1)),
            np.roll(x, i.sum()),
        )

    for dtype in ("i8", "i2", "u1"):
        shifts = np.array([2, 9, 1], dtype)
        for order in "CF":
            check(f, (numbers((4, 5), order=order), shifts), (numbers((6, 3), order=order), shifts))
    shifts = np.array([-2, -9, np.iinfo("i8").min + 5])
    check(f, (numbers((4, 5)), shifts), (numbers((6, 3)), shifts), jit=True)
    check(lambda x, i: np.roll(x, i[0], 0), (np.ones((0, 3)), shifts), variants=None)


# ---------------------------------------------------------------------------------------------- pad
MODES = ["constant", "edge", "reflect", "symmetric", "wrap", "linear_ramp", "maximum", "minimum"]
WIDTHS = [1, (2, 1), ((0, 2), (3, 1)), ((1, 0),), {0: 2}, {-1: (1, 2)}]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("width", WIDTHS, ids=str)
@pytest.mark.parametrize("dtype", ["i4", "f8"])
def test_pads(mode: str, width: Any, dtype: str) -> None:
    def f(x: Any) -> Any:
        return np.pad(x, width, mode=mode)

    shapes = ((5, 6), (7, 6), (4, 4))
    check(f, *((numbers(s, dtype),) for s in shapes), variants=None)
    check(f, (numbers((5, 6), dtype, "F"),), (numbers((8, 6), dtype, "F"),), variants=None)


@pytest.mark.parametrize("mode", MODES)
def test_pads_by_more_than_the_axis_has(mode: str) -> None:
    def f(x: Any) -> Any:
        return np.pad(x, (7, 5), mode=mode)

    check(f, *((numbers((n,)),) for n in (1, 2, 3, 4)), variants=None)
    check(lambda x: np.pad(x, 5, mode=mode), (numbers((3, 4)),), variants=None)


@pytest.mark.parametrize("mode", MODES)
def test_pads_of_other_ranks_and_layouts(mode: str) -> None:
    def f(x: Any) -> Any:
        return np.pad(x, 1, mode=mode)

    check(f, (numbers((3, 2, 4)),), variants=None)
    check(f, (numbers((8, 6))[::2, ::-1],), variants=None)
    check(f, (numbers((3, 4)).T,), variants=None)
    check(f, (numbers((1, 4)),), variants=None)
    check(f, (np.ones((0, 3)),), variants=None)
    if mode == "constant":
        check(f, (np.array(2.0),))


def test_means_of_padded_arrays() -> None:
    def f(x: Any) -> Any:
        return np.pad(x, 2, mode="mean"), np.pad(x, 2, mode="mean", stat_length=2)

    check(f, (numbers((4, 8)),), (numbers((2, 16)),), variants=None)
    check(f, (numbers((4, 8), "i4"),), bound=Bound(1))


def test_options_of_pad() -> None:
    def f(x: Any, a: Any, n: Any) -> Any:
        return (
            np.pad(x, 1, constant_values=a),
            np.pad(x, n, constant_values=((1, 2), (a, 4))),
            np.pad(x, n, "linear_ramp", end_values=(a, 5)),
            np.pad(x, 2, "maximum", stat_length=2),
            np.pad(x, 2, "minimum", stat_length=((1, 9), (2, n))),
            np.pad(x, 2, "reflect", reflect_type="odd"),
            np.pad(x, 2, "symmetric", reflect_type="odd"),
            np.pad(x, 2, "symmetric", reflect_type="even"),
            np.pad(x, ((n, 0), (0, n)), "edge"),
        )

    check(f, (numbers((4, 5)), 2.5, 1), (numbers((6, 6)), 0.5, 2), variants=None)


def test_memory_that_pad_leaves_as_it_is() -> None:
    def f(x: Any) -> Any:
        p = np.pad(x, 1, mode="empty")
        p[0] = p[-1] = 3
        return p

    check(f, (numbers((4,)),), (numbers((6,)),))


def test_errors_of_pad() -> None:
    x = np.ones((2, 3))
    for width in (-1, 1.5, ((1, 2), (3, 4), (5, 6)), (1, 2, 3)):
        check(lambda x, width=width: np.pad(x, width), (x,), variants=None)
    check(lambda x: np.pad(x, 1, "nothing"), (x,), variants=None)
    check(lambda x: np.pad(x, 1, "edge", constant_values=1), (x,), variants=None)
    check_not_compiled(lambda x: np.pad(x, 1, "median"), (x,), "median")


def test_what_is_padded_is_not_shared() -> None:
    def f(x: Any) -> Any:
        p = np.pad(x, 1, mode="edge")
        p += 1
        x[0] = 9
        q = np.pad(x, 0)
        q[1] = 5
        return p, q

    check(f, (numbers((5,)),), (numbers((8,)),), jit=True)


# ------------------------------------------------------------------------------------- tile, repeat
@pytest.mark.parametrize("reps", [0, 1, 2, (2,), (1, 3), (2, 1), (2, 3), (2, 1, 3), (1, 1, 1)])
def test_tiles(reps: Any) -> None:
    def f(x: Any) -> Any:
        return np.tile(x, reps), np.tile(x + 1, reps) * 2

    for shape in ((3,), (3, 4), (2, 3, 4)):
        for order in "CF":
            check(f, (numbers(shape, order=order),), (numbers(shape[::-1], order=order),))


def test_tiles_and_repeats_of_each_call() -> None:
    def f(x: Any, n: Any) -> Any:
        return np.tile(x, n), np.repeat(x, n), np.repeat(x[:, None], n, axis=1)

    check(f, (numbers((3,)), 2), (numbers((4,)), 5), variants=None)


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
@pytest.mark.parametrize("repeats", [0, 1, 3])
def test_repeats(axis: Any, repeats: int) -> None:
    def f(x: Any) -> Any:
        return np.repeat(x, repeats, axis=axis), x.repeat(repeats, axis) + 1

    for order in "CF":
        check(f, (numbers((3, 4), order=order),), (numbers((5, 2), order=order),))
    check(lambda x: np.repeat(x, 2), (np.array(3.0),))


def test_errors_of_tile_and_repeat() -> None:
    check(lambda x: np.repeat(x, -1), (np.ones(3),), variants=None)
    check(lambda x: np.repeat(x, 2, axis=1), (np.ones(3),), variants=None)
    check_not_compiled(lambda x: np.repeat(x, [1, 2, 3]), (np.arange(3.0),), "for each element")


# ---------------------------------------------------------------------------------------- triangles
@pytest.mark.parametrize("k", [-5, -1, 0, 1, 2, 9])
def test_triangles(k: int) -> None:
    def f(x: Any) -> Any:
        n = len(x)
        return (
            np.tril(x, k),
            np.triu(x, k),
            np.triu(x * 2, k) + np.tril(x, k),
            np.eye(n, k=k),
            np.eye(n, n + 1, k, dtype="i4", order="F"),
            np.tri(n, k=k),
            np.tri(n, 3, k, bool),
            np.identity(n, "f4"),
        )

    for order in "CF":
        check(f, (numbers((4, 5), order=order),), (numbers((6, 3), order=order),))
    check(lambda x: (np.tril(x, k), np.triu(x.T, k)), (numbers((2, 3, 4)),))
    check(lambda x: (np.tril(x, k), np.triu(x, k)), (numbers((5,), "i4"),))


def test_triangles_of_each_call_and_their_errors() -> None:
    def f(x: Any, k: Any) -> Any:
        return np.tril(x, k), np.triu(x, -k), np.eye(4, k=k), np.diag(x[0], k)

    check(f, (numbers((4, 4)), 1), (numbers((5, 3)), 2))
    check(lambda x: np.tril(x), (np.array(2.0),), variants=None)


# ---------------------------------------------------------------------------------------- diagonals
@pytest.mark.parametrize("k", [-7, -2, 0, 1, 3, 8])
@pytest.mark.parametrize("order", ["C", "F"])
def test_diagonals(k: int, order: str) -> None:
    def views(x: Any) -> Any:
        return np.diagonal(x, k), np.diag(x, k), x.diagonal(k)[::2]

    def f(x: Any) -> Any:
        return (
            np.diagonal(x, k) * 2,
            np.trace(x, k),
            x.trace(k),
            np.diag(np.diag(x, k)),
            np.diag(x[0], k),
            np.diagflat(x, k),
            np.diag(x, k).reshape(-1, 1),
            np.diag(x, k).copy(),
        )

    arrays = numbers((4, 5), order=order), numbers((6, 5), order=order)
    check(views, *((a,) for a in arrays), variants=None)
    check(f, *((a,) for a in arrays), variants=None)


def test_diagonals_of_stacks() -> None:
    def f(x: Any) -> Any:
        return (
            np.diagonal(x),
            np.diagonal(x, axis1=1, axis2=2) + 1,
            np.diagonal(x, 1, 2, 0).sum(axis=-1),
            np.trace(x, axis1=-2, axis2=-1),
            np.trace(x[::-1], dtype="i8"),
        )

    check(f, (numbers((3, 4, 5), "i4"),), (numbers((4, 4, 4), "i4"),), variants=None, jit=True)


def test_diagonals_are_read_only_views() -> None:
    def f(x: Any) -> Any:
        d = np.diagonal(x)
        x[1, 1] = 50
        return d, d + 1

    check(f, (numbers((4, 4)),), (numbers((5, 5)),), variants=None)
    check(lambda x: np.diagonal(x).fill(1), (numbers((3, 3)),), variants=None)
    check(lambda x: np.diag(x, 5), (numbers((3, 3)),), variants=None)


def test_filled_diagonals() -> None:
    def f(x: Any, v: Any, a: Any) -> Any:
        np.fill_diagonal(x, a)
        z = np.zeros((3, 4))
        np.fill_diagonal(z, v)
        np.fill_diagonal(z[:, 1:], 5)
        return z

    check(
        f,
        (numbers((4, 5)), numbers((3,)), 2.5),
        (numbers((3, 3)), numbers((3,)), 1.0),
        variants=None,
    )


def test_errors_of_diagonals() -> None:
    check(lambda x: np.diagonal(x), (np.ones(3),), variants=None)
    check(lambda x: np.diagonal(x, 0, 1, 1), (np.ones((3, 3)),), variants=None)
    check(lambda x: np.diag(x), (np.ones((3, 3, 3)),), variants=None)


# -------------------------------------------------------------------------------------------- grids
def test_grids() -> None:
    def f(x: Any, y: Any) -> Any:
        return (
            np.meshgrid(x, y),
            np.meshgrid(x, y, indexing="ij"),
            np.meshgrid(x, y, x[:2], sparse=True),
            np.meshgrid(x),
            np.meshgrid(x, 3.0, indexing="ij"),
            np.indices((len(x), len(y))),
            np.indices((len(y), 2), dtype="f4", sparse=True),
        )

    check(f, (numbers((3,)), numbers((4,), "i4")), (numbers((5,)), numbers((2,), "i4")), jit=True)


def test_grids_are_copies() -> None:
    def f(x: Any) -> Any:
        a, b = np.meshgrid(x, x)
        a += b
        a[0] = 1
        return a, b

    check(f, (numbers((4,)),), (numbers((6,)),))
    check_not_compiled(lambda x: np.meshgrid(x, x, copy=False), (np.arange(3.0),), "copy=False")


# ----------------------------------------------------------------------------------------- linspace
@pytest.mark.parametrize("endpoint", [True, False])
@pytest.mark.parametrize("dtype", [None, "f4", "i4"])
def test_linspace(endpoint: bool, dtype: Any) -> None:
    def f(a: Any, b: Any, n: Any) -> Any:
        return np.linspace(a, b, n, endpoint=endpoint, dtype=dtype)

    ends = ((0.0, 1.0), (-3.5, 7.25), (2.0, 2.0), (1e-320, 2e-320), (1.0, -1e300), (0.1, 0.7))
    check(
        f,
        *((a, b, n) for a, b in ends for n in (0, 1, 2, 5, 50) if dtype is None or b > -1),
        variants=None,
    )


def test_linspace_of_other_ends() -> None:
    def f(x: Any, n: Any) -> Any:
        return (
            np.linspace(0, n, 11),
            np.linspace(x.min(), x.max(), 5),
            np.linspace(0, x, 4),
            np.linspace(x, x[::-1], 3, axis=-1),
            np.linspace(1, 2, n),
            np.linspace(x, 0, num=n, endpoint=False) + 1,
            np.linspace(-1, 1, len(x)),
        )

    for dtype in ("f8", "f4", "i4"):
        check(f, (numbers((4,), dtype), 7), (numbers((6,), dtype), 3), variants=None)


def test_logspace() -> None:
    def f(a: Any, n: Any) -> Any:
        return np.logspace(0, a, n), np.logspace(a, 3, 4, base=2), np.logspace(0, 1, n, dtype="f4")

    check(f, (2.0, 5), (3.5, 4), bound=Bound(4), inner_bound=Bound(4))


def test_geomspace() -> None:
    def f(a: Any, n: Any) -> Any:
        return np.geomspace(a, 7, n), np.geomspace(1, a, n, endpoint=False)

    check(f, (2.5, 5), (300.0, 4), bound=Bound(4), inner_bound=Bound(4))
    check_not_compiled(lambda a: np.geomspace(a, 2, 3), (-1.0,), "not positive")
    check(lambda n: np.geomspace(1, 8, n, axis=1), (3,), variants=None)


def test_errors_of_linspace() -> None:
    check(lambda a, n: np.linspace(0, a, n), (1.0, -1), variants=None)
    check(lambda a: np.linspace(0, a, 2.5), (1.0,), variants=None)


def _of_a_diagonal(v: Any, a: Any) -> Any:
    d = np.diag(v)
    rest = a - np.diag(v)
    changed = np.diag(v)
    changed[0] = changed[0] + v[-1]
    return d, rest, changed, np.diag(v).T, (np.diag(v) != 0).sum()


@pytest.mark.parametrize("dtype", ["?", "i1", "i8", "f4", "f8", "c16"])
def test_matrices_of_the_main_diagonal(dtype: str) -> None:
    """NaN, -0.0 and views on the diagonal; stores into the matrix; other operations after it."""
    v = np.array([1, 0, -3, 7, 2]).astype(dtype)
    a = np.arange(25).reshape(5, 5).astype("c16" if dtype == "c16" else "f8")
    check(_of_a_diagonal, (v, a), (v[:1], a[:1, :1]))
    check(_of_a_diagonal, (v[::-1], a))
    if dtype == "f8":
        special = np.array([np.nan, -0.0, np.inf, 1.0])
        check(_of_a_diagonal, (special, a[1:, 1:]))
        check(lambda a: a - np.diag(np.diag(a)), (a,), (a[:0, :0],), jit=True)


def test_the_main_diagonal_folds_into_what_reads_it() -> None:
    """No matrix of zeros: one pass over the operand."""
    rest = decorate(lambda a: a - np.diag(np.diag(a)), jit=False)
    source = rest.trace(np.eye(3)).fuse().lower().source
    assert source.count("parallel_for(") + source.count("stream_for(") == 1
    assert "heap_scratch" not in source
