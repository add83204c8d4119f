"""What programs do with ranges, views of dictionaries and deques besides running over them."""
# ruff: noqa: RUF005  # as people write it, too

from collections import deque

import pytest

from fusejit_testing.oracle import compare_outcomes, decorate, run


def equal_ranges(n):
    return range(n) == range(0, n), range(n) != range(0, n + 1), [range(n)] == [range(0, n)]


def parts_of_ranges(n):
    r = range(n)
    return r[-1], r.start, r.stop, r.step, list(r[1:3]), r.index(2), r.count(2)


def equal_views(n):
    d = {i: i for i in range(n)}
    e = {i: 0 for i in range(n)}  # noqa: C420
    return (
        *(d.keys() == e.keys(), d.keys() != e.keys(), d.keys() == set(range(n))),
        *(d.items() == e.items(), d.values() == d.values(), (1, 1) in d.items(), 1 in d.values()),
    )


def views_beside_sets(n):
    return {n: 1}.keys() == {n}, {n: 1}.items() == {(n, 1)}, hash(range(n)) == hash(range(0, n))


def operators_of_views(n):
    d = {i: i for i in range(n)}
    e = {i + 2: 0 for i in range(n)}
    return d.keys() | e.keys(), d.keys() & e.keys(), d.keys() - e.keys(), d.keys() <= e.keys()


def equal_deques(n):
    d = deque()
    for k in range(n):
        d.append(k)
    items = [k for k in range(n)]  # noqa: C416
    return d == deque(d), d == items, items == d, d != items, [d] == [items], deque([n]) == [n]


def operators_of_deques(n):
    d = deque()
    for k in range(n):
        d.append(k)
    return d + deque([1]), d * 2, d.copy()


def largest(n):
    return max(n)


def without_a_part(n):
    d = deque()
    for k in range(n):
        d.append(k)
    del d[1:2]
    return d


def joined_to_a_list(n):
    d = deque()
    for k in range(n):
        d.append(k)
    return [1] + d


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
@pytest.mark.parametrize(
    "function",
    [
        *(equal_ranges, parts_of_ranges, equal_views, operators_of_views, views_beside_sets),
        *(equal_deques, operators_of_deques, largest, without_a_part, joined_to_a_list),
    ],
)
def test_as_python(function):
    compiled = decorate(function, jit=False, tiering=False)
    for n in (6, 9, 4):
        compare_outcomes(run(function, (n,)), run(compiled, (n,)))
    assert "internal error" not in repr(compiled.variants)
