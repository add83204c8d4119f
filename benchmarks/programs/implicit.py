"""Implicit schemes: tridiagonal systems along each axis, alternating directions, multigrid."""

import numpy as np

from benchmarks.programs.program import Program


def thomas(a, b, c, d):
    n = len(d)
    cp = np.zeros(n)
    dp = np.zeros(n)
    cp[0] = c[0] / b[0]
    dp[0] = d[0] / b[0]
    for i in range(1, n):
        m = b[i] - a[i] * cp[i - 1]
        cp[i] = c[i] / m
        dp[i] = (d[i] - a[i] * dp[i - 1]) / m
    x = np.empty(n)
    x[-1] = dp[-1]
    for i in range(n - 2, -1, -1):
        x[i] = dp[i] - cp[i] * x[i + 1]
    return x


def tridiagonal_columns(a, b, c, d):
    n = d.shape[0]
    c = c.copy()
    d = d.copy()
    c[0] /= b[0]
    d[0] /= b[0]
    for i in range(1, n):
        m = 1.0 / (b[i] - a[i] * c[i - 1])
        c[i] *= m
        d[i] = (d[i] - a[i] * d[i - 1]) * m
    for i in reversed(range(n - 1)):
        d[i] -= c[i] * d[i + 1]
    return d


def solve_constant_tridiagonal(r, rhs):
    n = rhs.shape[0]
    cp = np.empty(n)
    x = np.empty_like(rhs)
    cp[0] = -r / (1 + 2 * r)
    x[0] = rhs[0] / (1 + 2 * r)
    for i in range(1, n):
        m = 1 + 2 * r + r * cp[i - 1]
        cp[i] = -r / m
        x[i] = (rhs[i] + r * x[i - 1]) / m
    for i in range(n - 2, -1, -1):
        x[i] = x[i] - cp[i] * x[i + 1]
    return x


def adi_heat(u, r, steps):
    u = u.copy()
    for _ in range(steps):
        rhs = u[1:-1, 1:-1] + r * (u[1:-1, 2:] - 2 * u[1:-1, 1:-1] + u[1:-1, :-2])
        u[1:-1, 1:-1] = solve_constant_tridiagonal(r, rhs)
        rhs = u[1:-1, 1:-1] + r * (u[2:, 1:-1] - 2 * u[1:-1, 1:-1] + u[:-2, 1:-1])
        u[1:-1, 1:-1] = solve_constant_tridiagonal(r, rhs.T).T
    return u


def crank_nicolson(u, r, steps):
    n = u.size
    lower = np.full(n, -r / 2)
    diagonal = np.full(n, 1 + r)
    upper = np.full(n, -r / 2)
    lower[-1] = upper[0] = 0
    diagonal[0] = diagonal[-1] = 1
    for _ in range(steps):
        rhs = u.copy()
        rhs[1:-1] += r / 2 * (u[2:] - 2 * u[1:-1] + u[:-2])
        u = thomas(lower, diagonal, upper, rhs)
    return u


def line_relaxation(u, f, sweeps):
    rows, cols = u.shape
    for _ in range(sweeps):
        for i in range(1, rows - 1):
            rhs = u[i - 1] + u[i + 1] - f[i]
            beta = 4.0
            gam = np.zeros(cols)
            u[i, 1] = (rhs[1] + u[i, 0]) / beta
            for j in range(2, cols - 1):
                gam[j] = -1.0 / beta
                beta = 4.0 + gam[j]
                u[i, j] = (rhs[j] + u[i, j - 1]) / beta
            for j in range(cols - 3, 0, -1):
                u[i, j] -= gam[j + 1] * u[i, j + 1]
    return u


def compact_derivative(f, h):
    n = f.shape[0]
    rhs = np.empty_like(f)
    rhs[1:-1] = 3.0 * (f[2:] - f[:-2]) / h
    rhs[0] = (-2.5 * f[0] + 2.0 * f[1] + 0.5 * f[2]) / h
    rhs[-1] = (2.5 * f[-1] - 2.0 * f[-2] - 0.5 * f[-3]) / h
    lower = np.ones(n)
    diag = np.full(n, 4.0)
    upper = np.ones(n)
    diag[0] = diag[-1] = 1.0
    upper[0] = lower[-1] = 2.0
    for i in range(1, n):
        w = lower[i] / diag[i - 1]
        diag[i] -= w * upper[i - 1]
        rhs[i] -= w * rhs[i - 1]
    rhs[-1] /= diag[-1]
    for i in range(n - 2, -1, -1):
        rhs[i] = (rhs[i] - upper[i] * rhs[i + 1]) / diag[i]
    return rhs


def gradient_compact(f, h):
    return compact_derivative(f, h), compact_derivative(f.T, h).T


def smooth(u, f, h, sweeps):
    for _ in range(sweeps):
        u[1:-1] += (2.0 / 3.0) * 0.5 * (u[2:] - 2.0 * u[1:-1] + u[:-2] + h * h * f[1:-1])


def v_cycle(u, f, h, levels):
    smooth(u, f, h, 2)
    if levels > 0:
        r = np.zeros_like(u)
        r[1:-1] = f[1:-1] + (u[2:] - 2.0 * u[1:-1] + u[:-2]) / (h * h)
        coarse = np.zeros(u.size // 2 + 1)
        coarse[1:-1] = 0.25 * r[1:-3:2] + 0.5 * r[2:-2:2] + 0.25 * r[3:-1:2]
        e = v_cycle(np.zeros_like(coarse), coarse, 2 * h, levels - 1)
        u[::2] += e
        u[1::2] += 0.5 * (e[:-1] + e[1:])
    smooth(u, f, h, 2)
    return u


def multigrid(f, h, levels, cycles):
    u = np.zeros_like(f)
    residuals = np.empty(cycles)
    for k in range(cycles):
        u = v_cycle(u, f, h, levels)
        r = f[1:-1] + (u[2:] - 2.0 * u[1:-1] + u[:-2]) / (h * h)
        residuals[k] = np.abs(r).max()
    return u, residuals


def diagonals(rng, shape):
    return (
        -rng.random(shape),
        3 + rng.random(shape),
        -rng.random(shape),
        rng.standard_normal(shape),
    )


PROGRAMS = (
    Program(thomas, diagonals, (6, 2_000), 50_000, True),
    Program(tridiagonal_columns, lambda rng, n: diagonals(rng, (n, n + 2)), (5, 100), 1_000, True),
    Program(
        adi_heat, lambda rng, n: (rng.random((n, n + 3)), 0.4, 1 + n // 20), (6, 60), 300, True
    ),
    Program(crank_nicolson, lambda rng, n: (rng.random(n), 0.5, 1 + n // 50), (7, 200), 800, True),
    Program(
        line_relaxation,
        lambda rng, n: (rng.random((n, n + 2)), 0.1 * rng.random((n, n + 2)), 2),
        (6, 40),
        150,
        True,
    ),
    Program(gradient_compact, lambda rng, n: (rng.random((n, n + 3)), 0.1), (6, 100), 800, True),
    Program(
        multigrid,
        lambda rng, n: (rng.standard_normal(8 * n + 1), 1 / (8 * n), 3, 1 + n % 3),
        (3, 200),
        20_000,
        True,
    ),
)
