"""Deques that a function makes, as queues, stacks and windows."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fusejit_testing.oracle import check, compare_outcomes, decorate, run

RNG = np.random.default_rng(6)


def grid(n: int, m: int) -> Any:
    walls = (RNG.random((n, m)) < 0.25).astype(int)
    walls[0, 0] = 0
    return walls


CALLS = [(grid(3, 4),), (grid(5, 5),), (grid(1, 1),)]
LARGE = [(grid(9, 9),), (grid(25, 30),), (grid(1, 1),)]


def distances(g: Any) -> Any:
    n, m = g.shape
    dist = np.full((n, m), -1)
    q = deque()
    q.append((0, 0))
    dist[0, 0] = 0
    while q:
        r, c = q.popleft()
        for dr, dc in ((0, 1), (1, 0), (0, -1), (-1, 0)):
            a, b = r + dr, c + dc
            if 0 <= a < n and 0 <= b < m and g[a, b] == 0 and dist[a, b] < 0:
                dist[a, b] = dist[r, c] + 1
                q.append((a, b))
    return dist


def visited(g: Any) -> Any:
    n = g.shape[0]
    seen = [False] * n
    order = []
    queue = deque([0])
    seen[0] = True
    while queue:
        u = queue.popleft()
        order.append(u)
        for v in range(n):
            if g[u % g.shape[0], v % g.shape[1]] == 0 and not seen[v]:
                seen[v] = True
                queue.append(v)
    return order


def moving_mean(g: Any) -> Any:
    x = g.ravel()
    k = 3
    q = deque()
    total = 0
    out = []
    for i in range(len(x)):
        q.append(x[i])
        total += x[i]
        if len(q) > k:
            total -= q.popleft()
        out.append(total / len(q))
    return out


def sliding_max(g: Any) -> Any:
    x = g.ravel()
    k = 4
    q = deque()
    out = []
    for i in range(len(x)):
        while q and x[q[-1]] <= x[i]:
            q.pop()
        q.append(i)
        if q[0] <= i - k:
            q.popleft()
        if i >= k - 1:
            out.append(x[q[0]])
    return out


def round_robin(g: Any) -> Any:
    q = deque(range(7))
    t = 0
    for i in range(g.size * 100):
        v = q.popleft()
        t += v * (i % 5)
        q.append(v)
    return t


def josephus(g: Any) -> Any:
    q = deque(range(1, g.size + 1))
    out = []
    while len(q) > 1:
        q.rotate(-2)
        out.append(q.popleft())
    return out


def both_ends(g: Any) -> Any:
    q = deque()
    s = 0
    for i in range(g.size):
        if i % 3 == 0:
            q.appendleft(i)
        elif i % 3 == 1:
            q.append(i)
        else:
            s += q.pop() if i % 2 else q.popleft()
    return s, len(q), list(q)


def popped_too_often(g: Any) -> Any:
    q = deque()
    n = 0
    for _i in range(g.size):
        if g[0, 0] < 99:
            q.popleft()
        n += 1
    return n


def without_a_loop(g: Any) -> Any:
    q = deque([1, 2])
    q.append(3)
    return g * len(q) + q[0]


def waiting_times(g: Any) -> Any:
    q = deque()
    waits = []
    for t in range(g.size):
        if t % 3:
            q.append(t)
        if q and t % 2:
            waits.append(t - q.popleft())
    return waits, sum(waits)


def bounded(g: Any) -> Any:
    q = deque(maxlen=3)
    out = []
    for i in range(g.size):
        q.append(i)
        out.append(sum(q))
    return out


def returned_deque(g: Any) -> Any:
    q = deque()
    for i in range(g.size):
        q.append(i)
    return q


def changed_in_a_loop_over_it(g: Any) -> Any:
    q = deque([1, 2, 3])
    for v in q:
        if g.size > 2:
            q.append(v)
    return len(q)


def recent(g: Any) -> Any:
    q = deque()
    n = 0
    for i in range(g.size):
        if i % 4 in q:
            n += 1
        q.append(i % 7)
        if len(q) > 3:
            q.popleft()
    return n, q[0] + q[-1], sum(q), max(q)


def operations(codes: Any) -> Any:
    q: deque[Any] = deque([7])
    seen = []
    for i in range(len(codes)):
        code = codes[i] % 8
        if code < 3:
            q.append(i)
        elif code == 3:
            q.appendleft(i)
        elif code == 4 and len(q) > 0:
            seen.append(q.pop())
        elif code == 5 and len(q) > 1:
            seen.append(q.popleft() + q[-1])
        elif code == 6:
            q.rotate(codes[i] // 8 - 2)
        elif len(q) > 2:
            q[1] = q[-2] + 1
            seen.append(q[1])
    return seen, list(q), len(q)


@pytest.mark.parametrize(
    "function",
    [
        distances,
        visited,
        moving_mean,
        sliding_max,
        round_robin,
        josephus,
        both_ends,
        popped_too_often,
        without_a_loop,
        waiting_times,
        bounded,
        recent,
    ],
)
def test_as_python(function: Callable[..., Any]) -> None:
    check(function, *CALLS, variants=None)


@pytest.mark.parametrize(
    "function",
    [
        distances,
        visited,
        moving_mean,
        sliding_max,
        round_robin,
        josephus,
        both_ends,
        popped_too_often,
        without_a_loop,
        waiting_times,
        bounded,
        recent,
        returned_deque,
        changed_in_a_loop_over_it,
    ],
)
@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
def test_sizes(function: Callable[..., Any]) -> None:
    fused = decorate(function, jit=False)
    for args in LARGE:
        compare_outcomes(run(function, args), run(fused, args))


@pytest.mark.parametrize("function", [distances, round_robin, bounded])
def test_jitted(function: Callable[..., Any]) -> None:
    fused = decorate(function, jit=True, fullgraph=True)
    for args in LARGE:
        compare_outcomes(run(function, args), run(fused, args))


def test_operations_in_any_order() -> None:
    fused = decorate(operations, jit=True, fullgraph=True)
    for size in (0, 1, 5, 40, 40, 40, 300, 2000, 5000):
        args = (RNG.integers(0, 40, size),)
        compare_outcomes(run(operations, args), run(fused, args))
    args = (np.repeat([0, 5], [1000, 900]),)  # most places are left
    compare_outcomes(run(operations, args), run(fused, args))


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
def test_names_of_one_deque() -> None:
    def function(x: Any) -> Any:
        q: deque[Any] = deque()
        r = q
        for i in range(len(x)):
            r.append(x[i])
            if len(q) > 3:
                q = deque([x[i]])
        return list(q), list(r), q is r

    fused = decorate(function, jit=False)
    for size in (2, 3, 9, 30):
        args = (np.arange(size),)
        compare_outcomes(run(function, args), run(fused, args))
