"""Cellular automata, reaction and diffusion, flow on lattices, waves."""

import numpy as np

from benchmarks.programs.program import Program

CXS = np.array([0, 0, 1, 1, 1, 0, -1, -1, -1])
CYS = np.array([0, 1, 1, 0, -1, -1, -1, 0, 1])
WEIGHTS = np.array([4 / 9, 1 / 9, 1 / 36, 1 / 9, 1 / 36, 1 / 9, 1 / 36, 1 / 9, 1 / 36])


def game_of_life(board, steps):
    inner = board[1:-1, 1:-1]
    north = board[:-2, 1:-1]
    south = board[2:, 1:-1]
    west = board[1:-1, :-2]
    east = board[1:-1, 2:]
    for _ in range(steps):
        neighbours = (
            north
            + south
            + west
            + east
            + board[:-2, :-2]
            + board[:-2, 2:]
            + board[2:, :-2]
            + board[2:, 2:]
        )
        birth = (neighbours == 3) & (inner == 0)
        survive = ((neighbours == 2) | (neighbours == 3)) & (inner == 1)
        board[...] = 0
        inner[birth | survive] = 1
    return board


def life_torus(cells, steps):
    for _ in range(steps):
        count = sum(
            np.roll(np.roll(cells, i, 0), j, 1)
            for i in (-1, 0, 1)
            for j in (-1, 0, 1)
            if (i != 0 or j != 0)
        )
        cells = (count == 3) | (cells & (count == 2))
        cells = cells.astype(np.int64)
    return cells


def rule_30(width, steps):
    history = np.zeros((steps, width), dtype=np.uint8)
    history[0, width // 2] = 1
    for t in range(1, steps):
        row = history[t - 1]
        history[t, 1:-1] = row[:-2] ^ (row[1:-1] | row[2:])
    return history


def langtons_ant(grid, x, y, steps):
    rows, cols = grid.shape
    dx, dy = 0, 1
    for _ in range(steps):
        if grid[x, y]:
            dx, dy = -dy, dx
            grid[x, y] = False
        else:
            dx, dy = dy, -dx
            grid[x, y] = True
        x = (x + dx) % rows
        y = (y + dy) % cols
    return x, y


def sandpile(grid):
    topplings = 0
    while True:
        unstable = grid >= 4
        if not unstable.any():
            break
        topplings += np.count_nonzero(unstable)
        grid[unstable] -= 4
        grid[1:] += unstable[:-1]
        grid[:-1] += unstable[1:]
        grid[:, 1:] += unstable[:, :-1]
        grid[:, :-1] += unstable[:, 1:]
    return topplings


def gray_scott(u, v, du, dv, feed, kill, steps):
    U = u[1:-1, 1:-1]
    V = v[1:-1, 1:-1]
    for _ in range(steps):
        lu = u[:-2, 1:-1] + u[1:-1, :-2] - 4 * U + u[1:-1, 2:] + u[2:, 1:-1]
        lv = v[:-2, 1:-1] + v[1:-1, :-2] - 4 * V + v[1:-1, 2:] + v[2:, 1:-1]
        uvv = U * V * V
        U += du * lu - uvv + feed * (1 - U)
        V += dv * lv + uvv - (feed + kill) * V
    return u, v


def laplacian(z):
    return (
        np.roll(z, 1, axis=0)
        + np.roll(z, -1, axis=0)
        + np.roll(z, 1, axis=1)
        + np.roll(z, -1, axis=1)
        - 4 * z
    )


def cahn_hilliard(c, dt, gamma, steps):
    for _ in range(steps):
        mu = c**3 - c - gamma * laplacian(c)
        c = c + dt * laplacian(mu)
    return c


def lattice_boltzmann(F, cylinder, tau, steps):
    for it in range(steps):
        for i, cx, cy in zip(range(9), CXS, CYS):
            F[:, :, i] = np.roll(F[:, :, i], cx, axis=1)
            F[:, :, i] = np.roll(F[:, :, i], cy, axis=0)
        bounced = F[cylinder, :]
        bounced = bounced[:, [0, 5, 6, 7, 8, 1, 2, 3, 4]]
        rho = np.sum(F, 2)
        ux = np.sum(F * CXS, 2) / rho
        uy = np.sum(F * CYS, 2) / rho
        Feq = np.zeros(F.shape)
        for i, cx, cy, w in zip(range(9), CXS, CYS, WEIGHTS):
            Feq[:, :, i] = (
                rho
                * w
                * (
                    1
                    + 3 * (cx * ux + cy * uy)
                    + 9 * (cx * ux + cy * uy) ** 2 / 2
                    - 3 * (ux**2 + uy**2) / 2
                )
            )
        F += -(1.0 / tau) * (F - Feq)
        F[cylinder, :] = bounced
    return F


def shallow_water(h, u, v, g, dt, dx, steps):
    for _ in range(steps):
        u[1:-1, :] -= dt * g * (h[1:, :] - h[:-1, :]) / dx
        v[:, 1:-1] -= dt * g * (h[:, 1:] - h[:, :-1]) / dx
        he = np.zeros_like(u)
        hn = np.zeros_like(v)
        he[1:-1, :] = np.where(u[1:-1, :] > 0, h[:-1, :], h[1:, :])
        hn[:, 1:-1] = np.where(v[:, 1:-1] > 0, h[:, :-1], h[:, 1:])
        fu = u * he
        fv = v * hn
        h -= dt * ((fu[1:, :] - fu[:-1, :]) / dx + (fv[:, 1:] - fv[:, :-1]) / dx)
    return h


def rusanov(rho_l, rho_r, vx_l, vx_r, vy_l, vy_r, p_l, p_r, gamma):
    en_l = p_l / (gamma - 1) + 0.5 * rho_l * (vx_l**2 + vy_l**2)
    en_r = p_r / (gamma - 1) + 0.5 * rho_r * (vx_r**2 + vy_r**2)
    rho = 0.5 * (rho_l + rho_r)
    momx = 0.5 * (rho_l * vx_l + rho_r * vx_r)
    momy = 0.5 * (rho_l * vy_l + rho_r * vy_r)
    en = 0.5 * (en_l + en_r)
    p = (gamma - 1) * (en - 0.5 * (momx**2 + momy**2) / rho)
    c_l = np.sqrt(gamma * p_l / rho_l) + np.abs(vx_l)
    c_r = np.sqrt(gamma * p_r / rho_r) + np.abs(vx_r)
    c = np.maximum(c_l, c_r)
    return (
        momx - c * 0.5 * (rho_r - rho_l),
        momx**2 / rho + p - c * 0.5 * (rho_r * vx_r - rho_l * vx_l),
        momx * momy / rho - c * 0.5 * (rho_r * vy_r - rho_l * vy_l),
        (en + p) * momx / rho - c * 0.5 * (en_r - en_l),
    )


def euler_finite_volume(mass, momx, momy, energy, dx, gamma, t_end):
    vol = dx**2
    t = 0.0
    steps = 0
    while t < t_end:
        rho = mass / vol
        vx = momx / rho / vol
        vy = momy / rho / vol
        p = (energy / vol - 0.5 * rho * (vx**2 + vy**2)) * (gamma - 1)
        dt = 0.4 * np.min(dx / (np.sqrt(gamma * p / rho) + np.sqrt(vx**2 + vy**2)))
        if t + dt > t_end:
            dt = t_end - t
        for axis in (0, 1):
            r = [np.roll(q, -1, axis=axis) for q in (rho, vx, vy, p)]
            if axis == 0:
                fm, fx, fy, fe = rusanov(rho, r[0], vx, r[1], vy, r[2], p, r[3], gamma)
            else:
                fm, fy, fx, fe = rusanov(rho, r[0], vy, r[2], vx, r[1], p, r[3], gamma)
            mass = mass - dt * dx * (fm - np.roll(fm, 1, axis=axis))
            momx = momx - dt * dx * (fx - np.roll(fx, 1, axis=axis))
            momy = momy - dt * dx * (fy - np.roll(fy, 1, axis=axis))
            energy = energy - dt * dx * (fe - np.roll(fe, 1, axis=axis))
        t += dt
        steps += 1
    return mass, momx, momy, energy, steps


def fdtd_1d(ex, hy, steps):
    k = ex.shape[0]
    low0 = low1 = high0 = high1 = 0.0
    for t in range(1, steps + 1):
        ex[1:] = ex[1:] + 0.5 * (hy[:-1] - hy[1:])
        ex[k // 2] = np.exp(-0.5 * ((40.0 - t) / 12.0) ** 2)
        ex[0] = low0
        low0 = low1
        low1 = ex[1]
        ex[-1] = high0
        high0 = high1
        high1 = ex[-2]
        hy[:-1] = hy[:-1] + 0.5 * (ex[:-1] - ex[1:])
    return ex, hy


def fdtd_2d(ex, ey, hz, signal):
    for t in range(len(signal)):
        ey[0, :] = signal[t]
        ey[1:, :] -= 0.5 * (hz[1:, :] - hz[:-1, :])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])


def ising(spins, noise, beta):
    rows, cols = spins.shape
    checker = (np.arange(rows)[:, None] + np.arange(cols)[None, :]) % 2
    magnetisation = np.zeros(noise.shape[0])
    for t in range(noise.shape[0]):
        for colour in range(2):
            field = (
                np.roll(spins, 1, 0)
                + np.roll(spins, -1, 0)
                + np.roll(spins, 1, 1)
                + np.roll(spins, -1, 1)
            )
            accept = noise[t] < np.exp(-2.0 * beta * spins * field)
            flip = accept & (checker == colour)
            spins = np.where(flip, -spins, spins)
        magnetisation[t] = spins.mean()
    return spins, magnetisation


def make_euler(rng, n):
    shape = (n, n + 2)
    rho = 1 + 0.2 * rng.random(shape)
    vx, vy = 0.3 * rng.standard_normal((2, *shape))
    p = 2 + 0.2 * rng.random(shape)
    energy = p / 0.4 + 0.5 * rho * (vx**2 + vy**2)
    vol = 1 / n**2
    return rho * vol, rho * vx * vol, rho * vy * vol, energy * vol, 1 / n, 1.4, 1.0 / n**0.5


def make_boltzmann(rng, n):
    rows, cols = n, 2 * n
    F = 1 + 0.01 * rng.standard_normal((rows, cols, 9))
    F[:, :, 3] += 2.3
    X, Y = np.meshgrid(np.arange(cols), np.arange(rows))
    cylinder = (X - cols / 4) ** 2 + (Y - rows / 2) ** 2 < (rows / 4) ** 2
    return F, cylinder, 0.6, 2 + n // 20


PROGRAMS = (
    Program(
        game_of_life,
        lambda rng, n: (rng.integers(0, 2, (n, n + 3), np.uint8), 2 + n // 8),
        (8, 100),
        800,
        True,
    ),
    Program(
        life_torus,
        lambda rng, n: (rng.integers(0, 2, (n, n + 3)), 2 + n // 10),
        (6, 50),
        300,
        True,
    ),
    Program(rule_30, lambda rng, n: (2 * n + 1, n), (6, 300), 4_000, True),
    Program(
        langtons_ant,
        lambda rng, n: (rng.random((n, n + 2)) < 0.3, n // 2, n // 3, 6 * n),
        (7, 1_000),
        10_000,
        True,
    ),
    Program(sandpile, lambda rng, n: (rng.integers(0, 7, (n, n + 2)),), (5, 30), 100, True),
    Program(
        gray_scott,
        lambda rng, n: (
            0.5 + 0.5 * rng.random((n, n + 2)),
            0.25 * rng.random((n, n + 2)),
            0.16,
            0.08,
            0.06,
            0.062,
            2 + n // 8,
        ),
        (6, 60),
        256,
        True,
    ),
    Program(
        cahn_hilliard,
        lambda rng, n: (rng.standard_normal((n, n + 2)) * 0.1, 0.01, 0.5, 2 + n // 10),
        (6, 50),
        256,
        False,
    ),
    Program(lattice_boltzmann, make_boltzmann, (6, 30), 60),
    Program(
        shallow_water,
        lambda rng, n: (
            1 + 0.1 * rng.random((n, n + 2)),
            np.zeros((n + 1, n + 2)),
            np.zeros((n, n + 3)),
            9.81,
            0.01,
            0.1,
            2 + n // 8,
        ),
        (6, 60),
        256,
        True,
    ),
    Program(euler_finite_volume, make_euler, (6, 24), 64, True),
    Program(fdtd_1d, lambda rng, n: (np.zeros(n), np.zeros(n), 3 + n // 4), (9, 300), 6_000),
    Program(
        fdtd_2d,
        lambda rng, n: (
            rng.random((n, n + 2)),
            rng.random((n, n + 2)),
            rng.random((n, n + 2)),
            rng.random(2 + n // 8),
        ),
        (6, 60),
        300,
        True,
    ),
    Program(
        ising,
        lambda rng, n: (
            rng.choice(np.array([-1, 1]), (2 * n, 2 * n + 2)),
            rng.random((2 + n // 8, 2 * n, 2 * n + 2)),
            0.4,
        ),
        (3, 25),
        100,
    ),
)
