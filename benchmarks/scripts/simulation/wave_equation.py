"""A drum: the wave equation in two dimensions by leapfrog, with a damped margin."""

import sys

import numpy as np

n = int(sys.argv[1]) if len(sys.argv) > 1 else 50
c, dt, dx = 1.0, 0.5, 1.0

x = np.linspace(-1, 1, n)
X, Y = np.meshgrid(x, x)
previous = np.exp(-40 * ((X - 0.2) ** 2 + Y**2))
current = previous.copy()
damping = 1 - 0.05 * (np.maximum(abs(X), abs(Y)) > 0.9)


def laplacian(u):
    lap = np.zeros_like(u)
    lap[1:-1, 1:-1] = (
        u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4.0 * u[1:-1, 1:-1]
    ) / dx**2
    return lap


def energy(u, v):
    kinetic = 0.5 * np.sum(((u - v) / dt) ** 2)
    potential = 0.5 * c**2 * (np.sum(np.diff(u, axis=0) ** 2) + np.sum(np.diff(u, axis=1) ** 2))
    return kinetic + potential


for step in range(30):
    following = 2 * current - previous + (c * dt) ** 2 * laplacian(current)
    following *= damping
    following[0] = following[-1] = 0
    following[:, 0] = following[:, -1] = 0
    previous, current = current, following

print(f"energy {energy(current, previous):.12g}")
print(f"peak {current.max():.12g} trough {current.min():.12g}")
print("peak at", np.unravel_index(np.argmax(current), current.shape))
