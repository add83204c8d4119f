"""Indices that are integer arrays, and the functions made of them, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit_testing.oracle import check

INTEGERS = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]


def numbers(*shape: int) -> np.ndarray:
    return np.arange(1.0, 1 + int(np.prod(shape))).reshape(shape)


def integers(low: int, high: int, *shape: int, dtype: str = "i8") -> np.ndarray:
    return np.random.default_rng(sum(shape)).integers(low, high, shape).astype(dtype)


# ------------------------------------------------------------------------------------- reading
@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers_of_every_dtype(dtype):
    low = 0 if dtype[0] == "u" else -5

    def f(x, i):
        return x[i] * 2

    check(f, (numbers(5), integers(low, 5, 9, dtype=dtype)), jit=True)


@pytest.mark.parametrize("dtype", ["?", "i1", "u4", "f4", "f8"])
def test_elements_of_every_dtype(dtype):
    def f(x, i):
        return x[i], x[:, i]

    x = (numbers(6, 6) % 3).astype(dtype)
    check(f, (x, integers(-6, 6, 4)), jit=dtype == "f4")


def several(x, i, j, b):
    return (
        x[i],
        x[:, i],
        x[:, :, i],
        x[i, j],
        x[:, i, j],
        x[i, :, j],
        x[i, ..., j],
        x[i, 1:3],
        x[i, ::-1, 1],
        x[None, i],
        x[:, i, None],
        x[i, 2],
        x[2, i],
        x[2, :, i],
        x[1, None, i],
        x[..., i, 1:],
        x[i, None, j],
        x[b],
        x[b, i],
        x[:, b],
        x[i[:, None], j],
        x[[0, -1]],
        x[[1, 2], :, [0, 1]],
        x[(0, 1),],
        x[i][:, j],
        x[::2][i % 2],
        x.T[i],
        x[b.T],
    )


@pytest.mark.parametrize("layout", ["C", "F", "moved", "reversed", "strided"])
def test_the_place_of_the_block_and_the_strides_of_the_result(layout):
    x = numbers(4, 5, 6)
    x = {
        "C": x,
        "F": np.asfortranarray(x),
        "moved": np.moveaxis(np.ascontiguousarray(np.moveaxis(x, 1, 0)), 0, 1),
        "reversed": np.ascontiguousarray(x[::-1, :, ::-1])[::-1, :, ::-1],
        "strided": numbers(8, 5, 18)[::2, :, ::3],
    }[layout]
    args = (x, integers(-4, 4, 3), integers(-4, 4, 3), integers(-4, 4, 3, 3))
    check(several, args, jit=layout in ("C", "F"))
    check(several, (*args[:3], np.asfortranarray(args[3])))


def test_an_element_as_an_index():
    def f(x, i):
        k = i[1]
        return x[k, 2], x[k, i[0]], x[k] * 2, x[k, i], x[k, :] + x[:, k]

    check(f, (numbers(4, 4), integers(-4, 4, 3)), jit=True)


def test_a_list_of_numbers_as_an_index():
    def swap(a, k):
        p = k + np.argmax(np.abs(a[k:, k]))
        a[[k, p]] = a[[p, k]]
        return a[[0, k, -k]], a[[p], [k]], a[:, [k, int(k) + 1]]

    check(swap, (numbers(4, 4) % 7, 1), (numbers(4, 4) % 5, 2), jit=True, variants=None)


def test_nothing_is_picked():
    def f(x, i):
        return x[i], x[i].sum(), x[:, i]

    none = np.zeros(0, np.int64)
    check(f, (numbers(3, 4), none), (numbers(3, 4), integers(0, 3, 5)), variants=None)
    check(lambda x, i: x[i], (np.zeros(0), none))
    check(lambda x: x[[]], (numbers(3, 4),))


def test_producers_and_consumers_fold():
    def chain(x, i, w):
        k = (i * 2 + 1) % 7
        return np.maximum(np.sqrt(x)[k] * w, 0).sum()

    def rows(x, i, w):
        return (x[i] * w).sum(1), (x[i] - w).max(0)

    x, w = np.square(numbers(7)), np.float64(2.0)
    check(chain, (x, integers(0, 9, 11), w), jit=True)
    check(rows, (numbers(7, 3), integers(-7, 7, 11), np.array([1.0, 2, 4])), jit=True)


def test_a_gather_reads_memory_as_it_is():
    def f(x, i):
        before = x[i]
        x[1:] = 0
        after = x[i]
        x += 1
        return before, after, x[i]

    check(f, (numbers(5), integers(-5, 5, 7)), jit=True)


def test_a_store_changes_no_gathered_copy():
    def f(x, i):
        y = x[i]
        y[0] = -1
        y += 1
        x[i] = 0
        return y

    check(f, (numbers(5), integers(-5, 5, 7)), jit=True)


def test_integers_computed_and_stored():
    def f(x, n):
        i = np.zeros(4, np.int64)
        i[1:] = n
        i[0] = 2
        return x[i], x[np.arange(3)], x[i[::-1]]

    check(f, (numbers(5), np.array([1, -2, 3])))


# ------------------------------------------------------------------------------------- functions
@pytest.mark.parametrize("mode", ["raise", "wrap", "clip"])
@pytest.mark.parametrize("axis", [None, 0, 1, -1])
def test_take(axis, mode):
    def f(x, i):
        return np.take(x, i, axis=axis, mode=mode), x.take(i[0], axis=axis, mode=mode)

    far = 4 if mode == "raise" else 20
    for x in (numbers(4, 5), np.asfortranarray(numbers(4, 5))):
        check(f, (x, integers(-far, far, 3, 2)), jit=axis == 1)


def test_take_of_one():
    def f(x, i):
        return np.take(x, 2, axis=1), np.take(x, i[1], axis=0), np.take(x, -1)

    check(f, (numbers(4, 5), integers(-4, 4, 3)))


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_take_along_axis(axis):
    def f(x, i):
        return np.take_along_axis(x, i, axis)

    check(f, (numbers(4, 4), integers(-4, 4, 4, 4)), jit=axis == 0)
    check(f, (np.asfortranarray(numbers(4, 4)), np.asfortranarray(integers(-4, 4, 4, 4))))
    one = (4, 1) if axis == 0 else (1, 4)
    check(f, (numbers(4, 4), integers(-4, 4, *one)))


@pytest.mark.parametrize("mode", ["raise", "wrap", "clip"])
def test_choose(mode):
    def f(k, a, b):
        return np.choose(k, [a, b, a + b], mode=mode), k.choose([a, b, b], mode=mode)

    far = (0, 3) if mode == "raise" else (-7, 7)
    check(f, (integers(*far, 2, 3), numbers(2, 3), numbers(3)), jit=True)


# --------------------------------------------------------------------------------------- storing
def test_the_last_of_equal_indices_wins():
    def f(x, i, v):
        x[i] = v * 2
        return x

    i = np.array([1, 3, 1, -1, 4, 1])
    check(f, (numbers(5), i, numbers(6)), jit=True)


def test_updates_count_equal_indices_once():
    def f(x, i, v):
        x[i] += v
        x[i] *= 2

    check(f, (numbers(5), np.array([1, 3, 1, -1]), numbers(4)), jit=True)


@pytest.mark.parametrize("value", ["C", "F", "row", "number"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_the_order_of_stores_in_two_dims(order, value):
    def f(x, y, i, v):
        x[i] = v
        y[i, i] = v

    i = np.array([[1, 1, 0], [0, 1, 1]], order=order)
    v = numbers(2, 3)
    v = {"C": v, "F": np.asfortranarray(v), "row": v[0], "number": np.array(7.0)}[value]
    check(f, (np.zeros(3), np.zeros((3, 3)), i, v))


def stores(x, i, j, v):
    x[i] = v[:, None, None]
    x[:, i] = v[:, None] * 2
    x[i, j] = v[:, None] * 3
    x[i, :, j] = v[:, None] * 4
    x[:, i, j] += v
    x[1, i] -= 1
    x[i, 1:3, 0] = 5
    x[..., [0, 2]] = v[0]
    x[::2, :2][i // 3] *= 2
    x.T[i, 1] = 3.5


@pytest.mark.parametrize("layout", ["C", "F", "strided"])
def test_stores_among_slices(layout):
    x = numbers(4, 5, 6)
    x = {"C": x, "F": np.asfortranarray(x), "strided": numbers(8, 5, 18)[::2, :, ::3]}[layout]
    args = (x, np.array([0, 3, -2]), np.array([1, 1, 3]), numbers(3))
    check(stores, args, jit=layout == "C")


def test_a_store_casts():
    def f(x, i, v):
        x[i] = v
        x[i[0]] = 7
        return x[i]

    check(f, (np.zeros(5, np.int16), integers(0, 5, 4), np.array([1.5, -2.5, 3.9, 70000.0])))
    check(f, (np.zeros(5, np.float32), integers(0, 5, 4), np.arange(4, dtype=np.uint64)))


def test_into_fresh_arrays():
    def f(i, v):
        counts = np.zeros(6)
        counts[i] = v
        both = np.zeros((6, 2))
        both[i, 1] = v
        return counts, both.sum(), counts[i] + 1

    check(f, (integers(-6, 6, 9), np.arange(9.0)), jit=True)


def test_integers_and_values_from_the_memory_that_is_written():
    def f(i):
        i[i] = i[::-1]

    def g(i):
        i[i + 0] = i
        return i

    def h(x, i):
        x[i] = x[i[::-1]]
        x[i] = x[:3] * 2
        x[i[::-1]] = x[0]

    check(f, (np.array([2, 1, 0, 3, 0]),), jit=True)
    check(g, (np.array([2, 1, 0, 3, 0]),))
    check(h, (numbers(5), np.array([1, 2, 4])), jit=True)


UFUNCS = [np.add, np.subtract, np.multiply, np.maximum, np.minimum, np.fmax, np.divide]


@pytest.mark.parametrize("ufunc", UFUNCS, ids=lambda u: u.__name__)
def test_at(ufunc):
    def f(x, y, i, v):
        ufunc.at(x, i, v * 0.5)
        ufunc.at(y, (slice(None), i), v)
        ufunc.at(x, i, 3)

    i = np.array([0, 1, 0, 0, -1, 2])
    check(f, (numbers(4), numbers(2, 4), i, numbers(6)), jit=ufunc is np.add)


@pytest.mark.parametrize("dtype", ["i4", "u1", "f4", "?"])
def test_add_at_of_every_dtype(dtype):
    def f(x, i, v):
        np.add.at(x, i, v)

    v = np.arange(6).astype(dtype)
    check(f, (np.zeros(3, dtype), np.array([0, 1, 0, 0, -1, 2], np.int32), v), jit=dtype == "f4")


def test_add_at_in_two_dims():
    def f(x, i, j, v):
        np.add.at(x, (i, j), v)
        np.add.at(x, i, v[:, None])
        np.add.at(x, i[:, None] * 0, 0.1)

    args = (numbers(4, 4), np.array([0, 1, 0]), np.array([2, 1, 2]), np.array([0.1, 0.2, 0.7]))
    check(f, args, jit=True)


def test_put_along_axis_and_put():
    def f(x, y, z, i, v):
        np.put_along_axis(x, i, v, axis=1)
        np.put_along_axis(y, i[:, :1], 9.0, axis=1)
        np.put(z, i[0], v[1])
        z.put(i[1], -1.0)

    i = integers(-3, 3, 3, 3)
    check(f, (numbers(3, 3), numbers(3, 3), numbers(3, 3), i, numbers(3, 3)), jit=True)


# ---------------------------------------------------------------------------------------- bounds
def bad(*at: int) -> np.ndarray:
    return np.array([0, 1, *at])


def read(x, y, i):
    y += 1
    return x[i] * 2


def write(x, y, i):
    y += 1
    x[0] = 5
    x[i] = 7


def update(x, y, i):
    y[1] = 2
    x[i] += y[0]


def two(x, y, i):
    y *= 2
    return x[i] + y[i]


def at(x, y, i):
    np.add.at(x, i, 1.0)
    np.add.at(y, i, 1.0)


def behind_a_product(x, y, i):
    z = (x[:, None] * y) @ (y[:, None] * x)
    x += 1
    return z[i % 2, i], x[i]


def taken(x, y, i):
    y -= 1
    return np.take(x, i) + y[0]


@pytest.mark.parametrize(
    "f", [read, write, update, two, at, behind_a_product, taken], ids=lambda f: f.__name__
)
@pytest.mark.parametrize("i", [bad(5), bad(-6), bad(7, -9), bad(2**40)], ids=str)
def test_an_index_out_of_bounds(f, i):
    good = (numbers(5), numbers(5), np.array([0, -5, 4]))
    check(f, (numbers(5), numbers(5), i), variants=None)
    decorated = check(f, good, (numbers(5), numbers(5), i), good, jit=f is update, variants=None)
    assert len(decorated.variants) == 1
    assert not decorated.variants.fallbacks


def test_the_message_and_the_line():
    @fuse_jit
    def f(x, i):
        x += 1
        return x[:, i]

    x = numbers(2, 5)
    for _ in range(2):
        with pytest.raises(
            IndexError, match="index 7 is out of bounds for axis 1 with size 5"
        ) as e:
            f(x.copy(), np.array([1, 7]))
        assert e.traceback[-1].frame.code.name == "f"
    np.testing.assert_array_equal(f(x.copy(), np.array([1, -1])), (x + 1)[:, [1, -1]])


def test_choices_out_of_bounds():
    def f(k, a):
        return np.choose(k, [a, a + 1])

    for k in ([0, 2], [0, -1]):
        check(f, (np.array([0, 1]), numbers(2)), (np.array(k), numbers(2)), variants=None)


def test_indices_that_numpy_refuses():
    cases = [
        (lambda x, i: x[i], np.array([1.0])),
        (lambda x, i: np.take(x, i), np.array([1.0])),
        (lambda x, i: x[i, i], np.array([1])),
        (lambda x, i: np.take_along_axis(x, i[None], 0), np.array([1])),
    ]
    for f, i in cases:
        check(f, (numbers(5), i), variants=None)


def test_integers_that_a_store_decides():
    def f(x, i):
        x[1] = 2.0
        i[0] = 1
        return x[i]

    check(f, (numbers(5), np.array([3, 2])), (numbers(5), np.array([-9, -1])), jit=True)
    x, i = numbers(5), np.array([3, 7])
    with pytest.raises(IndexError, match="out of bounds"):
        fuse_jit(f)(x, i)
    assert (x[1], i[0]) == (2.0, 1)  # what NumPy stores before it raises
