"""Many Lorenz systems at once, Runge-Kutta of order 4."""

import sys

import numpy as np

members = int(sys.argv[1]) if len(sys.argv) > 1 else 500
sigma, rho, beta = 10.0, 28.0, 8.0 / 3.0
dt = 0.005


def lorenz(state):
    x, y, z = state
    return np.array([sigma * (y - x), x * (rho - z) - y, x * y - beta * z])


def rk4_step(f, y, h):
    k1 = f(y)
    k2 = f(y + h / 2 * k1)
    k3 = f(y + h / 2 * k2)
    k4 = f(y + h * k3)
    return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


rng = np.random.default_rng(0)
state = np.array([[1.0], [1.0], [20.0]]) + 0.1 * rng.standard_normal((3, members))
for _ in range(20):
    state = rk4_step(lorenz, state, dt)

print("mean:", *(f"{m:.10g}" for m in state.mean(axis=1)))
print("spread:", *(f"{s:.10g}" for s in state.std(axis=1)))
print("first member:", *(f"{s:.10g}" for s in state[:, 0]))
print("on the right wing:", np.count_nonzero(state[0] > 0))
