"""``self.u = array`` and ``self.log = []`` on an object from outside: written with the result."""

import numpy as np
import pytest

from fusejit_testing.oracle import decorate


class Heat:
    def __init__(self, n):
        self.u = np.arange(n) * 0.5 % 3.0 - 1.0
        self.n, self.log, self.time, self.flux = n, [1.0], 0.0, None

    def step(self, _):
        lap = np.zeros_like(self.u)
        lap[1:-1] = self.u[:-2] - 2 * self.u[1:-1] + self.u[2:]
        self.u = self.u + 0.25 * lap
        self.time += 0.5

    def run(self, k):
        for _ in range(k):
            self.step(1)
        return self.u

    def both(self, _):
        self.flux = np.diff(self.u)
        self.u = self.u * 2
        self.u[0] = 5
        return self.flux, self.u

    def one_array_twice(self, _):
        self.flux = self.u
        self.flux[0] += 1
        return self.flux is self.u

    def maybe(self, k):
        if self.u[0] > k - 2:
            self.u = self.u * 0.5
        return self.u[-1]

    def listed(self, _):
        self.log = []
        for i in range(self.n):
            if self.u[i] > 0:
                self.log.append(self.u[i])
        return len(self.log)

    def containers(self, _):
        self.log = (self.u.max(), 3)
        self.flux = {"least": self.u.min(), "all": [self.n, self.u[0]]}
        return self.n

    def in_loops(self, k):
        for i in range(k):
            self.u = np.where(self.u > 0, self.u - 0.25, self.u + 0.25)
            self.flux = self.u * i
        return self.flux if k else None

    def of_argument(self, k):
        extra = np.full(self.n, float(k))
        self.u = extra
        self.u[1] = 3
        return extra


def plain(value):
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    return [*map(plain, value)] if isinstance(value, list | tuple) else value


def seen(heat, result, before):
    """What can be seen after a call: what objects hold, and which arrays are one."""
    arrays = [heat.u, heat.flux, before, *(result if isinstance(result, tuple) else [result])]
    arrays = [one for one in arrays if isinstance(one, np.ndarray)]
    same = [[one is other for other in arrays] for one in arrays]
    shared = [[np.shares_memory(one, other) for other in arrays] for one in arrays]
    return plain([heat.u, heat.flux, heat.log, heat.time, before, result]), same, shared


METHODS = [name for name in vars(Heat) if not name.startswith("_")]


@pytest.mark.parametrize("name", METHODS)
def test_as_python(name):
    method = getattr(Heat, name)
    compiled = decorate(method, jit=False, tiering=False)
    for n, k in ((9, 3), (20, 0), (9, 1), (30, 5), (9, 0), (9, 3)):
        ours, theirs = Heat(n), Heat(n)
        before = ours.u, theirs.u
        for _ in range(2):
            result, expected = compiled(ours, k), method(theirs, k)
            assert seen(ours, result, before[0]) == seen(theirs, expected, before[1])
            assert type(ours.log) is type(theirs.log)
    assert 1 <= len(compiled.variants) <= 4
    assert not compiled.variants.fallbacks


def test_the_very_argument():
    def run(heat, x):
        heat.u = x
        heat.u[1] = 3
        return heat.u

    compiled = decorate(run, jit=False, fullgraph=True, tiering=False)
    for _ in range(2):
        heat, x = Heat(4), np.arange(4.0)
        assert compiled(heat, x) is x
        assert heat.u is x
        assert x[1] == 3


def test_an_error_leaves_what_python_leaves():
    def run(heat, k):
        heat.u = heat.u + 1
        heat.flux[k] = 2.0
        heat.time = 7.0

    compiled = decorate(run, jit=False, tiering=False)
    for k in (0, 8, 9, -10, 3):
        ours, theirs = Heat(9), Heat(9)
        ours.flux, theirs.flux = np.zeros(9), np.zeros(9)
        outcomes = []
        for function, heat in ((compiled, ours), (run, theirs)):
            try:
                outcomes.append(function(heat, k))
            except IndexError as error:
                outcomes.append(str(error))
        assert outcomes[0] == outcomes[1]
        assert plain([ours.u, ours.flux, ours.time]) == plain([theirs.u, theirs.flux, theirs.time])
