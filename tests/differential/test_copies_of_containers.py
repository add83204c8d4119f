"""``copy.copy`` of containers and objects, and methods of containers that come without them."""

import copy
import operator
import types

import numpy as np
import pytest

from fusejit_testing.oracle import decorate


class Point:
    def __init__(self, x):
        self.x, self.marks, self.u = x, [x], np.arange(3.0) + x

    def __repr__(self):
        return f"Point({self.x}, {self.marks}, {self.u})"


def copied_list(p):
    c = copy.copy(p.marks)
    c.append(5)
    return c


def copied_lists(p):
    made = [i for i in range(p.x)]  # noqa: C416
    c = copy.copy(made)
    c.append(5)
    return made, c, copy.copy((1, p.x)), copy.copy("a")


def copied_dict_and_set(p):
    d, s = {}, set()
    for i in range(p.x):
        d[i % 3] = i
        s.add(i % 4)
    e, t = copy.copy(d), copy.copy(s)
    e[7] = 1
    t.add(9)
    return d, e, s, t


def copied_object(p):
    q = copy.copy(p)
    q.marks.append(1)
    q.u[0] += 1
    q.x = 5
    return q


def deeply_copied_object(p):
    q = copy.deepcopy(p)
    q.marks.append(1)
    q.u[0] += 1
    return q


def deeply_copied_list(p):
    made = [[i] for i in range(p.x)]
    c = copy.deepcopy(made)
    c[0].append(5)
    return made, c


def copied_array(p):
    u, v = copy.copy(p.u), copy.deepcopy(p.u)
    u[0] = v[1] = 7
    return u, v


def by_getter(p):
    operator.attrgetter("marks")(p).append(1)


def by_values(p):
    list(vars(p).values())[1].append(12)


def by_namespace(p):
    types.SimpleNamespace(**vars(p)).marks.append(8)


FUNCTIONS = [
    *(copied_list, copied_lists, copied_dict_and_set, copied_object, deeply_copied_object),
    *(deeply_copied_list, copied_array, by_getter, by_values, by_namespace),
]


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
@pytest.mark.parametrize("function", FUNCTIONS)
def test_as_python(function):
    compiled = decorate(function, jit=False, tiering=False)
    for x in (6, 9, 3):
        ours, theirs = Point(x), Point(x)
        for _ in range(2):
            assert repr(compiled(ours)) == repr(function(theirs))
            assert repr(ours) == repr(theirs)
    assert "internal error" not in repr(compiled.variants)


def one(score, xs):
    return score(xs[1])


def best(score, xs):
    return max(xs, key=score)


def total(score, xs):
    found = 0
    for x in xs:
        found += score(x)
    return found


def listed(score, xs):
    return [score(x) for x in xs], list(map(score, xs))


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
@pytest.mark.parametrize("function", [one, best, total, listed])
@pytest.mark.parametrize("kind", [dict, list])
def test_methods_that_come_alone(function, kind):
    """What ``counts.get`` returns changes with the dictionary, which no guard has seen."""
    compiled = decorate(function, jit=False, tiering=False)
    held = {1: 3, 2: 1, 3: 2} if kind is dict else [9, 3, 1, 2]
    score = held.get if kind is dict else held.__getitem__
    for k in range(4):
        assert compiled(score, [1, 2, 3]) == function(score, [1, 2, 3])
        held[1 + k % 3] += 2 + k
