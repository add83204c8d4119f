"""Gray-Scott reaction and diffusion in single precision."""

import sys

import numpy as np

n = int(sys.argv[1]) if len(sys.argv) > 1 else 48
Du, Dv, F, k = 0.16, 0.08, 0.035, 0.065

rng = np.random.default_rng(0)
u = np.ones((n + 2, n + 2), dtype=np.float32)
v = np.zeros((n + 2, n + 2), dtype=np.float32)
r = n // 8
u[n // 2 - r : n // 2 + r, n // 2 - r : n // 2 + r] = 0.5
v[n // 2 - r : n // 2 + r, n // 2 - r : n // 2 + r] = 0.25
u[1:-1, 1:-1] += 0.02 * rng.random((n, n), dtype=np.float32)


def periodic(a):
    a[0], a[-1] = a[-2], a[1]
    a[:, 0], a[:, -1] = a[:, -2], a[:, 1]


def laplacian(a):
    return a[:-2, 1:-1] + a[1:-1, :-2] - 4 * a[1:-1, 1:-1] + a[1:-1, 2:] + a[2:, 1:-1]


U, V = u[1:-1, 1:-1], v[1:-1, 1:-1]
for _ in range(40):
    periodic(u)
    periodic(v)
    lu, lv = laplacian(u), laplacian(v)
    uvv = U * V * V
    U += Du * lu - uvv + F * (1 - U)
    V += Dv * lv + uvv - (F + k) * V

print(U.dtype, f"mean u {U.mean(dtype=np.float64):.6g}, mean v {V.mean(dtype=np.float64):.6g}")
print(f"u from {U.min():.6g} to {U.max():.6g}, v up to {V.max():.6g}")
print("patterned cells:", np.count_nonzero(V > 0.1))
