"""A timed trial computes no call twice that writes to lists, attributes or objects with its result.

Such writes are in no graph: the trial took the calls for repeatable, and each counted twice.
"""

import numpy as np
import pytest

from fusejit.segments.find_dispatcher import dispatcher_of
from fusejit.tiering.cost_estimate import CostEstimate
from fusejit_testing.oracle import decorate


class One:
    def __init__(self, k):
        self.n = k

    def __repr__(self):
        return f"One({self.n})"


class Counter:
    def __init__(self, n):
        self.counts, self.total = np.zeros(n, np.int64), 0

    def __repr__(self):
        return f"Counter({self.counts.tolist()}, {self.total})"


def objects(ones, k):
    for one in ones:
        one.n += k


def items(xs, k):
    for i in range(len(xs)):
        xs[i] += k


def attribute(counter, k):
    counter.counts = counter.counts + k
    for i in range(9):
        counter.counts[i] += i


CASES = [
    (objects, lambda: [One(k) for k in range(9)]),
    (items, lambda: [*range(9)]),
    (attribute, lambda: Counter(9)),
]


@pytest.mark.parametrize(("function", "make"), CASES)
def test_each_call_counts_once(function, make):
    compiled = decorate(function, jit=False, tiering=False)
    ours, theirs = make(), make()
    compiled(ours, 1)
    function(theirs, 1)
    state = dispatcher_of(compiled)
    (variant,) = compiled.variants.compiled
    state.tiering.try_out(variant, CostEstimate(1.0, 1.0, is_scalar=True, is_conditional=False))
    state.entry_stub.install_launcher(state.tiering.launcher_of(variant))
    for k in range(80):
        compiled(ours, k)
        function(theirs, k)
        assert repr(ours) == repr(theirs)
    assert not state.tiering.timed_trials
