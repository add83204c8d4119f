"""Time steps and relaxation on grids of one, two and three dimensions."""

import numpy as np

from benchmarks.programs.program import Program


def heat_1d(u, alpha, steps):
    for t in range(steps):
        u[1:-1] += alpha * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    return u


def heat_2d(u0, dt, dx, dy, steps):
    u = u0.copy()
    un = u0.copy()
    for n in range(steps):
        un[1:-1, 1:-1] = u[1:-1, 1:-1] + dt * (
            (u[2:, 1:-1] - 2 * u[1:-1, 1:-1] + u[:-2, 1:-1]) / dx**2
            + (u[1:-1, 2:] - 2 * u[1:-1, 1:-1] + u[1:-1, :-2]) / dy**2
        )
        u, un = un, u
    return u


def heat_3d(u, un, coeff, steps):
    for _ in range(steps):
        un[1:-1, 1:-1, 1:-1] = u[1:-1, 1:-1, 1:-1] + coeff * (
            u[2:, 1:-1, 1:-1]
            + u[:-2, 1:-1, 1:-1]
            + u[1:-1, 2:, 1:-1]
            + u[1:-1, :-2, 1:-1]
            + u[1:-1, 1:-1, 2:]
            + u[1:-1, 1:-1, :-2]
            - 6.0 * u[1:-1, 1:-1, 1:-1]
        )
        u, un = un, u


def heat_periodic(u, r, steps):
    for _ in range(steps):
        u = u + r * (
            np.roll(u, 1, axis=0)
            + np.roll(u, -1, axis=0)
            + np.roll(u, 1, axis=1)
            + np.roll(u, -1, axis=1)
            - 4 * u
        )
    return u


def laplace_jacobi(p, tol, max_iter):
    for it in range(max_iter):
        pn = p.copy()
        p[1:-1, 1:-1] = 0.25 * (pn[1:-1, 2:] + pn[1:-1, :-2] + pn[2:, 1:-1] + pn[:-2, 1:-1])
        p[:, -1] = p[:, -2]
        error = np.abs(p - pn).max()
        if error < tol:
            break
    return p, it, error


def red_black(u, f, h, sweeps):
    for _ in range(sweeps):
        u[1:-1:2, 1:-1:2] = 0.25 * (
            u[0:-2:2, 1:-1:2]
            + u[2::2, 1:-1:2]
            + u[1:-1:2, 0:-2:2]
            + u[1:-1:2, 2::2]
            - h * h * f[1:-1:2, 1:-1:2]
        )
        u[2:-1:2, 2:-1:2] = 0.25 * (
            u[1:-2:2, 2:-1:2]
            + u[3::2, 2:-1:2]
            + u[2:-1:2, 1:-2:2]
            + u[2:-1:2, 3::2]
            - h * h * f[2:-1:2, 2:-1:2]
        )
        u[1:-1:2, 2:-1:2] = 0.25 * (
            u[0:-2:2, 2:-1:2]
            + u[2::2, 2:-1:2]
            + u[1:-1:2, 1:-2:2]
            + u[1:-1:2, 3::2]
            - h * h * f[1:-1:2, 2:-1:2]
        )
        u[2:-1:2, 1:-1:2] = 0.25 * (
            u[1:-2:2, 1:-1:2]
            + u[3::2, 1:-1:2]
            + u[2:-1:2, 0:-2:2]
            + u[2:-1:2, 2::2]
            - h * h * f[2:-1:2, 1:-1:2]
        )


def gauss_seidel(u, sweeps):
    rows, cols = u.shape
    for _ in range(sweeps):
        for i in range(1, rows - 1):
            for j in range(1, cols - 1):
                u[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
    return u


def sor(u, f, omega, tol, max_iter):
    n, m = u.shape
    for it in range(max_iter):
        largest = 0.0
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                new = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - f[i, j])
                change = omega * (new - u[i, j])
                u[i, j] += change
                largest = max(largest, abs(change))
        if largest < tol:
            return it + 1
    return max_iter


def wave_2d(u, c, dt, dx, steps):
    k = (c * dt / dx) ** 2
    um = u.copy()
    up = np.zeros_like(u)
    for _ in range(steps):
        up[1:-1, 1:-1] = (
            2 * u[1:-1, 1:-1]
            - um[1:-1, 1:-1]
            + k * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1])
        )
        um, u, up = u, up, um
    return u


def burgers_1d(u, nu, dt, dx, nt):
    for n in range(nt):
        un = u.copy()
        u[1:-1] = (
            un[1:-1]
            - un[1:-1] * dt / dx * (un[1:-1] - un[:-2])
            + nu * dt / dx**2 * (un[2:] - 2 * un[1:-1] + un[:-2])
        )
        u[0] = (
            un[0]
            - un[0] * dt / dx * (un[0] - un[-2])
            + nu * dt / dx**2 * (un[1] - 2 * un[0] + un[-2])
        )
        u[-1] = u[0]
    return u


def burgers_2d(u, v, nu, dt, dx, dy, nt):
    for n in range(nt):
        un = u.copy()
        vn = v.copy()
        u[1:-1, 1:-1] = (
            un[1:-1, 1:-1]
            - dt / dx * un[1:-1, 1:-1] * (un[1:-1, 1:-1] - un[1:-1, 0:-2])
            - dt / dy * vn[1:-1, 1:-1] * (un[1:-1, 1:-1] - un[0:-2, 1:-1])
            + nu * dt / dx**2 * (un[1:-1, 2:] - 2 * un[1:-1, 1:-1] + un[1:-1, 0:-2])
            + nu * dt / dy**2 * (un[2:, 1:-1] - 2 * un[1:-1, 1:-1] + un[0:-2, 1:-1])
        )
        v[1:-1, 1:-1] = (
            vn[1:-1, 1:-1]
            - dt / dx * un[1:-1, 1:-1] * (vn[1:-1, 1:-1] - vn[1:-1, 0:-2])
            - dt / dy * vn[1:-1, 1:-1] * (vn[1:-1, 1:-1] - vn[0:-2, 1:-1])
            + nu * dt / dx**2 * (vn[1:-1, 2:] - 2 * vn[1:-1, 1:-1] + vn[1:-1, 0:-2])
            + nu * dt / dy**2 * (vn[2:, 1:-1] - 2 * vn[1:-1, 1:-1] + vn[0:-2, 1:-1])
        )
        u[0, :] = 1
        u[-1, :] = 1
        u[:, 0] = 1
        u[:, -1] = 1
        v[0, :] = 1
        v[-1, :] = 1
        v[:, 0] = 1
        v[:, -1] = 1
    return u, v


def upwind_advection(q, speed, dt, dx, steps):
    for _ in range(steps):
        left = np.where(speed > 0, q - np.roll(q, 1), np.roll(q, -1) - q)
        q = q - speed * dt / dx * left
    return q


def pressure_poisson(p, dx, dy, b, nit):
    for q in range(nit):
        pn = p.copy()
        p[1:-1, 1:-1] = (
            (pn[1:-1, 2:] + pn[1:-1, 0:-2]) * dy**2 + (pn[2:, 1:-1] + pn[0:-2, 1:-1]) * dx**2
        ) / (2 * (dx**2 + dy**2)) - dx**2 * dy**2 / (2 * (dx**2 + dy**2)) * b[1:-1, 1:-1]
        p[:, -1] = p[:, -2]
        p[0, :] = p[1, :]
        p[:, 0] = p[:, 1]
        p[-1, :] = 0
    return p


def cavity_flow(nt, nit, u, v, p, dt, dx, dy, rho, nu):
    b = np.zeros(u.shape)
    for n in range(nt):
        un = u.copy()
        vn = v.copy()
        ux = (u[1:-1, 2:] - u[1:-1, 0:-2]) / (2 * dx)
        vy = (v[2:, 1:-1] - v[0:-2, 1:-1]) / (2 * dy)
        uy = (u[2:, 1:-1] - u[0:-2, 1:-1]) / (2 * dy)
        vx = (v[1:-1, 2:] - v[1:-1, 0:-2]) / (2 * dx)
        b[1:-1, 1:-1] = rho * ((ux + vy) / dt - ux**2 - 2 * uy * vx - vy**2)
        p = pressure_poisson(p, dx, dy, b, nit)
        u[1:-1, 1:-1] = (
            un[1:-1, 1:-1]
            - un[1:-1, 1:-1] * dt / dx * (un[1:-1, 1:-1] - un[1:-1, 0:-2])
            - vn[1:-1, 1:-1] * dt / dy * (un[1:-1, 1:-1] - un[0:-2, 1:-1])
            - dt / (2 * rho * dx) * (p[1:-1, 2:] - p[1:-1, 0:-2])
            + nu
            * (
                dt / dx**2 * (un[1:-1, 2:] - 2 * un[1:-1, 1:-1] + un[1:-1, 0:-2])
                + dt / dy**2 * (un[2:, 1:-1] - 2 * un[1:-1, 1:-1] + un[0:-2, 1:-1])
            )
        )
        v[1:-1, 1:-1] = (
            vn[1:-1, 1:-1]
            - un[1:-1, 1:-1] * dt / dx * (vn[1:-1, 1:-1] - vn[1:-1, 0:-2])
            - vn[1:-1, 1:-1] * dt / dy * (vn[1:-1, 1:-1] - vn[0:-2, 1:-1])
            - dt / (2 * rho * dy) * (p[2:, 1:-1] - p[0:-2, 1:-1])
            + nu
            * (
                dt / dx**2 * (vn[1:-1, 2:] - 2 * vn[1:-1, 1:-1] + vn[1:-1, 0:-2])
                + dt / dy**2 * (vn[2:, 1:-1] - 2 * vn[1:-1, 1:-1] + vn[0:-2, 1:-1])
            )
        )
        u[0, :] = 0
        u[:, 0] = 0
        u[:, -1] = 0
        u[-1, :] = 1
        v[0, :] = 0
        v[-1, :] = 0
        v[:, 0] = 0
        v[:, -1] = 0
    return u, v, p


PROGRAMS = (
    Program(heat_1d, lambda rng, n: (rng.random(n), 0.2, 3 + n // 50), (11, 500), 20_000, True),
    Program(
        heat_2d,
        lambda rng, n: (rng.random((n, n + 3)), 0.1, 1.0, 1.1, 2 + n // 10),
        (7, 60),
        400,
        True,
    ),
    Program(
        heat_3d,
        lambda rng, n: (rng.random((n, n + 1, n + 2)), np.zeros((n, n + 1, n + 2)), 0.1, n // 2),
        (5, 16),
        60,
        True,
    ),
    Program(
        heat_periodic,
        lambda rng, n: (rng.random((n, n + 3)), 0.1, 2 + n // 10),
        (6, 50),
        300,
        True,
    ),
    Program(laplace_jacobi, lambda rng, n: (rng.random((n, n + 2)), 1e-3, 60), (6, 40), 300, True),
    Program(
        red_black,
        lambda rng, n: (
            rng.random((2 * n, 2 * n + 2)),
            rng.random((2 * n, 2 * n + 2)),
            0.1,
            n // 3,
        ),
        (4, 30),
        150,
        True,
    ),
    Program(gauss_seidel, lambda rng, n: (rng.random((n, n + 2)), 3), (5, 25), 150, True),
    Program(
        sor,
        lambda rng, n: (rng.random((n, n + 1)), 0.1 * rng.random((n, n + 1)), 1.5, 1e-3, 50),
        (5, 20),
        60,
        True,
    ),
    Program(
        wave_2d,
        lambda rng, n: (rng.random((n, n + 2)), 1.0, 0.4, 1.0, 3 + n // 8),
        (6, 50),
        400,
        True,
    ),
    Program(
        burgers_1d,
        lambda rng, n: (1 + rng.random(n), 0.07, 0.001, 0.05, 3 + n // 20),
        (9, 400),
        20_000,
        True,
    ),
    Program(
        burgers_2d,
        lambda rng, n: (
            1 + rng.random((n, n + 2)),
            1 + rng.random((n, n + 2)),
            0.01,
            0.0005,
            0.05,
            0.05,
            2 + n // 10,
        ),
        (6, 40),
        200,
        True,
    ),
    Program(
        upwind_advection,
        lambda rng, n: (rng.random(n), rng.standard_normal(n), 0.01, 0.1, 3 + n // 20),
        (8, 400),
        10_000,
        True,
    ),
    Program(
        cavity_flow,
        lambda rng, n: (
            1 + n // 20,
            2 + n // 20,
            np.zeros((n, n + 1)),
            np.zeros((n, n + 1)),
            np.zeros((n, n + 1)),
            0.001,
            2 / (n - 1),
            2 / (n - 1),
            1.0,
            0.1,
        ),
        (6, 41),
        120,
        True,
    ),
)
