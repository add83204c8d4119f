"""`np.ascontiguousarray(a[::-1])` was a copy for reversed `a`: two reversals were not cancelled.

``np.ascontiguousarray(a[::-1])`` of an array that runs backwards was a copy: a store into it did
not reach the argument. ``np.full_like(c, 2, shape=(2, 3))`` has the order of a contiguous ``c``;
axes of length 1, and those of length 1 that only a call knows, gave it another.
"""

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit_testing.oracle import check


def backwards(a, k):
    b = np.ascontiguousarray(a[::k])
    b[0] = 7
    return b, a.sum()


def raveled(a):
    b = a[-2::-1].ravel()
    b += 1
    return b, a


def like(c):
    return np.full_like(c, 2, dtype=np.int64, shape=(2, 3)), np.zeros_like(c, shape=(3, 2))


def half(b):
    return np.empty_like(b[..., ::2], shape=(2, 3)).strides


def flat(a):
    return a.reshape(-1, order="F")


def test_backwards():
    arrays = [np.arange(6.0), np.arange(6.0)[::-1], np.arange(12.0)[::2], np.arange(12.0)[::-2]]
    for k in (-1, 1, -2):
        check(backwards, *[(a.copy()[:], k) for a in arrays], variants=None)
        check(backwards, *[(np.arange(6.0)[::-1], k), (np.arange(9.0)[::-1], k)], variants=None)
    check(raveled, *[(np.arange(6.0)[::-1],), (np.arange(7.0)[::-1],)], variants=None)


@pytest.mark.filterwarnings("ignore::fusejit.notices.FuseWarning")  # NumPy makes those with gaps
def test_like_arrays_of_all_orders():
    whole = np.ones((3, 2)), np.ones((3, 2)).T, np.ones((6, 4))[::2], np.ones((6, 4)).T[::2]
    short = [a[:1] for a in whole] + [a[:, :1] for a in whole]
    check(like, *[(a,) for a in (*whole, *short)], variants=None)
    for columns in (2, 4):
        check(half, (np.asfortranarray(np.ones((6, columns))),), variants=None)


@pytest.mark.filterwarnings("ignore::fusejit.notices.FuseWarning")
def test_read_only_arrays_without_elements():
    shapes = (2, 3), (0, 0), (0, 3), (3, 0)
    arrays = [np.broadcast_to(np.ones(1), shape) for shape in shapes]
    check(flat, *[(a,) for a in arrays], variants=None)
    for array in arrays[1:]:
        fused = fuse_jit(flat)
        assert not fused(array).flags.writeable


@pytest.mark.filterwarnings("ignore::fusejit.notices.FuseWarning")
def test_read_only_arrays_without_elements_after_others():
    """The variant of a writeable array does not serve one that is none."""
    given = np.arange(12.0).reshape(3, 4)
    locked = given.copy()
    locked.flags.writeable = False
    broadcast = np.broadcast_arrays(np.zeros((1, 4)), np.zeros((0, 4)))[0]
    calls = [given, locked, given[:0], locked[:0], broadcast, given]
    check(every_second, *[(a,) for a in calls], variants=None)


def every_second(a):
    return a[..., 1::2].reshape(-1, order="F")
