"""Tuples that hold tuples or None, carried by loops and conditionals.

Where one branch held ``(0, None)`` and the other ``(d, point)``, the tracer asked for an item of
None by its name, an internal error; a loop over such tuples was read item by item.
"""

import pytest

from fusejit_testing.oracle import decorate


def farthest_pair(points):
    best = (0, None, None)
    for i, a in enumerate(points):
        for b in points[i + 1 :]:
            d = (a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2
            if d > best[0]:
                best = (d, a, b)
    return best


def largest(points):
    best = (0, None)
    for a in points:
        if a[0] > best[0]:
            best = (a[0], a)
    return best


def nearest_neighbours(points):
    low = None
    for a, b in zip(points, points[1:]):  # noqa: B905, RUF007
        if low is None or a[0] + b[0] < low[0]:
            low = (a[0] + b[0], (a, b))
    return low


def deep(points):
    found = None
    for a in points:
        if a[1] > 50:
            found = (a[0], (a[1], (a, a[0] > 9)))
        elif a[0] > 90:
            found = None
    return found, found is None


def both_branches(points):
    out = []
    for a in points:
        if a[0] > 50:
            pair = (a, None)
        elif a[1] > 50:
            pair = (None, a)
        else:
            pair = (a, a)
        left, right = pair
        out.append(0 if left is None else left[0])
        out.append(-1 if right is None else right[1])
    return out


POINTS = [((37 * k) % 101, (53 * k * k) % 97) for k in range(1, 80)]


@pytest.mark.parametrize(
    "function", [farthest_pair, largest, nearest_neighbours, deep, both_branches]
)
def test_as_python(function):
    compiled = decorate(function, jit=False, fullgraph=True, tiering=False)
    inputs = [POINTS, [(x / 2, float(y)) for x, y in POINTS], POINTS[:9], POINTS[5:6] * 7]
    for points in [*inputs, *inputs]:
        assert repr(compiled(points)) == repr(function(points))
    assert len(compiled.variants) <= 3
