"""Methods that decide for themselves how far to go: steps, brackets, sweeps, smoothing."""

import numpy as np

from benchmarks.programs.program import Program


def dormand_prince(y, mu, t_end, tol):
    A = (
        (),
        (1 / 5,),
        (3 / 40, 9 / 40),
        (44 / 45, -56 / 15, 32 / 9),
        (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
        (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
        (35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
    )
    B5 = np.array([35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84, 0])
    B4 = np.array([5179 / 57600, 0, 7571 / 16695, 393 / 640, -92097 / 339200, 187 / 2100, 1 / 40])

    def rhs(y):
        return np.array([y[1], mu * (1 - y[0] ** 2) * y[1] - y[0]])

    t, h, accepted, rejected = 0.0, 1e-2, 0, 0
    y = y.copy()
    k = np.empty((7, len(y)))
    while t < t_end:
        h = min(h, t_end - t)
        for s in range(7):
            ys = y.copy()
            for j, a in enumerate(A[s]):
                ys += h * a * k[j]
            k[s] = rhs(ys)
        err = h * np.abs((B5 - B4) @ k).max()
        if err <= tol:
            t += h
            y = y + h * (B5 @ k)
            accepted += 1
        else:
            rejected += 1
        h *= min(5.0, max(0.2, 0.9 * (tol / (err + 1e-300)) ** 0.2))
    return y, accepted, rejected


def adaptive_simpson(a, b, tol):
    stack = np.empty((200, 2))
    stack[0] = a, b
    top = 1
    total = 0.0
    evaluations = 0

    def f(x):
        return np.sin(x * x) + 0.1 * x

    while top > 0:
        top -= 1
        lo, hi = stack[top]
        mid = 0.5 * (lo + hi)
        fl, fm, fh = f(lo), f(mid), f(hi)
        whole = (hi - lo) / 6 * (fl + 4 * fm + fh)
        left = (mid - lo) / 6 * (fl + 4 * f(0.5 * (lo + mid)) + fm)
        right = (hi - mid) / 6 * (fm + 4 * f(0.5 * (mid + hi)) + fh)
        evaluations += 5
        if abs(left + right - whole) < 15 * tol or hi - lo < 1e-6:
            total += left + right
        else:
            stack[top] = lo, mid
            stack[top + 1] = mid, hi
            top += 2
    return total, evaluations


def gauss_legendre(guess):
    n, x = len(guess), guess.copy()
    for _ in range(100):
        p0, p1 = np.ones(n), x.copy()
        for k in range(2, n + 1):
            p0, p1 = p1, ((2 * k - 1) * x * p1 - (k - 1) * p0) / k
        dp = n * (x * p1 - p0) / (x * x - 1)
        dx = p1 / dp
        x -= dx
        if np.max(np.abs(dx)) < 1e-15:
            break
    w = 2 / ((1 - x * x) * dp * dp)
    return x[::-1], w[::-1]


def american_psor(m, steps, omega):
    K, r, sigma, T, smax = 10.0, 0.05, 0.3, 1.0, 30.0
    s = np.linspace(0, smax, m + 1)
    payoff = np.maximum(K - s, 0.0)
    v = payoff.copy()
    dt = T / steps
    j = np.arange(m + 1)
    al = 0.25 * dt * (sigma**2 * j**2 - r * j)
    be = -0.5 * dt * (sigma**2 * j**2 + r)
    ga = 0.25 * dt * (sigma**2 * j**2 + r * j)
    sweeps = 0
    for _ in range(steps):
        rhs = np.zeros(m + 1)
        rhs[1:-1] = al[1:-1] * v[:-2] + (1 + be[1:-1]) * v[1:-1] + ga[1:-1] * v[2:]
        rhs[1] += al[1] * K
        for sweep in range(200):
            error = 0.0
            for i in range(1, m):
                y = (rhs[i] + al[i] * v[i - 1] * (i > 1) + ga[i] * v[i + 1]) / (1 - be[i])
                y = max(payoff[i], v[i] + omega * (y - v[i]))
                error += (y - v[i]) ** 2
                v[i] = y
            sweeps += 1
            if error < 1e-12:
                break
    return v, sweeps


def durand_kerner(coef):
    n = len(coef) - 1
    c = coef / coef[0]
    roots = (0.4 + 0.9j) ** np.arange(n)
    for it in range(200):
        old = roots.copy()
        for i in range(n):
            p = 0j
            for a in c:
                p = p * roots[i] + a
            q = 1 + 0j
            for j in range(n):
                if j != i:
                    q *= roots[i] - roots[j]
            roots[i] -= p / q
        if np.abs(roots - old).max() < 1e-13:
            break
    return roots, it


def jacobi_svd(A, tol=1e-12):
    U = A.copy()
    n = U.shape[1]
    V = np.eye(n)
    for sweep in range(30):
        off = 0.0
        for p in range(n - 1):
            for q in range(p + 1, n):
                alpha = U[:, p] @ U[:, p]
                beta = U[:, q] @ U[:, q]
                gamma = U[:, p] @ U[:, q]
                off = max(off, abs(gamma) / np.sqrt(alpha * beta))
                if abs(gamma) < tol * np.sqrt(alpha * beta):
                    continue
                zeta = (beta - alpha) / (2 * gamma)
                t = np.sign(zeta) / (abs(zeta) + np.sqrt(1 + zeta * zeta)) if zeta != 0 else 1.0
                c = 1 / np.sqrt(1 + t * t)
                s = c * t
                for M in (U, V):
                    col = M[:, p].copy()
                    M[:, p] = c * col - s * M[:, q]
                    M[:, q] = s * col + c * M[:, q]
        if off < tol:
            break
    sigma = np.sqrt((U * U).sum(axis=0))
    order = np.argsort(sigma)[::-1]
    return U[:, order] / sigma[order], sigma[order], V[:, order].T


def banded_solve(ab, rhs, lower, upper):
    ab = ab.copy()
    x = rhs.copy()
    n = x.size
    for k in range(n - 1):
        for i in range(k + 1, min(k + lower + 1, n)):
            f = ab[upper + i - k, k] / ab[upper, k]
            for j in range(k + 1, min(k + upper + 1, n)):
                ab[upper + i - j, j] -= f * ab[upper + k - j, j]
            x[i] -= f * x[k]
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, min(i + upper + 1, n)):
            x[i] -= ab[upper + i - j, j] * x[j]
        x[i] /= ab[upper, i]
    return x


def holt_winters(x, period, alpha, beta, gamma):
    season = x[:period] / x[:period].mean()
    level, trend = x[:period].mean(), (x[period : 2 * period].mean() - x[:period].mean()) / period
    fitted = np.full_like(x, np.nan)
    sse = 0.0
    for t in range(period, len(x)):
        s = season[t % period]
        fitted[t] = (level + trend) * s
        sse += (x[t] - fitted[t]) ** 2
        last = level
        level = alpha * x[t] / s + (1 - alpha) * (level + trend)
        trend = beta * (level - last) + (1 - beta) * trend
        season[t % period] = gamma * x[t] / level + (1 - gamma) * s
    return fitted, sse, season


def ewma_nan(x, alpha, ignore_na=False, min_periods=1):
    out = np.full(x.shape, np.nan)
    num = den = 0.0
    seen = 0
    for i, v in enumerate(x):
        if np.isnan(v):
            if not ignore_na:
                num *= 1 - alpha
                den *= 1 - alpha
        else:
            num = num * (1 - alpha) + v
            den = den * (1 - alpha) + 1.0
            seen += 1
        if seen >= min_periods:
            out[i] = num / den
    return out


def with_gaps(rng, n):
    x = rng.standard_normal(n)
    x[rng.random(n) < 0.2] = np.nan
    return x


def banded(rng, n, lower, upper):
    bands = rng.random((lower + upper + 1, n))
    bands[upper] += 8.0
    return bands, rng.random(n), lower, upper


def legendre_roots(n):
    """A first guess of them, after Tricomi; an argument, so that NumPy's own error can be told."""
    return np.cos(np.pi * (np.arange(1, n + 1) - 0.25) / (n + 0.5))


PROGRAMS = (
    Program(
        dormand_prince,
        lambda rng, n: (np.array([2.0, 0.1 * rng.random()]), 2.0, 0.02 * n, 1e-7),
        (20, 200),
        2_000,
    ),
    Program(adaptive_simpson, lambda rng, n: (0.0, 0.1 * n, 1e-8), (5, 60), 250),
    Program(gauss_legendre, lambda rng, n: (legendre_roots(n),), (4, 60), 500),
    Program(american_psor, lambda rng, n: (n, 2 + n // 20, 1.2), (8, 30), 100),
    Program(durand_kerner, lambda rng, n: (rng.random(n) - 0.5,), (4, 12), 40),
    Program(jacobi_svd, lambda rng, n: (rng.random((n + 3, n)), 1e-12), (3, 10), 40),
    Program(banded_solve, lambda rng, n: banded(rng, n, 4, 3), (7, 300), 5_000, True),
    Program(
        holt_winters,
        lambda rng, n: (1 + rng.random(4 * n), n, 0.3, 0.1, 0.2),
        (4, 1_000),
        10_000,
    ),
    Program(ewma_nan, lambda rng, n: (with_gaps(rng, n), 0.1, False, 2), (9, 5_000), 50_000, True),
)
