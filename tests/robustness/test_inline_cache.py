"""A call site that gives other dtypes in turn: several launchers are asked, one after the other.

Regression: Calls with columns of floats and of integers in turn missed the dispatch each time: 4
us, and 70 us for those that run in Python.
"""

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit.dispatch.inline_cache import CHANGES, IN_A_ROW, CacheEntry, InlineCache, Priority
from fusejit.outcome import MISS
from fusejit.segments.find_dispatcher import dispatcher_of
from fusejit_testing.compare import assert_same, clone


def scaled(x, by):
    x[1:] *= by
    return x / 2 + by, x


def array(dtype):
    return np.arange(4).astype(dtype)


@pytest.fixture
def slow_calls(monkeypatch):
    """How often the slow path of a call of a function was gone."""
    counts = []

    def count(function):
        state = dispatcher_of(function)
        slow = state.dispatch_miss
        state.entry_stub.connect(lambda *args: (counts.append(args), slow(*args))[1], state.recover)
        return counts

    return count


def test_dtypes_in_turn(slow_calls):
    fused = fuse_jit(scaled)
    dtypes = [np.float64, np.int64, np.float32]

    def in_turn(times):
        for _ in range(times):
            for dtype in dtypes:
                args = array(dtype), 3
                expected = scaled(*(theirs := clone(args)))
                assert_same((expected, theirs), (fused(*args), args))

    in_turn(1)
    counts = slow_calls(fused)
    in_turn(10)
    assert len(counts) == CHANGES + 1
    for _ in range(IN_A_ROW + 3):  # one alone is asked again
        fused(array(np.int64), 3)
    assert len(counts) == CHANGES + 1
    alone = [
        v for v in fused.variants.compiled if v.launch is dispatcher_of(fused).entry_stub.first
    ]
    assert [v.launch(array(np.int64), 3)[0].dtype for v in alone] == [np.float64]
    in_turn(5)
    assert len(fused.variants) == 3


def test_errors_in_turn():
    fused = fuse_jit(scaled)
    for _ in range(3 * CHANGES):
        for dtype in (np.float64, np.int64, np.int8):
            fused(array(dtype), 3)
            with pytest.raises(ValueError, match="could not be broadcast"):
                fused(array(dtype), np.arange(9))
            if dtype is np.int8:
                with pytest.raises(OverflowError, match="1000 out of bounds for int8"):
                    fused(array(dtype), 1000)


def test_many_dtypes():
    fused = fuse_jit(lambda x: x + x)
    dtypes = [np.float64, np.float32, *(f"{k}{n}" for k in "iu" for n in (1, 2, 4, 8)), np.bool_]
    for _ in range(3 * CHANGES):
        for dtype in dtypes:
            assert_same(array(dtype) + array(dtype), fused(array(dtype)))
    assert len(fused.variants) == len(dtypes)


def test_a_function_that_changes(slow_calls):
    """What replaces a name that the function reads is noticed by each launcher."""
    by = 2
    fused = fuse_jit(lambda x: x * by + 1)
    for _ in range(2 * CHANGES):
        for dtype in (np.float64, np.int64):
            fused(array(dtype))
    by = 3
    for dtype in (np.float64, np.int64):
        assert_same(array(dtype) * 3 + 1, fused(array(dtype)))


class Box:
    def __init__(self, x) -> None:
        self.x = x

    def __array__(self, dtype=None, copy=None):
        return np.array(self.x, dtype)


class Case(Box):
    pass


def doubled(x, by):
    return np.asarray(x) * 2 + by


@pytest.mark.filterwarnings("ignore::fusejit.notices.FuseWarning")
def test_kinds_that_no_kernel_is_given(slow_calls):
    """Objects of two classes, arrays of Python's objects, and arrays that are compiled."""
    fused = fuse_jit(doubled)
    kinds = [Box([1, 2]), Case([3]), np.array([1, 2], object), np.arange(3.0), np.arange(3)]

    def in_turn(times):
        for _ in range(times):
            for x in kinds:
                assert_same(doubled(x, 1), fused(x, 1))

    in_turn(40)  # until kinds that are declined pass
    counts = slow_calls(fused)
    in_turn(40)
    assert len(counts) < 40 * len(kinds) / 10
    before = sum(fused.variants.fallbacks.values())
    in_turn(3)
    assert sum(fused.variants.fallbacks.values()) - before in (0, 6, 9)
    for x in kinds:  # each alone
        for _ in range(IN_A_ROW + 3):
            assert_same(doubled(x, 1), fused(x, 1))
    in_turn(3)


def test_code_that_is_replaced():
    """Ways that have served calls are forgotten with the code."""
    fused = fuse_jit(doubled)
    for _ in range(3 * CHANGES):
        for dtype in (np.float64, np.int64):
            assert_same(doubled(array(dtype), 1), fused(array(dtype), 1))
    code = doubled.__code__
    try:
        doubled.__code__ = (lambda x, by: np.asarray(x) - by).__code__
        for _ in range(3):
            for dtype in (np.float64, np.int64):
                assert_same(array(dtype) - 1, fused(array(dtype), 1))
    finally:
        doubled.__code__ = code
    for dtype in (np.float64, np.int64):
        assert_same(array(dtype) * 2 + 1, fused(array(dtype), 1))


@pytest.mark.parametrize("is_python", [True, False])
def test_where_all_ways_are_pythons_none_is_asked(is_python):
    """A recursion over lists, dictionaries and strings took three times as long as in Python."""
    installed, unasked = [], []
    cache = InlineCache(installed.append, list, lambda: unasked.append(len(served)))
    served = []

    def entry(kind, is_python):
        def call(obj):
            served.append(obj)
            return MISS if type(obj) is not kind else obj

        return CacheEntry(call, Priority.PYTHON, kind, lambda: True, is_python=is_python)

    for k in range(CHANGES + 2):
        cache.record(entry((int, str)[k % 2], is_python or k % 2 == 0))
    chain = installed[-1]
    assert chain is cache.chain
    for k in range(3 * IN_A_ROW):
        assert chain((k, str(k))[k % 2]) == (k, str(k))[k % 2]
    assert len(unasked) == (3 if is_python else 0)
