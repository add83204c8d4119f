"""Draws that kernels make themselves: NumPy's bits, the generator left as NumPy leaves it."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit.codegen.intrinsics_jit import draw_intrinsics as draws_jit
from fusejit.codegen.machine import ziggurat
from fusejit.ir.inline_calls.inline_draws import INLINE_DRAWS, NUMPY
from fusejit_testing.compare import Bound, assert_same
from fusejit_testing.oracle import check

SUMS = Bound(absolute=1e-12)
BIT_GENERATORS = (
    np.random.PCG64,
    np.random.PCG64DXSM,
    np.random.MT19937,
    np.random.Philox,
    np.random.SFC64,
)


def rng(seed: int = 1) -> Any:
    return np.random.default_rng(seed)


def uniform(rng: Any, n: int) -> Any:
    return rng.random(n), rng.random(), rng.uniform(-1, n, 3), rng.uniform()


def single(rng: Any, n: int) -> Any:
    return rng.random(n, dtype=np.float32), rng.random((2, n), np.float32)


def normal(rng: Any, n: int) -> Any:
    return rng.standard_normal((n, 3)), rng.normal(), rng.normal(0.1, n, 5), rng.normal(2, size=n)


def exponential(rng: Any, n: int) -> Any:
    return rng.standard_exponential(n), rng.exponential(), rng.exponential(0.3, (2, n))


def integers(rng: Any, n: int) -> Any:
    narrow = rng.integers(0, 10, n), rng.integers(6), rng.integers(n, size=5)
    ends = rng.integers(3, 4, n), rng.integers(0, 2**32, n), rng.integers(-5, 5, 9, endpoint=True)
    wide = rng.integers(0, 3 * 2**61, n), rng.integers(-(2**63) + 1, 2**63 - 1, n)
    return narrow, ends, wide


@pytest.mark.parametrize("kind", BIT_GENERATORS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("function", [uniform, single, normal, exponential, integers])
def test_many_numbers_and_the_state_behind_them(function: Any, kind: Any) -> None:
    """So many that each branch of the algorithms is taken; buffered halves of numbers too."""
    one, other = np.random.Generator(kind(5)), np.random.Generator(kind(5))
    fused = fuse_jit(function)
    for n in (20_001, 7):
        assert_same(function(one, n), fused(other, n))
        assert_same(one.integers(0, 9, 3, np.int32), other.integers(0, 9, 3, np.int32))
        assert str(one.bit_generator.state) == str(other.bit_generator.state)
    assert len(fused.variants) == 1
    assert "inline" in str(fused.trace(other, 7))
    assert "host call" not in fused.explain(other, 7)


def test_numpys_own_functions_where_numba_has_no_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    def drawn(rng: Any, n: int) -> Any:
        return rng.standard_normal(n), rng.standard_exponential(n) + 0

    for module in (ziggurat, draws_jit):
        monkeypatch.setattr(module, "ziggurat_tables", dict)
    monkeypatch.setenv("FUSEJIT_CACHE", "0")
    one, other = rng(), rng()
    assert_same(drawn(one, 999), fuse_jit(drawn)(other, 999))
    assert one.bit_generator.state == other.bit_generator.state


def test_every_row_has_both_meanings() -> None:
    for row in INLINE_DRAWS:
        for name in (row.intrinsic, f"{row.intrinsic}s")[: 1 + (row.owner == NUMPY)]:
            assert hasattr(draws_jit, name), name


def fisher_yates(rng: Any, x: Any) -> Any:
    for i in range(len(x) - 1, 0, -1):
        j = rng.integers(0, i + 1)
        t = x[i]
        x[i] = x[j]
        x[j] = t
    return x


def walk(rng: Any, n: int, m: int) -> Any:
    at = 0
    out = np.zeros(n, dtype=np.int64)
    for i in range(n):
        at = (at + rng.integers(-3, 4)) % m
        out[i] = at
    return out


def by_data(rng: Any, x: Any) -> Any:
    total = 0
    for i in range(len(x)):
        total += rng.integers(x[i])
        total += rng.integers(x[i], x[i] + 5, endpoint=True)
    return total


def in_a_condition(rng: Any, n: int, p: float) -> Any:
    count = 0
    while rng.random() < p:
        count += 1
        if (rng.random() < 0.3 and rng.random() < 0.5) or count > n:
            break
    return count


def other_lengths(rng: Any, n: int) -> Any:
    out = np.zeros((n, 3))
    for i in range(n):
        out[i] = rng.standard_normal((i, 3)).sum(axis=0)
    return out


def transposed(rng: Any, n: int) -> Any:
    return rng.random((n, n + 1)).T, rng.standard_normal((2, n))[::-1], rng.integers(5, size=n) * 2


def columns(rng: Any, n: int, k: int) -> Any:
    out = np.empty((k, n))
    for t in range(n):
        out[:, t] = rng.standard_normal(k)
    return out


def beside_host_calls(rng: Any, n: int) -> Any:
    a = rng.random(n)
    b = np.sort(rng.random(n))
    d = rng.random()
    return a + b * d + rng.permutation(n) + rng.normal(d, 2.0, n)


def two(one: Any, other: Any, n: int) -> Any:
    total = 0.0
    for i in range(n):
        total += one.random() - other.normal() * i
    return total


PROGRAMS: dict[str, tuple[Any, list[tuple[Any, ...]]]] = {
    "fisher_yates": (fisher_yates, [(rng(1), np.arange(20)), (rng(2), np.arange(40))]),
    "walk": (walk, [(rng(1), 9, 5), (rng(2), 30, 7)]),
    "by_data": (by_data, [(rng(1), np.arange(1, 9)), (rng(2), np.arange(3, 30))]),
    "in_a_condition": (in_a_condition, [(rng(1), 9, 0.9), (rng(2), 20, 0.95)]),
    "other_lengths": (other_lengths, [(rng(1), 4), (rng(2), 9)]),
    "transposed": (transposed, [(rng(1), 4), (rng(2), 9)]),
    "columns": (columns, [(rng(1), 4, 3), (rng(2), 9, 7)]),
    "beside_host_calls": (beside_host_calls, [(rng(1), 4), (rng(2), 9)]),
    "two": (two, [(rng(1), rng(2), 9), (rng(3), rng(4), 20)]),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str) -> None:
    function, calls = PROGRAMS[name]
    check(function, *calls, bound=SUMS, inner_bound=SUMS)


@pytest.mark.parametrize("name", ["fisher_yates", "in_a_condition", "columns", "two"])
def test_programs_jitted(name: str) -> None:
    function, calls = PROGRAMS[name]
    check(function, *calls, bound=SUMS, inner_bound=SUMS, jit=True)


@pytest.mark.parametrize(
    ("low", "high", "endpoint"), [(1, -1, False), (0, -1, False), (1, -1, True), (0, -1, True)]
)
def test_no_integer_to_draw_is_numpys_error_behind_a_draw(
    low: int, high: int, endpoint: bool
) -> None:
    def zero(rng: Any, x: Any) -> Any:
        x[0] = rng.random()
        return rng.integers(0, int(x[1]))

    def zero_closed(rng: Any, x: Any) -> Any:
        x[0] = rng.random()
        return rng.integers(0, int(x[1]), endpoint=True)

    def one(rng: Any, x: Any) -> Any:
        x[0] = rng.random()
        return rng.integers(int(x[2]), int(x[1]))

    def one_closed(rng: Any, x: Any) -> Any:
        x[0] = rng.random()
        return rng.integers(int(x[2]), int(x[1]), endpoint=True)

    function = {(0, False): zero, (0, True): zero_closed, (1, False): one}.get(
        (low, endpoint), one_closed
    )
    fused = fuse_jit(function)
    mine, numpys = rng(), rng()
    assert_same(function(numpys, np.array([0.0, 7, low])), fused(mine, np.array([0.0, 7, low])))
    messages = []
    for called, generator in ((function, numpys), (fused, mine)):
        with pytest.raises(ValueError, match=r"low|high") as raised:
            called(generator, np.array([0.0, high, low]))
        messages.append(str(raised.value))
    assert messages[0] == messages[1]
    assert mine.bit_generator.state == numpys.bit_generator.state


def test_threads_share_a_generator() -> None:
    """No number is drawn twice, and none is lost."""

    def drawn(rng: Any, n: int) -> Any:
        return rng.random(n)

    fused = fuse_jit(drawn)
    n, rounds, shared = 30_000, 20, rng()
    fused(rng(2), n)
    parts: list[Any] = []
    threads = [
        threading.Thread(target=lambda: [parts.append(fused(shared, n)) for _ in range(rounds)])
        for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expected = rng().random((3 * rounds, n))
    order = {row[0]: at for at, row in enumerate(expected)}
    assert sorted(order[part[0]] for part in parts) == list(range(3 * rounds))
    assert all(np.array_equal(part, expected[order[part[0]]]) for part in parts)


def test_the_lock_is_free_behind_an_error() -> None:
    def beyond(rng: Any, x: Any, at: Any) -> Any:
        x[0] = rng.random()
        return x[at[0]]

    fused, generator = fuse_jit(beyond), rng()
    fused(generator, np.zeros(3), np.array([1]))
    with pytest.raises(IndexError):
        fused(generator, np.zeros(3), np.array([5]))
    held: list[bool] = []
    other = threading.Thread(
        target=lambda: held.append(generator.bit_generator.lock.acquire(False))
    )
    other.start()
    other.join()
    assert held == [True]
