"""Gauss-Newton fits of a decaying oscillation to many short noisy series."""

import sys

import numpy as np

fits = int(sys.argv[1]) if len(sys.argv) > 1 else 5

t = np.linspace(0, 4, 80)
rng = np.random.default_rng(0)


def model(p):
    a, k, w, c = p
    return a * np.exp(-k * t) * np.cos(w * t) + c


def jacobian(p):
    a, k, w, c = p
    e = np.exp(-k * t)
    return np.column_stack(
        [e * np.cos(w * t), -t * a * e * np.cos(w * t), -a * e * t * np.sin(w * t), np.ones_like(t)]
    )


parameters = []
for fit in range(fits):
    true = np.array([2.0, 0.6, 3.0, 0.5]) * rng.uniform(0.95, 1.05, 4)
    y = model(true) + 0.05 * rng.standard_normal(t.size)
    p = np.array([1.8, 0.5, 3.05, 0.4])
    for _ in range(12):
        residual = y - model(p)
        J = jacobian(p)
        step = np.linalg.solve(J.T @ J, J.T @ residual)
        p = p + step
        if np.abs(step).max() < 1e-13:
            break
    parameters.append(p)

parameters = np.array(parameters)
residual = y - model(p)
print("mean:", *(f"{value:.9g}" for value in parameters.mean(axis=0)))
print("std:", *(f"{value:.8g}" for value in parameters.std(axis=0)))
print(f"rms of the last fit {np.sqrt((residual**2).mean()):.10g}")
print(f"r squared {1 - (residual**2).sum() / ((y - y.mean()) ** 2).sum():.10g}")
