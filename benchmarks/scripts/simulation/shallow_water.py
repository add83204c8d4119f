"""Shallow water in a periodic basin, Lax-Friedrichs."""

import sys

import numpy as np

n = int(sys.argv[1]) if len(sys.argv) > 1 else 40
g = 9.81
dx = 1.0
steps = 12

yy, xx = np.mgrid[0:n, 0:n] / n
h = 1.0 + 0.3 * np.exp(-100 * ((xx - 0.5) ** 2 + (yy - 0.4) ** 2))
hu = np.zeros((n, n))
hv = np.zeros((n, n))


def mean_of_neighbours(q):
    return 0.25 * (
        np.roll(q, 1, axis=0) + np.roll(q, -1, axis=0) + np.roll(q, 1, axis=1) + np.roll(q, -1, 1)
    )


def ddx(q):
    return (np.roll(q, -1, axis=1) - np.roll(q, 1, axis=1)) / (2 * dx)


def ddy(q):
    return (np.roll(q, -1, axis=0) - np.roll(q, 1, axis=0)) / (2 * dx)


total = h.sum()
time = 0.0
for _ in range(steps):
    u, v = hu / h, hv / h
    speed = np.sqrt(u**2 + v**2) + np.sqrt(g * h)
    dt = 0.3 * dx / speed.max()
    pressure = 0.5 * g * h**2
    new_h = mean_of_neighbours(h) - dt * (ddx(hu) + ddy(hv))
    new_hu = mean_of_neighbours(hu) - dt * (ddx(hu * u + pressure) + ddy(hu * v))
    new_hv = mean_of_neighbours(hv) - dt * (ddx(hv * u) + ddy(hv * v + pressure))
    h, hu, hv = new_h, new_hu, new_hv
    time += dt

print(f"time {time:.12g}")
print("mass is conserved:", bool(abs(h.sum() - total) < 1e-8 * total))
print(f"height {h.min():.12g} to {h.max():.12g}")
print(f"kinetic energy {0.5 * np.sum((hu**2 + hv**2) / h):.12g}")
