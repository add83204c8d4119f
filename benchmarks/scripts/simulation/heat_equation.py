"""Heat equation on a square plate with a hot edge, explicit steps."""

import sys

import numpy as np

n = int(sys.argv[1]) if len(sys.argv) > 1 else 60
steps = 40
alpha = 0.2

u = np.zeros((n, n))
u[0, :] = 100.0
u[:, -1] = np.linspace(100.0, 0.0, n)
u[n // 3 : n // 2, n // 3 : n // 2] = 50.0

for step in range(steps):
    laplacian = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * u[1:-1, 1:-1]
    u[1:-1, 1:-1] += alpha * laplacian
    u[-1, :] = u[-2, :]  # insulated
    u[:, 0] = u[:, 1]
    if step % 10 == 9:
        print(f"step {step + 1}: mean {u.mean():.12g}, max {u[1:-1, 1:-1].max():.12g}")

print(f"centre {u[n // 2, n // 2]:.12g}")
print("warm cells:", np.count_nonzero(u > 25.0))
