"""Burgers' equation in one dimension: upwind fluxes and a shock."""

import sys

import numpy as np

n = int(sys.argv[1]) if len(sys.argv) > 1 else 3000
x = np.linspace(0.0, 2 * np.pi, n, endpoint=False)
dx = x[1] - x[0]
u = np.sin(x) + 0.5
nu = 0.0


def flux(ul, ur):
    """Godunov's flux of u^2/2."""
    fl, fr = 0.5 * ul**2, 0.5 * ur**2
    shock = np.where(ul + ur > 0, fl, fr)
    fan = np.where(ul > 0, fl, np.where(ur < 0, fr, 0.0))
    return np.where(ul > ur, shock, fan)


t = 0.0
for _ in range(25):
    dt = 0.4 * dx / np.abs(u).max()
    right = np.roll(u, -1)
    f = flux(u, right)
    u = u - dt / dx * (f - np.roll(f, 1))
    t += dt

print(f"t = {t:.12g}")
print(f"mean {u.mean():.12g}, range {u.min():.12g} .. {u.max():.12g}")
print(f"steepest {np.diff(u).min() / dx:.8g}")
print("falling cells:", int(np.sum(np.diff(u) < 0)))
