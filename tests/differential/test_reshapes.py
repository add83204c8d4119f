"""Reshapes against NumPy: values, strides, aliasing and errors, over layouts and dtypes."""

import numpy as np
import pytest

from fusejit.api import FuseWarning
from fusejit_testing.oracle import check, decorate

RNG = np.random.default_rng(7)


def matrix(rows, columns, layout="C", dtype="f8"):
    """A matrix of distinct elements in a layout."""
    values = (RNG.permutation(rows * columns) + 1).reshape(rows, columns).astype(dtype)
    if layout == "F":
        return np.asfortranarray(values)
    if layout == "strided":
        return np.repeat(np.repeat(values, 2, axis=0), 3, axis=1)[::2, ::3]
    if layout == "unit":
        return np.hstack([values, values])[:, :columns]
    if layout == "backwards":
        return np.ascontiguousarray(values[::-1, ::-1])[::-1, ::-1]
    return values


LAYOUTS = ["C", "F", "strided", "unit", "backwards"]
FUNCTIONS = {
    "flat": lambda x: x.reshape(-1),
    "flat sum": lambda x: x.reshape(-1) + 1,
    "after sum": lambda x: (x + 1).reshape(-1),
    "between": lambda x: np.sqrt((x + 1).reshape(-1)) * 2,
    "split": lambda x: x.reshape(2, -1, x.shape[1]) * 2,
    "split by name": lambda x: x.reshape(x.shape[0] // 2, 2, x.shape[1]),
    "split view": lambda x: x.reshape(x.shape[0], -1, 3),
    "irreducible": lambda x: x.reshape(-1, 4) + 0.5,
    "irreducible view": lambda x: x.reshape(x.shape[1], x.shape[0]),
    "transposed": lambda x: x.T.reshape(-1) - 1,
    "transposed view": lambda x: x.T.reshape(x.shape[1], 2, -1),
    "twice": lambda x: (x.reshape(-1) * 2).reshape(x.shape) + x,
    "ravel": lambda x: x.ravel(),
    "ravel transposed": lambda x: np.ravel(x.T),
    "ravel F": lambda x: x.ravel(order="F"),
    "flatten": lambda x: x.flatten(),
    "flatten F": lambda x: x.flatten("F"),
    "reshape F": lambda x: x.reshape((-1, 2), order="F"),
    "function": lambda x: np.reshape(x, (-1, 2)) * 3,
    "function F": lambda x: np.reshape(x * 2, (3, -1), order="F"),
    "rows": lambda x: x[1:].reshape(-1),
    "rows chain": lambda x: np.abs(x[1:-1].reshape(-1) - 3),
    "columns": lambda x: x[:, 1:].reshape(-1),
    "columns chain": lambda x: (x[:, ::2] * 2).reshape(-1) + 1,
    "one column": lambda x: x[:, 0].reshape(2, -1),
    "ones": lambda x: x.reshape(1, x.shape[0], 1, x.shape[1]),
    "ones away": lambda x: x[:, None, :, None].reshape(x.shape),
    "rows of blocks": lambda x: x.reshape(2, -1).max(axis=1),
    "new axis": lambda x: np.expand_dims(x, (0, 2)).squeeze() * 2,
    "copied": lambda x: x.reshape(-1, copy=True),
}


# views of arrays in Fortran order that merge axes and are handed out: NumPy runs them
FALLBACK = {("ravel transposed", "F"), ("ravel F", "F"), ("reshape F", "F")}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_layouts(name, layout):
    if (name, layout) in FALLBACK:
        x = matrix(4, 6, layout)
        with pytest.warns(FuseWarning, match="reshaped view that was copied"):
            result = decorate(FUNCTIONS[name], jit=False)(x)
        assert np.shares_memory(result, x)
        assert np.array_equal(result, FUNCTIONS[name](x))
        return
    check(FUNCTIONS[name], (matrix(4, 6, layout),), (matrix(6, 12, layout),), variants=None)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_one_variant_serves_all_sizes(name):
    sizes = ((4, 6), (6, 12), (8, 6), (2, 18), (10, 12))
    if name in ("rows", "rows chain"):
        sizes = tuple(s for s in sizes if s[0] > 3)
    check(FUNCTIONS[name], *((matrix(*size),) for size in sizes))


@pytest.mark.parametrize("dtype", ["?", "i1", "u2", "i4", "f4", "f8"])
def test_dtypes(dtype):
    def f(x):
        return (x.reshape(-1) + x.ravel()).reshape(2, -1), x.T.reshape(-1)

    check(f, (matrix(4, 6, dtype=dtype),))


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0), (1,), (1, 1), (1, 5), (5, 1)])
def test_empty_and_single_elements(shape):
    def f(x):
        return x.reshape(-1), (x + 1).ravel(), x.flatten(), x.reshape(*x.shape, 1)

    check(f, (np.ones(shape),))


def test_zero_dimensional():
    def f(x):
        return x.reshape(1), x.ravel() + 1, x.reshape(1, -1), (x * 2).reshape(()), x.flatten()

    check(f, (np.array(3.0),))


def test_scalars_become_arrays():
    def f(x):
        return x.sum().reshape(1, 1), x.max().ravel(), np.reshape(x[0, 0], -1)

    check(f, (matrix(3, 4),))


# ------------------------------------------------------------------------------------- aliasing
def test_stores_through_a_reshape_of_an_argument():
    def f(x):
        flat = x.reshape(-1)
        flat[2:9] = 0.5
        x[0] += flat[-6:]
        flat += 1
        return flat

    check(f, (matrix(4, 6),), (matrix(5, 7),), jit=True)


def test_stores_through_a_reshape_of_a_strided_argument():
    def f(x):
        parts = x.reshape(x.shape[0], -1, 3)
        parts[:, 1] *= 2
        return parts

    check(f, (matrix(4, 6, "strided"),), (matrix(3, 9, "strided"),))


def test_stores_into_a_copy_leave_the_argument():
    def f(x):
        flat = x.T.reshape(-1)
        flat[3] = 100.0
        return flat, x + 0

    check(f, (matrix(4, 6),), (matrix(6, 4),))


def test_stores_through_a_reshape_of_an_intermediate():
    def f(x):
        y = x * 2
        flat = y.reshape(-1)
        flat[1:3] = -1.0
        z = y + 1
        y[2] = 7.0
        return z, flat, y

    check(f, (matrix(4, 6),), (matrix(5, 3),), jit=True)


def test_stores_into_the_whole_of_a_reshape_of_an_intermediate():
    def f(x):
        y = x * 2
        flat = y.reshape(-1)
        flat[...] = np.arange(flat.size)
        y[...] = y + flat.reshape(y.shape)
        return y * 2, flat

    check(f, (matrix(4, 6),), (matrix(5, 3),))


def test_stores_through_an_affine_split():
    def f(x):
        parts = x.reshape(x.shape[0] // 2, 2, x.shape[1])
        parts[:, 0] = parts[:, 1] + 1
        return parts[:, 0], parts

    check(f, (matrix(4, 6),), (matrix(6, 5),))


def test_a_reshape_of_fresh_memory():
    def f(x):
        out = np.empty(x.size)
        grid = out.reshape(x.shape)
        grid[...] = x * 2
        out[0] = 1.0
        return out

    check(f, (matrix(4, 6),), (matrix(2, 3),))


def test_a_reshape_read_before_a_store():
    def f(x):
        flat = x.reshape(-1)
        before = flat * 2
        x[0, 0] = 99.0
        return before, flat + 0

    check(f, (matrix(4, 6),))


def test_reads_of_another_shape_are_hazards():
    def f(x):
        n = x.shape[0]
        x[...] = x.reshape(-1)[::-1].reshape(n, -1)

    check(f, (matrix(4, 6),), (matrix(3, 3),), jit=True)


def test_in_place_with_a_transposed_reshape():
    def f(x):
        x[...] = x.T.reshape(x.shape)

    # of a square matrix NumPy takes a view
    check(f, (matrix(4, 6),), (matrix(5, 5),), (matrix(3, 4),), variants=2)


def test_two_reshapes_share_memory():
    def f(x):
        y = x + 1
        return y.reshape(-1), y.reshape(2, -1), y.ravel()

    check(f, (matrix(4, 6),))


def test_a_broadcast_array_is_copied():
    def f(x):
        return np.broadcast_to(x, (3, x.shape[0])).reshape(-1) + 1

    check(f, (np.arange(5.0),), variants=None)


def test_a_readonly_view_stays_readonly():
    def f(x):
        x.reshape(-1)[0] = 1.0

    x = matrix(2, 3)
    x.flags.writeable = False
    check(f, (x,), variants=None)


# ------------------------------------------------------------------------------------ image blocks
def downsample(x):
    h, w = x.shape
    return x.reshape(h // 2, 2, w // 2, 2).mean(axis=(1, 3))


def downsample_cropped(x):
    h, w = x.shape[0] // 3, x.shape[1] // 2
    return x[: h * 3, : w * 2].reshape(h, 3, w, 2).max(axis=(1, 3))


def upsample(x):
    return np.broadcast_to(x[:, None, :, None], (x.shape[0], 2, x.shape[1], 2)).reshape(
        x.shape[0] * 2, x.shape[1] * 2
    )


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["f4", "f8", "i4"])
def test_downsampling(layout, dtype):
    check(downsample, (matrix(4, 6, layout, dtype),), (matrix(8, 4, layout, dtype),))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_downsampling_of_a_crop(layout):
    check(downsample_cropped, (matrix(7, 9, layout),), (matrix(9, 4, layout),), variants=None)


def test_upsampling():
    check(upsample, (matrix(3, 4),), (matrix(5, 2),), variants=None)


def test_the_sum_of_negative_zeros():
    def f(x):
        return x.reshape(-1, 3).sum(axis=1)

    check(f, (np.full(6, -0.0),), (np.full((9,), -0.0),))


@pytest.mark.parametrize("n", [1, 2, 3, 5, 7, 8, 16, 17])
def test_short_sums_keep_their_order(n):
    values = np.random.default_rng(n).normal(size=(13, n)) * 10.0 ** np.arange(n)

    def sums(x):
        return x.reshape(-1, n).sum(axis=1)

    check(sums, (values.ravel(),))


@pytest.mark.parametrize("name", ["max", "min", "any", "all", "sum"])
@pytest.mark.parametrize("dtype", ["?", "i2", "f4"])
def test_short_reductions(name, dtype):
    def f(x):
        return getattr(x.reshape(-1, 2, 3), name)(axis=(0, 2)), getattr(x.reshape(-1, 6), name)(1)

    values = RNG.integers(-3, 4, 24).astype(dtype)
    check(f, (values,), (values[:12],))


def test_several_short_reductions_with_indices():
    def f(x):
        y = x.reshape(-1, 2, 2) * np.arange(4).reshape(2, 2)
        return y.sum(axis=(1, 2)), y.max(axis=2)

    check(f, (np.arange(12.0),), (np.arange(20.0),))


# ----------------------------------------------------------------------------------------- errors
WRONG = {
    "too small": lambda x: x.reshape(5, 5),
    "not divisible": lambda x: x.reshape(7, -1),
    "two unknowns": lambda x: x.reshape(-1, -1),
    "negative": lambda x: x.reshape(-2, 3),
    "nothing": lambda x: x.reshape(()),
    "zero and unknown": lambda x: x[:0].reshape(0, -1),
    "text": lambda x: x.reshape("ab"),
}


@pytest.mark.parametrize("name", WRONG)
def test_errors_are_numpys(name):
    check(WRONG[name], (matrix(4, 6),), variants=None)


def test_sizes_that_do_not_divide_any_more():
    f = decorate(downsample, jit=False)
    x = matrix(4, 6)
    assert np.array_equal(f(x), downsample(x))
    with pytest.raises(ValueError, match="cannot reshape"):
        f(matrix(5, 6))


def test_orders_of_the_array_itself():
    for order in "CF":
        x = np.asarray(matrix(4, 6), order=order)
        check(lambda x: x.reshape(-1, order="A") * 2, (x,))


# ------------------------------------------------------------------------------------- flips, views
VIEWS = {
    "flip": lambda x: (np.flip(x), np.flip(x, 0), np.flip(x, (0, 1))),
    "flipud": lambda x: np.flipud(x) + 1,
    "fliplr": lambda x: np.fliplr(x) * 2,
    "rot90": lambda x: tuple(np.rot90(x, k) for k in range(-1, 4)),
    "rot90 axes": lambda x: np.rot90(x[None], 1, (2, 1)) + 0,
    "rollaxis": lambda x: (np.rollaxis(x, 1), np.rollaxis(x[None], 2, 1)),
    "atleast": lambda x: (np.atleast_1d(x[0]), np.atleast_2d(x[0]), np.atleast_3d(x)),
    "atleast of a scalar": lambda x: np.atleast_1d(x.sum()),
    "atleast of several": lambda x: np.atleast_2d(x, x[0] * 2),
    "moveaxis": lambda x: np.moveaxis(x[None], 0, -1).reshape(-1),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", VIEWS)
def test_views(name, layout):
    check(VIEWS[name], (matrix(4, 6, layout),), (matrix(3, 5, layout),), variants=None)


def test_wrong_flips():
    for f in (lambda x: np.fliplr(x[0]), lambda x: np.rot90(x, 1, (0, 0)), lambda x: np.flip(x, 2)):
        check(f, (matrix(2, 3),), variants=None)


@pytest.mark.parametrize("layout", ["C", "F", "strided"])
def test_jitted(layout):
    def f(x):
        h, w = x.shape
        flat = (x + 1).reshape(-1)
        blocks = x.reshape(h // 2, 2, w // 2, 2)
        turned = np.rot90(x).reshape(h, -1)
        return np.sqrt(flat), blocks.mean(axis=(1, 3)), turned * 2, (x.T.reshape(w, 2, -1) + 1).T

    check(f, (matrix(4, 6, layout),), (matrix(8, 10, layout),), jit=True)
