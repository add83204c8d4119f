"""Polygons: area, centroid, hull-like checks, and points inside, one at a time."""

import sys

import numpy as np

tests = int(sys.argv[1]) if len(sys.argv) > 1 else 60

angles = np.linspace(0, 2 * np.pi, 25)[:-1]
radii = np.where(np.arange(24) % 2 == 0, 1.0, 0.55)
polygon = np.column_stack([radii * np.cos(angles), radii * np.sin(angles)])


def area(p):
    x, y = p.T
    return 0.5 * np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y)


def contains(p, point):
    x, y = point
    x1, y1 = p[:, 0], p[:, 1]
    x2, y2 = np.roll(x1, -1), np.roll(y1, -1)
    crosses = (y1 > y) != (y2 > y)
    at = x1[crosses] + (y - y1[crosses]) / (y2[crosses] - y1[crosses]) * (x2 - x1)[crosses]
    return np.count_nonzero(at > x) % 2 == 1


def distance_to_edges(p, point):
    a, b = p, np.roll(p, -1, axis=0)
    ab = b - a
    t = np.clip(((point - a) * ab).sum(axis=1) / (ab**2).sum(axis=1), 0, 1)
    return np.sqrt(((a + t[:, None] * ab - point) ** 2).sum(axis=1)).min()


rng = np.random.default_rng(0)
inside = 0
nearest = np.inf
total = 0.0
for _ in range(tests):
    point = rng.uniform(-1, 1, 2)
    if contains(polygon, point):
        inside += 1
    d = distance_to_edges(polygon, point)
    nearest = min(nearest, d)
    total += d

print(f"area {area(polygon):.12g}, estimated {4 * inside / tests:.10g}")
print(f"mean distance {total / tests:.12g}, nearest {nearest:.10g}")
print("inside:", inside)
