"""The solar system's outer planets by leapfrog: small arrays, many steps."""

import sys

import numpy as np

steps = int(sys.argv[1]) if len(sys.argv) > 1 else 100
G = 2.95912208286e-4
names = ["Sun", "Jupiter", "Saturn", "Uranus", "Neptune"]
m = np.array(
    [1.00000597682, 9.54786104043e-4, 2.85583733151e-4, 4.37273164546e-5, 5.17759138449e-5]
)
a = np.array([0.0, 5.2, 9.55, 19.2, 30.1])

q = np.zeros((5, 3))
v = np.zeros((5, 3))
q[:, 0] = a
q[:, 2] = 0.02 * a
v[1:, 1] = np.sqrt(G * m[0] / a[1:])
v -= (m[:, None] * v).sum(axis=0) / m.sum()


def acceleration(q):
    d = q[None, :, :] - q[:, None, :]
    r2 = (d**2).sum(axis=2)
    np.fill_diagonal(r2, 1.0)
    return G * (d * (m[None, :, None] / r2[:, :, None] ** 1.5)).sum(axis=1)


def energy(q, v):
    kinetic = 0.5 * (m * (v**2).sum(axis=1)).sum()
    i, j = np.triu_indices(5, 1)
    return kinetic - (G * m[i] * m[j] / np.linalg.norm(q[i] - q[j], axis=1)).sum()


h = 4000.0 / steps  # days
before = energy(q, v)
acc = acceleration(q)
for _ in range(steps):
    v += 0.5 * h * acc
    q += h * v
    acc = acceleration(q)
    v += 0.5 * h * acc

print("energy is kept:", bool(abs(energy(q, v) / before - 1) < 1e-2))
for name, position in zip(names, q):
    print(f"{name:8s}", *(f"{p:.10g}" for p in position))
