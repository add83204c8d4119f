"""Memory layouts: order, strides, views, byte order, read-only and empty arrays; broadcasting."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations
from typing import Any

import numpy as np
import pytest

from fusejit.api import FuseWarning
from fusejit_testing.compare import clone
from fusejit_testing.oracle import check, compare_outcomes, decorate, run


def grid(*shape: int, dtype: Any = float) -> np.ndarray:
    """Distinct numbers, some negative."""
    return (np.arange(np.prod(shape, dtype=int)).reshape(shape) - 7).astype(dtype)


LAYOUTS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "C": np.ascontiguousarray,
    "F": np.asfortranarray,
    "step 2": lambda a: np.repeat(a, 2, axis=-1)[..., ::2],
    "step 2 outside": lambda a: np.repeat(a, 2, axis=0)[::2],
    "reversed": lambda a: np.ascontiguousarray(a[..., ::-1])[..., ::-1],
    "reversed outside": lambda a: np.ascontiguousarray(a[::-1])[::-1],
    "transposed": lambda a: np.ascontiguousarray(a.T).T,
    "part": lambda a: np.pad(a, 1)[(slice(1, -1),) * a.ndim],
    "broadcast": lambda a: np.broadcast_to(a[:1], a.shape),
}
MIXED = [*LAYOUTS]


def _mixed(x: Any, y: Any) -> Any:
    return x * 2 - y, x + 1, y > x, -y


@pytest.mark.parametrize("left", LAYOUTS)
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_pairs_of_layouts(left: str, rank: int) -> None:
    """Strides of results follow both operands, as in NumPy; the second size needs no variant."""
    shape, other = (
        ((6,), (9,)) if rank == 1 else (((3, 4), (5, 2)) if rank == 2 else ((2, 3, 4), (3, 4, 2)))
    )
    for right in LAYOUTS:
        calls = [(LAYOUTS[left](grid(*s)), LAYOUTS[right](grid(*s) * 3)) for s in (shape, other)]
        check(_mixed, *calls)


@pytest.mark.parametrize("left", LAYOUTS)
def test_layouts_jitted(left: str) -> None:
    for shape in ((70,), (9, 37)):
        for right in ("F",) if len(shape) == 2 else ("reversed",):
            args = (LAYOUTS[left](grid(*shape)), LAYOUTS[right](grid(*shape)))
            check(_mixed, args, jit=True)


@pytest.mark.parametrize("axes", list(permutations(range(3))))
def test_permuted_axes(axes: tuple[int, ...]) -> None:
    def f(x: Any, y: Any) -> Any:
        return x + 1, x * y, x.astype(np.float32), np.zeros_like(x), x.transpose(1, 2, 0), x.copy()

    back = tuple(int(a) for a in np.argsort(axes))
    calls = [
        (grid(*(s[a] for a in axes)).transpose(back), grid(*s)) for s in ((2, 3, 4), (5, 3, 2))
    ]
    check(f, *calls, jit=axes in ((1, 0, 2), (2, 0, 1)))
    for a in permutations(range(3)):
        inverse = tuple(int(k) for k in np.argsort(a))
        y = grid(*((2, 3, 4)[k] for k in a)).transpose(inverse)
        check(lambda x, y: x * y - 1, (calls[0][0], y))


def test_four_axes_and_length_one_axes() -> None:
    for shape in ((2, 1, 3, 4), (1, 1, 2, 1), (1, 3, 1, 1), (1, 1, 1, 1)):
        x = grid(*shape)
        for view in (x, x.T, x[::-1], x.transpose(2, 0, 3, 1), x[..., ::-1]):
            check(lambda x: (x + 1, -x.T, x * x[0], x.sum(axis=1), x.max()), (view,))


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0), (2, 0, 4), (0, 0)])
def test_empty_arrays(shape: tuple[int, ...]) -> None:
    def f(x: Any) -> Any:
        z = np.zeros_like(x)
        z += x
        return x * 2, x.T, z, np.sum(x), np.sum(x, axis=0), x > 1, np.where(x > 0, x, 1.0)

    check(f, (grid(*shape),))
    full = tuple(max(n, 2) for n in shape)
    check(f, (grid(*full),), (grid(*shape),), (grid(*full),), variants=None)


def test_zero_dimensional_arrays_and_scalars() -> None:
    def f(x: Any) -> Any:
        return x + 1, -x, x > 0, np.sqrt(abs(x)), np.maximum(x, 1.0), x

    for value in (
        np.array(2.5),
        np.array(-3),
        np.float64(1.5),
        np.float32(-1.5),
        np.int64(4),
        2.5,
        3,
    ):
        check(f, (value,))
    check(lambda x, y: (x * y, y - x, np.where(y > x, x, y)), (np.array(2.0), grid(5)), jit=True)


def test_read_only_arguments() -> None:
    x = grid(5)
    x.flags.writeable = False
    check(lambda x: (x + 1, x[1:], x.T, x), (x,), jit=True)

    def store(x: Any) -> Any:
        x[0] = 1.0

    compare_outcomes(run(store, (x,)), run(decorate(store, jit=False), (x,)))


def declined(function: Callable[..., Any], *args: Any) -> None:
    """The call warns once, gives NumPy's result, and goes on doing so in silence."""
    fused = decorate(function, jit=False)
    expected = run(function, args)
    with pytest.warns(FuseWarning):
        actual = fused(*clone(args))
    compare_outcomes(expected, type(expected)(actual, None, expected.args))
    compare_outcomes(expected, run(fused, args))
    assert len(fused.variants) == 0
    assert sum(fused.variants.fallbacks.values()) == 2 or "Python runs" in repr(fused.variants)


def test_what_is_declined() -> None:
    x = grid(2, 3)
    f = lambda x: x * 2 + 1  # noqa: E731
    declined(f, x.astype(x.dtype.newbyteorder()))
    declined(f, x.astype(np.clongdouble))
    declined(f, x.astype(np.float16))
    declined(f, np.ma.masked_array(x, x > 0))
    misaligned = np.frombuffer(b"\0" + x.tobytes(), np.uint8)[1:].view(np.float64)
    declined(f, misaligned)


def test_misaligned_after_aligned() -> None:
    """A variant that exists does not serve misaligned data."""
    fused = decorate(lambda x: x * 2, jit=True)
    x = grid(6)
    assert np.array_equal(fused(x), x * 2)
    misaligned = np.frombuffer(b"\0" + x.tobytes(), np.uint8)[1:].view(np.float64)
    with pytest.warns(FuseWarning):
        assert np.array_equal(fused(misaligned), x * 2)
    swapped = x.astype(x.dtype.newbyteorder())
    with pytest.warns(FuseWarning):
        assert np.array_equal(fused(swapped), x * 2)


# ---------------------------------------------------------------------------------- broadcasting
SHAPES = [
    (),
    (1,),
    (4,),
    (3, 1),
    (1, 4),
    (3, 4),
    (1, 1),
    (2, 3, 4),
    (2, 1, 1),
    (1, 3, 1),
    (2, 1, 4),
]


@pytest.mark.parametrize("left", SHAPES, ids=str)
def test_broadcasting(left: tuple[int, ...]) -> None:
    for right in SHAPES:
        args = (grid(*left) + 0.5, grid(*right) * 2)
        check(_mixed, args)
        swapped = (np.asfortranarray(args[0]), np.asarray(args[1]).T.copy().T)
        check(_mixed, swapped)


@pytest.mark.parametrize(
    "sizes", [((3, 4), (1, 4)), ((1, 4), (3, 4)), ((3, 1), (3, 4)), ((1, 1), (3, 4))]
)
def test_length_one_at_one_size_only(sizes: tuple[tuple[int, int], ...]) -> None:
    """An axis that is 1 in one call and not in the next gives another variant."""
    y = grid(3, 4)

    def f(x: Any, y: Any) -> Any:
        return x * y, x.sum(axis=0), x[:1] + y

    calls = [(grid(*s), y) for s in (*sizes, *sizes)]
    check(f, *calls, jit=True, variants=2)


def test_broadcast_errors_are_numpys() -> None:
    for left, right in (((3,), (4,)), ((2, 3), (3, 2)), ((2, 3), (2,)), ((0,), (3,))):
        check(lambda x, y: x + y, (grid(*left), grid(*right)), variants=0)
    calls = [(grid(3), grid(3)), (grid(3), grid(4)), (grid(5), grid(5))]
    check(lambda x, y: x + y, *calls, jit=True)


def test_broadcast_view_arguments() -> None:
    x = np.broadcast_to(grid(4), (3, 4))
    check(lambda x, y: (x + y, x.sum(axis=0), x.T * 2, x), (x, grid(3, 4)), jit=True)
