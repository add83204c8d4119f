"""A method that stores into arrays and attributes, and may raise in between: as Python does it.

Kernels write attributes at the end, so where a check fails after stores these are undone, and
Python runs the call. Such methods were left to Python before.
"""

import numpy as np
import pytest

from fusejit_testing.oracle import decorate


class Fluid:
    def __init__(self):
        self.place, self.force = np.linspace(0, 3, 12).reshape(6, 2), np.zeros((6, 2))
        self.energy, self.pairs = 0.0, 0

    def add(self, i, j):
        d = self.place[i] - self.place[j]
        r2 = d[0] ** 2 + d[1] ** 2
        if r2 >= 9.0:
            return
        self.energy += 1 / r2
        self.pairs += 1
        self.force[i] += d
        self.force[j] -= d

    def interact(self, members, others):
        for i in members:
            for j in others:
                if j > i:
                    self.add(i, j)
        return self.pairs


def state(fluid):
    return fluid.force.tolist(), fluid.energy, fluid.pairs


@pytest.mark.filterwarnings("ignore::fusejit.FuseWarning")
def test_as_python():
    compiled = decorate(Fluid.interact, jit=False, tiering=False)
    good = [[0, 1, 2, 3, 4], [1, 2, 3, 4, 5]]
    for members, others in (good, good[::-1], ([0, 1, 2, 3, 7], good[1]), good, ([5, 4], [6, 5])):
        ours, theirs = Fluid(), Fluid()
        outcomes = []
        for function, fluid in ((compiled, ours), (Fluid.interact, theirs)):
            try:
                outcomes.append(function(fluid, members, others))
            except IndexError as error:
                outcomes.append(str(error))
        assert outcomes[0] == outcomes[1]
        assert state(ours) == state(theirs)
    assert len(compiled.variants) == 1
