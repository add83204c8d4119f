"""Poisson's equation on a square by conjugate gradients, without a matrix."""

import sys

import numpy as np

n = int(sys.argv[1]) if len(sys.argv) > 1 else 40


def apply_laplacian(p):
    q = 4.0 * p
    q[1:, :] -= p[:-1, :]
    q[:-1, :] -= p[1:, :]
    q[:, 1:] -= p[:, :-1]
    q[:, :-1] -= p[:, 1:]
    return q


x = np.linspace(0, 1, n)
b = np.outer(np.sin(np.pi * x), x * (1 - x)) + 1.0

u = np.zeros((n, n))
r = b - apply_laplacian(u)
p = r.copy()
rs = np.vdot(r, r)
start = rs
for iteration in range(20):
    Ap = apply_laplacian(p)
    alpha = rs / np.vdot(p, Ap)
    u += alpha * p
    r -= alpha * Ap
    rs_new = np.vdot(r, r)
    if np.sqrt(rs_new) < 1e-8:
        break
    p = r + (rs_new / rs) * p
    rs = rs_new

print("iterations:", iteration + 1)
print(f"residual {np.sqrt(rs_new / start):.10g}")
print(f"solution: mean {u.mean():.10g}, max {u.max():.10g}, centre {u[n // 2, n // 2]:.10g}")
