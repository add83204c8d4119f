"""A Kalman filter follows a vehicle in the plane: 4x4 matrices, many steps."""

import sys

import numpy as np

steps = int(sys.argv[1]) if len(sys.argv) > 1 else 80
dt = 0.1

F = np.eye(4)
F[0, 2] = F[1, 3] = dt
H = np.zeros((2, 4))
H[0, 0] = H[1, 1] = 1
Q = 0.01 * np.eye(4)
R = 0.5 * np.eye(2)

rng = np.random.default_rng(0)
truth = np.array([0.0, 0.0, 1.0, 0.5])
x = np.zeros(4)
P = 10 * np.eye(4)
errors = np.zeros(steps)
raw_errors = np.zeros(steps)

for k in range(steps):
    truth = F @ truth + rng.multivariate_normal(np.zeros(4), Q, method="cholesky")
    z = H @ truth + np.sqrt(0.5) * rng.standard_normal(2)

    x = F @ x
    P = F @ P @ F.T + Q
    innovation = z - H @ x
    S = H @ P @ H.T + R
    K = P @ H.T @ np.linalg.inv(S)
    x = x + K @ innovation
    P = (np.eye(4) - K @ H) @ P

    errors[k] = np.linalg.norm(x[:2] - truth[:2])
    raw_errors[k] = np.linalg.norm(z - truth[:2])

print("state:", *(f"{value:.10g}" for value in x))
print(f"error {errors.mean():.10g}, of the measurements {raw_errors.mean():.10g}")
print(f"trace {np.trace(P):.10g}")
print("gain:", *(f"{value:.10g}" for value in K[:, 0]))
