"""A double pendulum over one second, Runge-Kutta of order 4."""

import sys

import numpy as np

steps = int(sys.argv[1]) if len(sys.argv) > 1 else 100
g, l1, l2, m1, m2 = 9.81, 1.0, 0.7, 1.0, 0.5


def derivative(y):
    t1, t2, w1, w2 = y
    d = t1 - t2
    den = 2 * m1 + m2 - m2 * np.cos(2 * d)
    a1 = (
        -g * (2 * m1 + m2) * np.sin(t1)
        - m2 * g * np.sin(t1 - 2 * t2)
        - 2 * np.sin(d) * m2 * (w2**2 * l2 + w1**2 * l1 * np.cos(d))
    ) / (l1 * den)
    a2 = (
        2
        * np.sin(d)
        * (w1**2 * l1 * (m1 + m2) + g * (m1 + m2) * np.cos(t1) + w2**2 * l2 * m2 * np.cos(d))
    ) / (l2 * den)
    return np.array([w1, w2, a1, a2])


y = np.array([np.pi / 3, np.pi / 4, 0.0, 0.0])
h = 1.0 / steps
trajectory = np.zeros((101, 4))
for step in range(steps):
    if step % max(steps // 100, 1) == 0:
        trajectory[min(step * 100 // steps, 100)] = y
    k1 = derivative(y)
    k2 = derivative(y + h / 2 * k1)
    k3 = derivative(y + h / 2 * k2)
    k4 = derivative(y + h * k3)
    y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
trajectory[100] = y

print("at the end:", *(f"{value:.10g}" for value in y))
print("largest swing:", *(f"{value:.10g}" for value in np.abs(trajectory).max(axis=0)))
print("turns:", np.count_nonzero(np.diff(np.sign(trajectory[1:, 2])) != 0))
