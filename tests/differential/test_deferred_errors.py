"""Errors that a kernel ends with, after stores to the caller's arrays: NumPy's text and line.

Regression: After a store, an IndexError named another index than NumPy's: NumPy casts and checks in
the order of memory. The message names the index only where both orders agree.
"""

from __future__ import annotations

import traceback
from typing import Any

import numpy as np
import pytest

from fusejit.ir.ops import GenericOp
from fusejit_testing.compare import clone
from fusejit_testing.oracle import compare_outcomes, decorate, run


def behind_the_end(x: Any) -> Any:
    for i in range(len(x)):
        x[i] = 1.0
        x[i + 2] = 2.0
    return x


def second_axis(m: Any, k: Any) -> Any:
    for i in range(len(k)):
        k[i] = k[i] - 50
        m[0, k[i]] = 3.0
    return m


def first_axis(m: Any, k: Any) -> Any:
    for i in range(len(k)):
        k[i] += 2
        m[k[i], 1:] = 3.0
    return m


def of_a_view(m: Any, k: Any) -> Any:
    for i in range(len(k)):
        k[i] += 2
        m.T[1:][k[i], 0] = 3.0
    return m


def read(x: Any, k: Any) -> Any:
    for i in range(len(k)):
        k[i] *= 2
        x[0] += x[k[i]]
    return x


def gathered(x: Any, k: Any) -> Any:
    k += 3
    return x[k]


def gathered_computed(x: Any, k: Any) -> Any:
    k += 1
    return x[k * 2 - 3]


def gathered_in_a_loop(x: Any, k: Any, out: Any) -> Any:
    for i in range(len(out)):
        out[i] = x[k + i].sum()
    return out


def gathered_twice(m: Any, k: Any) -> Any:
    k += 1
    return m[k[:, None], k * 2]


def stale(x: Any, k: Any) -> Any:
    at = k * 2
    k[...] = 0
    x[0] = 1.0
    at2 = at + x.astype(np.int64)[: len(k)] * 0
    return x[at2]


def scattered(x: Any, k: Any) -> Any:
    k -= 4
    x[k] = 5.0
    return x


def taken(x: Any, k: Any) -> Any:
    k += 2
    return np.take(x, k)


def taken_along_rows(m: Any, k: Any) -> Any:
    k += 2
    return m.take(k, axis=1)


def put(m: Any, k: Any) -> Any:
    k += 11
    m.put(k, 7.0)
    return m


def added_at(x: Any, k: Any) -> Any:
    k += 3
    np.add.at(x, k, 1.0)
    return x


def chosen(x: Any, k: Any) -> Any:
    for i in range(len(x)):
        x[i] = np.choose(k + i, [x, x + 1.0, x * 2.0, x - 1.0]).sum()
    return x


def along_an_axis(m: Any, k: Any) -> Any:
    k += 2
    return np.take_along_axis(m, k[:, None], 1)


X, M, K = np.linspace(1.0, 2.0, 5), np.arange(12.0).reshape(3, 4), np.array([0, 1, 2])
PROGRAMS: dict[Any, tuple[Any, ...]] = {
    behind_the_end: (X,),
    second_axis: (M, K),
    first_axis: (M, K),
    of_a_view: (M, K),
    read: (X[:4], K),
    gathered: (X, np.array([1, -7, 0, 9])),
    gathered_computed: (X, np.array([1, 9, -8])),
    gathered_in_a_loop: (X, K, np.zeros(6)),
    gathered_twice: (M, K),
    stale: (X, np.array([1, 9, -8])),
    scattered: (X, np.array([3, -7, 1])),
    taken: (X, np.array([[1, 2], [9, -8]])),
    taken_along_rows: (M, K),
    put: (M, K),
    added_at: (X, K),
    along_an_axis: (M, K),
    chosen: (X[:3], K),
}


def last_line(error: BaseException | None) -> str | None:
    assert error is not None
    frames = traceback.extract_tb(error.__traceback__)
    return [f.line for f in frames if f.filename == __file__][-1]


@pytest.mark.parametrize("jit", [False, True], ids=["unjitted", "jitted"])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_the_text_is_numpys(program: Any, jit: bool) -> None:
    decorated = decorate(program, jit=jit)
    for _ in range(2):
        expected, actual = run(program, PROGRAMS[program]), run(decorated, PROGRAMS[program])
        assert isinstance(expected.error, IndexError | ValueError)
        compare_outcomes(expected, actual)
        assert last_line(actual.error) == last_line(expected.error)
    assert len(decorated.variants) == 1
    assert not decorated.variants.fallbacks


def test_each_error_has_its_own_numbers() -> None:
    """More errors than there are slots for numbers."""
    f = decorate(behind_the_end, jit=True)
    for n in range(3, 150):
        with pytest.raises(IndexError, match=f"index {n} is out of bounds .* size {n}$"):
            f(np.zeros(n))


def test_nothing_is_paid_on_the_way_on() -> None:
    """The integers are computed where they are used, and again where the kernel ends."""
    f = decorate(gathered_in_a_loop, jit=False)
    fused = f.trace(*clone(PROGRAMS[gathered_in_a_loop])).fuse()
    assert "deferred_values(" in fused.lower().source
    body = fused.schedule.graph.block.ops[0].blocks[0].ops
    names = [op.name for op in body if isinstance(op, GenericOp)]
    assert names == ["reach+2", "in_bounds", "sum+3"]


def fails_behind_a_print(x: Any) -> Any:
    print("before")
    return np.linalg.inv(x + 0j) + 1


def fails_behind_a_store(x: Any) -> Any:
    x[0] = 3.0
    y = np.linalg.cholesky(x + 0j)
    return y + 1


@pytest.mark.parametrize("program", [fails_behind_a_print, fails_behind_a_store])
def test_exceptions_of_calls_end_where_numpys_do(
    program: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    args = (np.zeros((3, 3)),)
    expected, actual = run(program, args), run(decorate(program, jit=False), args)
    compare_outcomes(expected, actual)
    frames = [
        [(f.name, f.line) for f in traceback.extract_tb(e.__traceback__)][-3:]
        for e in (expected.error, actual.error)
        if e is not None
    ]
    assert frames[0] == frames[1]
    assert frames[0][0][0] == program.__name__
    capsys.readouterr()


def stored_at_moved(x: Any, k: Any) -> Any:
    k[1:] += 2
    x[k] = 2.0
    return x


@pytest.mark.parametrize(
    ("indices", "is_named"),
    [
        (np.array([1, 9, 8]), True),
        (np.array([1, 9, 8])[::-1], True),
        (np.array([1, 9, 8], np.int32), True),
        (np.array([1, 9, 8], np.int32)[::-1], False),  # cast in the order of memory
        (np.array([[1, 9], [8, 7]]), True),
        (np.array([[1, 9], [8, 7]])[::-1, ::-1], False),
        (np.array([[1, 9], [8, 7]], order="F"), False),
    ],
)
def test_which_index_is_named(indices: Any, is_named: bool) -> None:
    """NumPy's first one, or none: it does not always look in C order."""
    expected = run(stored_at_moved, (np.arange(3.0), indices))
    fused = decorate(stored_at_moved, jit=False)
    good = clone(indices)  # of the same strides
    good[...] = -1
    assert run(fused, (np.arange(3.0), good)).error is None
    actual = run(fused, (np.arange(3.0), indices))
    assert isinstance(expected.error, IndexError)
    assert isinstance(actual.error, IndexError)
    words = str(actual.error) == str(expected.error), "for its axis" in str(actual.error)
    assert words == (is_named, not is_named)
    np.testing.assert_array_equal(actual.args[1], expected.args[1])
