"""Arrays that loops and branches bind again, while something else than a name holds the first one.

Stores behind the loop, or in the branch that did not bind it, go to the array that is held.
"""

import functools

import numpy as np
import pytest

from fusejit_testing.oracle import compare_outcomes, decorate, run


class Box:
    def __init__(self, a):
        self.a = a

    def get(self):
        return self.a


def closed_over(a):
    def inner():
        return a

    return inner


def generated(a):
    yield a


HOLDERS = {
    "a partial": (lambda a: functools.partial(np.sum, a), lambda held: held()),
    "a default value": (lambda a: lambda b=a: b, lambda held: held()),
    "a cell": (closed_over, lambda held: held()),
    "a bound method": (lambda a: a.sum, lambda held: held()),
    "an object's method": (lambda a: Box(a).get, lambda held: held()),
    "an object": (Box, lambda held: held.a),
    "a list": (lambda a: [[a]], lambda held: held[0][0]),
    "a zip": (lambda a: zip([a], [1], strict=True), lambda held: next(held)[0]),
    "an enumerate": (lambda a: enumerate([a]), lambda held: next(held)[1]),
    "a map": (lambda a: map(np.sum, [a]), next),
    "a generator": (generated, next),
    "a name": (lambda a: a, lambda held: held),
}


def a_loop_that_may_not_run(u, hold, read):
    a = np.zeros(len(u))
    held = hold(a)
    for _ in range(int(u[0])):
        a = a * 2 + 1
    a[0] = 7
    return read(held)


def a_while_loop(u, hold, read):
    a = np.zeros(len(u))
    held = hold(a)
    k = 0
    while u[k] < 1:
        a = a + 1
        k += 1
    a[0] = 5
    return read(held)


def a_branch(u, hold, read):
    a = np.zeros(len(u))
    held = hold(a)
    if u[1] > 30:
        a = a + 1
    a[0] = 5
    return read(held)


def a_part_of_it(u, hold, read):
    a = np.zeros(len(u))
    held = hold(a)
    for i in range(len(u) // 2):
        a = a[1:]
        a[0] = i + 1
    return read(held)


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
@pytest.mark.parametrize("holder", HOLDERS)
@pytest.mark.parametrize(
    "function", [a_loop_that_may_not_run, a_while_loop, a_branch, a_part_of_it]
)
def test_as_numpy(function, holder):
    hold, read = HOLDERS[holder]

    def program(u):
        return function(u, hold, read)

    compiled = decorate(program, jit=False, tiering=False)
    for u in (np.arange(10.0), np.arange(3.0, 18.0), np.arange(11.0), np.arange(40.0, 52.0)):
        compare_outcomes(run(program, (u,)), run(compiled, (u,)))
