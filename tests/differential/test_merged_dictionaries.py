"""Dictionaries joined with ``|``, ``|=``, ``update``, ``{**a, **b}``, and copies of them."""

from collections import Counter, OrderedDict, defaultdict

import numpy as np
import pytest

from fusejit_testing.oracle import compare_outcomes, decorate, run

NAMES = {"a": 1, "b": 2}


def filled(x, size):
    d = {}
    for i in range(len(x)):
        d[i % size] = x[i]
    return d


def joined_in_place(x):
    d = {}
    for i in range(len(x)):
        d |= {i % 3: x[i]}
    return d


def joined_with_pairs(x):
    d = {}
    for i in range(len(x)):
        d |= [(i % 3, x[i])]
        d.update(zip(range(i), range(1, i + 1), strict=True))
    d.update(c=5)
    return d


def joined_anew(x):
    d = {}
    for i in range(len(x)):
        d = d | {i % 3: x[i]}
    return d


def both_orders(x):
    d, e = filled(x, 3), filled(x, 5)
    return d | e, e | d, {0: 1.5, 70: 2.5} | d, d | {0: 1.5, 70: 2.5}


def seen_by_both_names(x):
    d, e = {}, {}
    for i in range(len(x)):
        d[i % 3] = i
        e[i % 5] = 2 * i
    f = d
    d |= e
    d[77] = 1
    d |= d
    return f, e, f is d


def unpacked(x):
    d = filled(x, 4)
    return {**d, 5: 7}, {5: 7, **d}, {**d}, {**d, **{1: 2.0}}, {**{}, 1: 2.0, **d, 3: 4.0, **d}


def unpacked_and_changed(x):
    d = {"a": 1}
    e = {**d, "b": 2}
    f = {**NAMES, "c": 3}
    for i in range(len(x)):
        e["c"] = i
        f["a"] += i
    return d, e, f, NAMES


def unpacked_in_order(x):
    d = {"z": 1}
    return {**d, "k": d.pop("z"), **d}, x.sum()


def unpacked_in_a_loop(x):
    d = {}
    for i in range(len(x)):
        d = {**d, i % 3: x[i]}
    return d


def unpacked_ordered(x):
    return {**OrderedDict(a=1), "b": x.sum()}


def copies(x):
    d, best, longest = {}, {}, -1
    for i in range(len(x)):
        d[i % 5] = x[i]
        if len(d) > longest:
            best = d.copy()
            longest = len(d)
    best[99] = 1.0
    d.pop(3, None)
    e = d.copy()
    e[3] = 1.0
    return best, d, e, {**d}, d | {3: 2.0}, dict(d)


def copies_of_others(x):
    c, d = Counter(), defaultdict(int)
    for i in range(len(x)):
        c[i % 3] += 1
        d[i % 4] += i
    e, f = c.copy(), d.copy()
    e[0] += 5
    f[17] += 1
    return c, d, e, f, e[1000], f[1000]


COMPILED = [
    *(joined_in_place, joined_with_pairs, joined_anew, both_orders, seen_by_both_names, unpacked),
    *(unpacked_and_changed, unpacked_in_order, unpacked_in_a_loop, unpacked_ordered),
    *(copies, copies_of_others),
]


@pytest.mark.parametrize("function", COMPILED)
def test_as_python(function):
    compiled = decorate(function, jit=False, tiering=False)
    for n in (9, 20, 5, 1, 0):
        x = np.arange(n) * 0.3 + 0.1
        for _ in range(2):
            assert repr(compiled(x)) == repr(function(x))
    assert 1 <= len(compiled.variants) <= 3


def counters(x):
    c, d = Counter(), Counter()
    for i in range(len(x)):
        c[i % 4] += i
        d[i % 3] += 2 * i
    c |= d
    return c, c | d, c & d


def default_dictionaries(x):
    d, e = defaultdict(int), defaultdict(int)
    for i in range(len(x)):
        d[i % 4] += i
        e[i % 3] += 2 * i
    f = d | e
    f[100] += 1
    d |= e
    return d, e, f


def with_a_list(x):
    d = filled(x, 3)
    return d | [(1, 2)]


def with_a_number(x):
    d = filled(x, 3)
    d |= 3
    return d


def no_mapping(x):
    return {**x}


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
@pytest.mark.parametrize(
    "function", [counters, default_dictionaries, with_a_list, with_a_number, no_mapping]
)
def test_left_to_python(function):
    compiled = decorate(function, jit=False, tiering=False)
    x = np.arange(9) * 0.3
    for _ in range(3):
        compare_outcomes(run(function, (x,)), run(compiled, (x,)))
    assert "internal error" not in repr(compiled.variants)
