"""concatenate, stack, split and their families: dtypes, layouts, axes, aliasing, errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fusejit_testing.oracle import check, decorate

DTYPES = ["?", "u1", "i4", "i8", "f4", "f8"]


def numbers(shape: tuple[int, ...], layout: str = "C", dtype: Any = "f8", seed: int = 0) -> Any:
    rng = np.random.default_rng(seed + len(shape))
    values = rng.permutation(int(np.prod(shape))).reshape(shape).astype(dtype)
    if layout == "F":
        return np.asfortranarray(values)
    if layout == "strided":
        wide = np.zeros([2 * n for n in shape], dtype)
        part = wide[tuple(slice(None, None, 2) for _ in shape)]
        part[...] = values
        return part
    if layout == "backwards":
        return values[::-1]
    if layout == "transposed" and len(shape) > 1:
        order = (*range(1, len(shape)), 0)
        return np.ascontiguousarray(values.transpose(order)).transpose(np.argsort(order))
    return values


LAYOUTS = ["C", "F", "strided", "backwards", "transposed"]


# ------------------------------------------------------------------------------------ concatenate
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("other", LAYOUTS)
@pytest.mark.parametrize("axis", [0, 1, -1, None])
def test_concatenate_has_numpy_s_memory_order(layout: str, other: str, axis: Any) -> None:
    def f(x: Any, y: Any) -> Any:
        return np.concatenate((x, y), axis=axis)

    shapes = ((3, 4), (5, 4)) if axis == 0 else ((4, 3), (4, 5))
    check(f, (numbers(shapes[0], layout), numbers(shapes[1], other)))
    cubes = ((2, 3, 4), (2, 3, 4))
    check(f, (numbers(cubes[0], layout), numbers(cubes[1], other)))


@pytest.mark.parametrize("a", DTYPES)
@pytest.mark.parametrize("b", DTYPES)
def test_concatenate_promotes(a: str, b: str) -> None:
    def f(x: Any, y: Any) -> Any:
        return np.concatenate((x, y)), np.hstack([y, x]), np.stack([x, y[:3]])

    check(f, (numbers((3,), dtype=a), numbers((4,), dtype=b)))


def test_concatenate_with_dtype_and_out() -> None:
    def f(x: Any, y: Any) -> Any:
        return np.concatenate((x, y), dtype="f4", casting="same_kind")

    def unsafe(x: Any, y: Any) -> Any:
        return np.concatenate((x, y), dtype="i4", casting="unsafe")

    def out(x: Any, y: Any, z: Any) -> Any:
        return np.concatenate((x, y), out=z) is z

    def over_itself(x: Any) -> Any:
        return np.concatenate((x[2:], x[:2]), out=x)

    x, y = numbers((3,)), numbers((4,), dtype="i4")
    check(f, (x, y))
    check(unsafe, (x, y))
    check(out, (x, y, np.zeros(7)))
    check(over_itself, (numbers((5,)),), (numbers((9,)),))


def test_concatenate_of_computed_parts_needs_no_other_memory() -> None:
    def f(x: Any, y: Any) -> Any:
        return np.concatenate((x * 2, np.sqrt(y), x - 1))

    x, y = numbers((5,)), numbers((7,))
    made = check(f, (x, y), (y, x), jit=True)
    stages = str(made.trace(x, y).fuse())
    assert stages.count("alloc @") == 1
    assert stages.count(" = generic") == stages.count("store @") == 3
    assert "load @b0" not in stages


def test_one_compilation_serves_all_lengths() -> None:
    def f(x: Any, y: Any) -> Any:
        return np.concatenate((x, y)), np.vstack((x[None], x[None] * 2)), np.hstack((y, x, y))

    check(f, *((numbers((n,)), numbers((m,))) for n, m in ((2, 3), (7, 5), (0, 4), (6, 0))))


@pytest.mark.parametrize("shape", [(0,), (0, 3), (1,), (1, 4), (3, 1)])
def test_empty_and_short_parts(shape: tuple[int, ...]) -> None:
    def f(x: Any) -> Any:
        return np.concatenate((x, x)), np.stack((x, x), -1), np.vstack((x, x)), np.hstack((x, x))

    check(f, (np.ones(shape),))


def test_parts_that_are_no_arrays() -> None:
    def f(x: Any, a: Any) -> Any:
        return (
            np.concatenate((x, [1, 2])),
            np.concatenate(([a], x, (a, 3))),
            np.hstack((x, a, x.sum())),
            np.concatenate((x, a), axis=None),
            np.append(x, a),
            np.append(x, [a, 2 * a]),
            np.append(x[None], x[None], axis=0),
        )

    check(f, (numbers((4,)), 2.5), (numbers((6,)), -1.0))
    check(f, (numbers((4,), dtype="f4"), 3))


def test_rows_of_an_array() -> None:
    def f(x: Any) -> Any:
        return np.concatenate(x), np.vstack(x), np.hstack(list(x)), np.stack(x, axis=1)

    check(f, (numbers((3, 4)),), (numbers((3, 7)),))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_stacks(layout: str) -> None:
    def f(x: Any, v: Any) -> Any:
        return (
            np.stack((x, x + 1)),
            np.stack((x, x), axis=1),
            np.stack((x, x), axis=-1),
            np.vstack((v, x)),
            np.vstack((v, v)),
            np.hstack((x, x)),
            np.dstack((x, x)),
            np.dstack((v, v)),
            np.column_stack((x.T, v)),
            np.column_stack((v, v)),
        )

    check(f, (numbers((3, 4), layout), numbers((4,))), (numbers((5, 2), layout), numbers((2,))))


def test_results_are_fresh() -> None:
    def f(x: Any) -> Any:
        y = np.concatenate((x, x))
        y += 1
        z = np.stack((x, x))
        z[0, 1] = 7
        w = np.vstack((x,))
        w *= 2
        return y, z, w, np.append(x, x)

    check(f, (numbers((4,)),), (numbers((6,)),), jit=True)


def test_errors_are_numpy_s() -> None:
    def f(x: Any, y: Any) -> Any:
        return np.concatenate((x, y))

    def g(x: Any, y: Any) -> Any:
        return np.stack((x, y))

    for function in (f, g):
        check(function, (np.ones((2, 3)), np.ones((2, 4))), variants=None)
        check(function, (np.ones((2, 3)), np.ones(3)), variants=None)
    check(f, (np.array(1.0), np.array(2.0)), variants=None)
    check(lambda x: np.concatenate((x, x), axis=2), (np.ones(3),), variants=None)
    check(lambda x: np.concatenate((x, x), dtype="i4"), (np.ones(3),), variants=None)
    check(lambda x: np.concatenate((x, x), out=x), (np.ones(3),), variants=None)
    check(lambda x: np.concatenate(x), (np.array(3.0),), variants=None)
    check(lambda x: np.split(x, 2), (np.ones(3),), variants=None)
    check(lambda x: np.array_split(x, 0), (np.ones(3),), variants=None)
    check(lambda x: np.hsplit(x, 2), (np.array(3.0),), variants=None)
    check(lambda x: np.vsplit(x, 2), (np.ones(4),), variants=None)
    check(lambda x: np.dsplit(x, 2), (np.ones((4, 4)),), variants=None)


# ------------------------------------------------------------------------------------------- block
def test_blocks() -> None:
    def f(x: Any, v: Any, a: Any) -> Any:
        return (
            np.block([[x, x * 2], [x + 1, x]]),
            np.block([x, x]),
            np.block([[v], [v * 2]]),
            np.block([v, a, [1, 2]]),
            np.block([[x, np.zeros((2, 3))], [np.ones((1, 3)), v[None]]]),
            np.block([[[x]], [[x]]]),
            np.block(x),
            np.block([x]),
        )

    args = numbers((2, 3)), numbers((3,)), 2.5
    check(f, args, (numbers((2, 3), seed=1), numbers((3,), dtype="f4"), 1.5), variants=None)
    check(lambda x, y: np.block([[x, y], [y, x]]), *((np.ones((n, n)), np.eye(n)) for n in (2, 5)))


def test_errors_of_block() -> None:
    x = np.ones((2, 3))
    for function in (
        lambda x: np.block([[x], x]),
        lambda x: np.block((x, x)),
        lambda x: np.block([[x], []]),
        lambda x: np.block([[x, x], [x]]),
        lambda x: np.block([x, x[:1]]),
    ):
        check(function, (x,), variants=None)


# ---------------------------------------------------------------------------------- lists of values
def test_arrays_of_traced_values() -> None:
    def f(x: Any, a: Any, n: Any) -> Any:
        return (
            np.array([a, 2 * a]),
            np.array([n, 3]),
            np.array([n, a, 1]),
            np.array([[a, x[0]], [1, x.sum()]]),
            np.array([x, x * 2]),
            np.array([a, 1], dtype="f4"),
            np.asarray([x[1], x[0]]) + 1,
            np.array([x[:2], [a, 1]], order="F"),
            x[:2] * [a, 1],
        )

    check(f, (numbers((4,)), 2.5, 7), (numbers((6,)), 1.5, 9))
    check(f, (numbers((4,), dtype="f4"), 2.5, 7))


def test_ragged_lists_are_numpy_s_errors() -> None:
    check(lambda x: np.array([x, 1.0]), (np.ones(3),), variants=None)
    check(lambda x, y: np.array([x, y]), (np.ones(3), np.ones(2)), variants=None)


# ------------------------------------------------------------------------------------------- split
@pytest.mark.parametrize("layout", LAYOUTS)
def test_splits_are_views(layout: str) -> None:
    def f(x: Any) -> Any:
        first, second = np.split(x, 2)
        first[0] = 7
        second *= 2
        left, right = np.hsplit(x, [1])
        right[...] = left + 1
        return first, second, left, right, np.array_split(x, 3, axis=1)

    check(f, (numbers((4, 6), layout),), (numbers((6, 6), layout),), variants=None)


def test_split_families() -> None:
    def f(x: Any) -> Any:
        return (
            np.split(x, [1, 3]),
            np.split(x, [2], axis=1),
            np.array_split(x, 3),
            np.array_split(x, [1, 5, 2], axis=-1),
            np.vsplit(x, 2),
            np.hsplit(x, 2),
            np.dsplit(x, [1]),
            np.unstack(x, axis=2),
        )

    check(f, (numbers((4, 6, 2)),), (numbers((10, 8, 2)),))


def test_split_by_traced_bounds() -> None:
    def f(x: Any, n: Any) -> Any:
        a, b = np.split(x, [n])
        return a.sum(), b * 2

    check(f, (numbers((7,)), 3), (numbers((9,)), 5))


def test_what_is_split_and_joined_again_is_copied_once() -> None:
    def f(x: Any) -> Any:
        a, b = np.split(x, 2)
        return np.concatenate((b, a)) * 2

    x = numbers((8,))
    made = check(f, (x,), (numbers((10,)),), jit=True)
    assert str(made.trace(x).fuse()).count("alloc @") == 1


def test_lists_that_are_static_stay_numpy_s() -> None:
    def f(x: Any) -> Any:
        return x + np.concatenate(([1.0], [2.0, 3.0])), np.stack([[1, 2], [3, 4]])

    check(f, (numbers((3,)),))
    assert len(decorate(f, jit=False).variants) == 0
