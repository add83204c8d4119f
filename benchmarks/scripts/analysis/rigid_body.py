"""Small geometry: rotate boxes, find their bounds, and test pairs for overlap."""

import sys

import numpy as np

count = int(sys.argv[1]) if len(sys.argv) > 1 else 40

corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)


def rotation(axis, angle):
    axis = axis / np.linalg.norm(axis)
    x, y, z = axis
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * (K @ K)


def separated(p, q, axes):
    for axis in axes:
        a, b = p @ axis, q @ axis
        if a.max() < b.min() or b.max() < a.min():
            return True
    return False


rng = np.random.default_rng(0)
boxes = []
low, high = np.full(3, np.inf), np.full(3, -np.inf)
for _ in range(count):
    M = rotation(rng.standard_normal(3), rng.uniform(0, np.pi))
    size = rng.uniform(0.2, 1.0, 3)
    points = (corners * size) @ M.T + rng.uniform(-3, 3, 3)
    low = np.minimum(low, points.min(axis=0))
    high = np.maximum(high, points.max(axis=0))
    boxes.append((points, M))

overlaps = 0
for (p, M), (q, N) in zip(boxes[:-1], boxes[1:]):
    if not separated(p, q, np.concatenate([M.T, N.T])):
        overlaps += 1

print("bounds:", *(f"{v:.10g}" for v in np.concatenate([low, high])))
print("overlaps of neighbours:", overlaps)
centre = np.mean([points.mean(axis=0) for points, _ in boxes], axis=0)
print("centre:", *(f"{v:.10g}" for v in centre))
print(f"determinant {np.linalg.det(boxes[-1][1]):.10g}")
