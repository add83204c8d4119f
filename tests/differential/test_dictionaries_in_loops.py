"""Dictionaries that loops change: their keys and values are in the memory of the kernel."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit_testing.compare import Bound
from fusejit_testing.oracle import check, compare_outcomes, decorate, run

X = np.random.default_rng(3).integers(0, 12, 60)


def counted(x: Any) -> Any:
    found = {}
    for v in x:
        if v in found:
            found[v] += 1
        else:
            found[v] = 1
    return found, len(found)


def counted_with_get(x: Any) -> Any:
    found: dict[int, int] = {}
    for i in range(len(x)):
        key = int(x[i])
        found[key] = found.get(key, 0) + 1
    best = -1
    for key, count in found.items():
        if best < 0 or count > found[best]:
            best = key
    return found, best, sum(found.values()), max(found), min(found.values())


def default_numbers(x: Any) -> Any:
    found: defaultdict[int, int] = defaultdict(int)
    for v in x:
        found[v % 7] += 1
    total = 0
    for key in found:
        total += key * found[key]
    return found, total


def grouped(x: Any) -> Any:
    found = defaultdict(list)
    for i in range(len(x)):
        found[x[i] % 5].append(i)
    return found, {key: len(places) for key, places in found.items()}


def grouped_with_setdefault(x: Any) -> Any:
    found: dict[Any, Any] = {}
    for i in range(len(x)):
        found.setdefault(x[i], []).append(i)
    return found


def labelled(x: Any) -> Any:
    labels: dict[Any, int] = {}
    out = np.zeros(len(x), int)
    for i in range(len(x)):
        out[i] = labels.setdefault(x[i], len(labels) + 1)
    return out, labels


def constant_keys(x: Any) -> Any:
    found = {"low": 0, "high": 0, "sum": 0}
    for v in x:
        if v > 5:
            found["high"] += 1
        else:
            found["low"] += 1
        found["sum"] += v
    return found


def remembered(x: Any) -> Any:
    steps: dict[int, int] = {}
    for v in x:
        n = int(v)
        count = 0
        while n > 1:
            if n in steps:
                count += steps[n]
                break
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            count += 1
        steps[int(v)] = count
    return steps


def pairs_as_keys(x: Any) -> Any:
    found = {}
    for i in range(len(x) - 1):
        key = (x[i], x[i + 1] % 3)
        if key not in found:
            found[key] = 0
        found[key] += i
    return found, (0, 0) in found


def deleted(x: Any) -> Any:
    found = {}
    for v in x:
        if v in found:
            del found[v]
        else:
            found[v] = 1
    keys = []
    for key in found:
        keys.append(key)
    return found, len(found), keys, sorted(found), list(found.values())


def popped(x: Any) -> Any:
    found = {}
    total = 0
    for v in x:
        found[v] = found.pop(v, 0) + 1
        total += found.pop(v - 1, 10)
    return found, total, bool(found)


def two_sum(x: Any) -> Any:
    seen: dict[Any, int] = {}
    for i in range(len(x)):
        if 13 - x[i] in seen:
            return seen[13 - x[i]], i
        seen[x[i]] = i
    return None


def counter(x: Any) -> Any:
    found: Counter[Any] = Counter()
    for v in x:
        found[v] += 2
    for v in x[:9]:
        del found[v]
    return found, found[1234], Counter(x[:7])


def comprehension(x: Any) -> Any:
    squares = {v: v * v for v in x if v % 2}
    return squares, {i: squares.get(i, -1) for i in range(len(x))}


def keys_of_two_types(x: Any) -> Any:
    found = {}
    for i in range(len(x)):
        found[i % 4] = i
        found[x[i] % 6] = -i
    return found


PROGRAMS = [
    *(counted, counted_with_get, default_numbers, grouped, grouped_with_setdefault, labelled),
    *(constant_keys, remembered, pairs_as_keys, deleted, popped, two_sum, counter),
    *(comprehension, keys_of_two_types),
]


@pytest.mark.parametrize("function", PROGRAMS)
def test_as_python(function: Callable[..., Any]) -> None:
    check(function, (X,), (X[:17],), (X[::-1].copy(),))


@pytest.mark.parametrize("function", [counted, grouped, deleted])
def test_compiled(function: Callable[..., Any]) -> None:
    check(function, (X,), jit=True)


def test_dictionaries_get_room() -> None:
    fused = decorate(labelled, jit=True)
    for count in (10, 5000, 200, 100_000):
        x = np.random.default_rng(count).permutation(count)
        ours, theirs = fused(x), labelled(x)
        np.testing.assert_array_equal(ours[0], theirs[0])
        assert [*ours[1].items()] == [*theirs[1].items()]
    assert len(fused.variants) == 1


# ------------------------------------------------------------------------------------------ errors
def missing(x: Any) -> Any:
    found = {}
    for v in x:
        found[v] = found[v + 1]
    return found


def missing_to_delete(x: Any) -> Any:
    found = {1: 2}
    for v in x:
        del found[v + 100]
    return found


def changed_while_run_over(x: Any) -> Any:
    found = {0: 1}
    for key in found:
        if x[key] >= 0:
            found[key + 1] = key
    return found


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
@pytest.mark.parametrize("function", [missing, missing_to_delete, changed_while_run_over])
def test_errors(function: Callable[..., Any]) -> None:
    fused = decorate(function, jit=False)
    with pytest.raises((KeyError, RuntimeError)) as wanted:
        function(X)
    with pytest.raises(wanted.type) as raised:
        fused(X)
    assert str(raised.value) == str(wanted.value)


# ---------------------------------------------------------------------------------- left to Python
def float_keys(x: Any) -> Any:
    found = {}
    for v in x:
        found[v * 0.5] = v
    return found


def two_names(x: Any) -> Any:
    found: dict[Any, Any] = {}
    other = found
    for v in x:
        found[v] = 1
        if v == 3:
            other[100] = 2
    return found, other is found


def counter_of_more(x: Any) -> Any:
    found: Counter[Any] = Counter()
    for v in x:
        found.update([v, v])
    return found


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
@pytest.mark.parametrize("function", [float_keys, two_names, counter_of_more])
def test_what_is_left_to_python(function: Callable[..., Any]) -> None:
    fused = decorate(function, jit=False)
    for x in (X, X[:20]):
        compare_outcomes(run(function, (x,)), run(fused, (x,)), Bound(), function.__name__)


def test_a_small_call_after_a_large_one() -> None:
    """A table has no more slots in use than its keys need, whatever room other calls have made."""

    def kept(x: Any) -> Any:
        last: dict[Any, Any] = {}
        total = 0
        for i in range(len(x)):
            if x[i] in last and x[i] % 3 == 0:
                del last[x[i]]
            last[x[i]] = i
            total += last.get(x[i] // 2, 0)
        return last, total

    rng = np.random.default_rng(9)
    sizes = (20, 300, 30, 256, 257, 0)
    check(kept, *((rng.integers(0, 2 * n + 1, n),) for n in sizes), variants=None)
    function = decorate(kept, jit=True)
    for n in (20, 5000, 30, 700, 0, 3000, 10):
        x = rng.integers(0, 2 * n, n)
        compare_outcomes(run(kept, (x,)), run(function, (x,)), Bound(), "kept")


def inserted_again(x: Any) -> Any:
    d = dict.fromkeys(x.tolist(), 1)
    for k in d:
        if k == x[0]:
            del d[k]
            d[k] = 1
    return d


def inserted_again_after_a_list(x: Any) -> Any:
    d = {}
    for v in x:
        d[v] = 1
    for k in list(d):
        del d[k]
        d[k] = 2
    return d


def one_list_for_all(x: Any) -> Any:
    d = {key: [] for key in range(len(x))}
    d[0].append(1)
    return d


def one_number_for_all(x: Any) -> Any:
    d = dict.fromkeys(range(len(x)), 0)
    for i in range(len(x)):
        d[i] += x[i]
    return d


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
@pytest.mark.parametrize(
    "function",
    [inserted_again, inserted_again_after_a_list, one_list_for_all, one_number_for_all],
)
def test_keys_of_a_loop_and_values_of_all(function: Callable[..., Any]) -> None:
    compiled = decorate(function, jit=False, tiering=False)
    for x in (X[:20], X[:30], X[5:25]):
        compare_outcomes(run(function, (x,)), run(compiled, (x,)))
