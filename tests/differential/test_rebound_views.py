"""Loops that bind a name to a part of what it held: stores go to the memory of the first array."""

import numpy as np
import pytest

from fusejit_testing.oracle import decorate


class State:
    def __init__(self, u):
        self.u = u


def tail(u):
    for _ in range(len(u) // 2):
        u = u[1:]
        u[0] = 7
    return u


def tail_that_is_stored_later(u):
    v = u
    for _ in range(len(u) // 2):
        v = v[1:]
    v[0] = 5
    return u, v


def tail_alone(u):
    for _ in range(len(u) // 2):
        u = u[1:]
    return u


def of_an_attribute(u):
    state = State(u)
    for _ in range(len(u) // 2):
        state.u = state.u[1:]
        state.u[0] = 7
    return state.u


def by_another_name(u):
    v = u
    for _ in range(len(u) // 2):
        w = v[1:]
        v = w
        w[0] = 3
    return v


def of_an_own_array(u):
    v = u * 2
    keep = v
    for _ in range(len(u) // 2):
        v = v[1:]
        v[0] = 3
    return v, keep


def from_both_ends(u):
    while len(u) > 2:
        u = u[1:-1]
        u[0] += 1
    return u


def shortened_by_elements(u):
    k = len(u)
    for _ in range(len(u)):
        if u[0] > -1 and k > 2:
            k -= 1
        u = u[:k]
        u[0] += 1
    return u


def reversed_each_time(u):
    for i in range(len(u) // 2):
        u = u[::-1]
        u[0] = i
    return u


def in_an_inner_loop(u):
    for _ in range(len(u) // 2):
        for _ in range(len(u) % 2 + 1):
            u = u[1:] if len(u) > 2 else u
        u[0] = 7
    return u


def with_the_one_before(u):
    for _ in range(len(u) // 2):
        u, v = u[1:], u
        u[0] = v[0] + 1
    return u


def columns(u):
    m = u[: len(u) // 2 * 2].reshape(2, -1)
    for _ in range(len(u) // 4):
        m = m[:, 1:]
        m[0, 0] = 7
    return m


def new_ones(u):
    for _ in range(len(u) // 2):
        u = u[1:] + 1
        u[0] = 9
    return u


def held_by_an_object(u):
    state = State(np.zeros(len(u)))
    a = state.u
    for i in range(len(u) // 2):
        a = a[1:]
        a[0] = i + 1
    return state.u


def held_deeply(u):
    state, outer = State([np.zeros(len(u))]), State(None)
    outer.u = state
    a = state.u[0]
    state = None
    for i in range(len(u) // 2):
        a = a[1:]
        a[0] = i + 1
    return outer.u.u[0]


def chosen_and_held(u):
    state = State(np.zeros(len(u)))
    a = state.u
    for i in range(len(u)):
        if u[i] > 4:
            a = u * 2
        a[0] = i
    return state.u, a


FUNCTIONS = [
    *(tail, tail_that_is_stored_later, tail_alone, of_an_attribute, by_another_name),
    *(of_an_own_array, from_both_ends, shortened_by_elements, reversed_each_time),
    *(in_an_inner_loop, with_the_one_before, columns, new_ones, held_by_an_object),
    *(held_deeply, chosen_and_held),
]


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
@pytest.mark.parametrize("function", FUNCTIONS)
def test_as_numpy(function):
    compiled = decorate(function, jit=False, tiering=False)
    for n in (10, 15, 11, 24):
        ours, theirs = np.arange(float(n)), np.arange(float(n))
        found, expected = (
            [*r] if isinstance(r, tuple) else [r] for r in (compiled(ours), function(theirs))
        )
        assert repr(found) == repr(expected)
        assert ours.tolist() == theirs.tolist()
        shared = [np.shares_memory(one, theirs) for one in expected]
        assert [np.shares_memory(one, ours) for one in found] == shared


def given_to_an_attribute(state):
    state.v = np.zeros(len(state.u))
    a = state.v
    for i in range(len(state.u) // 2):
        a = a[1:]
        a[0] = i + 1
    return a


def part_of_an_attribute(state):
    state.v = state.u * 1
    before = state.v
    for i in range(len(state.u) // 2):
        state.v = state.v[1:]
        state.v[0] = i + 1
    return before


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
@pytest.mark.parametrize("function", [given_to_an_attribute, part_of_an_attribute])
def test_attributes_of_objects_from_outside(function):
    compiled = decorate(function, jit=False, tiering=False)
    for n in (10, 15, 24):
        ours, theirs = State(np.arange(float(n))), State(np.arange(float(n)))
        assert compiled(ours).tolist() == function(theirs).tolist()
        assert ours.u.tolist() == theirs.u.tolist()
        assert ours.v.tolist() == theirs.v.tolist()
