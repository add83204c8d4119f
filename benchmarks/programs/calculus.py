"""Integrals, roots, differential equations, prices."""

import math

import numpy as np

from benchmarks.programs.program import Program


def trapezoid(y, x):
    total = 0.0
    for i in range(len(x) - 1):
        total += 0.5 * (y[i] + y[i + 1]) * (x[i + 1] - x[i])
    return total


def simpson(a, b, n):
    x = np.linspace(a, b, n + 1)
    y = np.exp(-(x**2)) * np.cos(3 * x)
    h = (b - a) / n
    return h / 3 * (y[0] + 4 * np.sum(y[1:-1:2]) + 2 * np.sum(y[2:-1:2]) + y[-1])


def integrand(x):
    return 1.0 / (1.0 + x * x)


def romberg(a, b, depth):
    R = np.zeros((depth, depth))
    h = b - a
    R[0, 0] = 0.5 * h * (integrand(a) + integrand(b))
    for i in range(1, depth):
        h *= 0.5
        total = 0.0
        for k in range(1, 2**i, 2):
            total += integrand(a + k * h)
        R[i, 0] = 0.5 * R[i - 1, 0] + h * total
        for j in range(1, i + 1):
            R[i, j] = R[i, j - 1] + (R[i, j - 1] - R[i - 1, j - 1]) / (4**j - 1)
    return R[depth - 1, depth - 1], R


def horner(coefficients, x):
    result = np.zeros_like(x)
    for c in coefficients:
        result = result * x + c
    return result


def chebyshev_sum(c, x):
    b1 = np.zeros_like(x)
    b2 = np.zeros_like(x)
    for k in range(len(c) - 1, 0, -1):
        b1, b2 = c[k] + 2 * x * b1 - b2, b1
    return c[0] + x * b1 - b2


def newton_roots(a, tol, max_iter):
    x = np.ones_like(a)
    for k in range(max_iter):
        step = (x**3 - a) / (3 * x**2)
        x = x - step
        if np.all(np.abs(step) < tol):
            break
    return x, k


def bisection(target, lo, hi, steps):
    lo = np.full(target.shape, lo)
    hi = np.full(target.shape, hi)
    for _ in range(steps):
        mid = 0.5 * (lo + hi)
        high = mid * mid * mid + mid > target
        hi = np.where(high, mid, hi)
        lo = np.where(high, lo, mid)
    return 0.5 * (lo + hi)


def kepler(mean_anomaly, eccentricity):
    E = mean_anomaly.copy()
    for i in range(len(E)):
        M = mean_anomaly[i]
        guess = M
        while True:
            delta = (guess - eccentricity * math.sin(guess) - M) / (
                1 - eccentricity * math.cos(guess)
            )
            guess -= delta
            if abs(delta) < 1e-12:
                break
        E[i] = guess
    return E


def lorenz(state, sigma, rho, beta):
    x, y, z = state
    return np.array([sigma * (y - x), x * (rho - z) - y, x * y - beta * z])


def rk4_lorenz(start, dt, steps):
    path = np.empty((steps + 1, 3))
    path[0] = start
    for i in range(steps):
        y = path[i]
        k1 = lorenz(y, 10.0, 28.0, 8.0 / 3.0)
        k2 = lorenz(y + 0.5 * dt * k1, 10.0, 28.0, 8.0 / 3.0)
        k3 = lorenz(y + 0.5 * dt * k2, 10.0, 28.0, 8.0 / 3.0)
        k4 = lorenz(y + dt * k3, 10.0, 28.0, 8.0 / 3.0)
        path[i + 1] = y + dt / 6.0 * (k1 + 2 * k2 + 2 * k3 + k4)
    return path


def rk4_pendulums(theta, omega, damping, dt, steps):
    def acceleration(th, om):
        return -np.sin(th) - damping * om

    for _ in range(steps):
        k1t, k1o = omega, acceleration(theta, omega)
        k2t, k2o = (
            omega + 0.5 * dt * k1o,
            acceleration(theta + 0.5 * dt * k1t, omega + 0.5 * dt * k1o),
        )
        k3t, k3o = (
            omega + 0.5 * dt * k2o,
            acceleration(theta + 0.5 * dt * k2t, omega + 0.5 * dt * k2o),
        )
        k4t, k4o = omega + dt * k3o, acceleration(theta + dt * k3t, omega + dt * k3o)
        theta = theta + dt / 6 * (k1t + 2 * k2t + 2 * k3t + k4t)
        omega = omega + dt / 6 * (k1o + 2 * k2o + 2 * k3o + k4o)
    return theta, omega


def predator_prey(prey, predators, a, b, c, d, dt, steps):
    history = np.zeros((steps, 2))
    for t in range(steps):
        history[t, 0] = prey
        history[t, 1] = predators
        born = prey * (a - b * predators)
        died = predators * (c - d * prey)
        prey, predators = prey + dt * born, predators - dt * died
    return history


def verlet_chain(x, v, k, dt, steps):
    n = len(x)
    energy = np.zeros(steps)
    a = np.zeros(n)
    for t in range(steps):
        a[1:-1] = k * (x[2:] - 2 * x[1:-1] + x[:-2])
        v += 0.5 * dt * a
        x += dt * v
        a[1:-1] = k * (x[2:] - 2 * x[1:-1] + x[:-2])
        v += 0.5 * dt * a
        energy[t] = 0.5 * np.sum(v**2) + 0.5 * k * np.sum((x[1:] - x[:-1]) ** 2)
    return energy


def euler_maruyama(rng, x0, theta, mu, sigma, dt, steps):
    x = x0.copy()
    root = np.sqrt(dt)
    for _ in range(steps):
        x += theta * (mu - x) * dt + sigma * root * rng.standard_normal(x.shape)
    return x, x.mean(), x.std()


def logistic_map(r, x, warmup, samples):
    for _ in range(warmup):
        x = r * x * (1 - x)
    orbit = np.empty((samples, r.size))
    for i in range(samples):
        x = r * x * (1 - x)
        orbit[i] = x
    return orbit


def binomial_tree(S0, K, T, r, sigma, N):
    dt = T / N
    u = np.exp(sigma * np.sqrt(dt))
    d = 1.0 / u
    p = (np.exp(r * dt) - d) / (u - d)
    discount = np.exp(-r * dt)
    prices = S0 * d ** np.arange(N, -1, -1) * u ** np.arange(0, N + 1)
    values = np.maximum(K - prices, 0.0)
    for i in range(N - 1, -1, -1):
        values = discount * (p * values[1 : i + 2] + (1 - p) * values[0 : i + 1])
        prices = S0 * d ** np.arange(i, -1, -1) * u ** np.arange(0, i + 1)
        values = np.maximum(values, K - prices)
    return values[0]


def normal_cdf(x):
    k = 1.0 / (1.0 + 0.2316419 * np.abs(x))
    poly = k * (
        0.319381530 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429)))
    )
    tail = np.exp(-0.5 * x * x) / np.sqrt(2 * np.pi) * poly
    return np.where(x > 0, 1.0 - tail, tail)


def black_scholes(S, K, T, r, sigma):
    d1 = (np.log(S / K) + (r + 0.5 * sigma**2) * T) / (sigma * np.sqrt(T))
    d2 = d1 - sigma * np.sqrt(T)
    call = S * normal_cdf(d1) - K * np.exp(-r * T) * normal_cdf(d2)
    put = call - S + K * np.exp(-r * T)
    return call, put


def implied_volatility(price, S, K, T, r, tol, max_iter):
    sigma = np.full_like(price, 0.3)
    for it in range(max_iter):
        call, _ = black_scholes(S, K, T, r, sigma)
        d1 = (np.log(S / K) + (r + 0.5 * sigma**2) * T) / (sigma * np.sqrt(T))
        vega = S * np.sqrt(T) * np.exp(-0.5 * d1 * d1) / np.sqrt(2 * np.pi)
        diff = call - price
        if np.abs(diff).max() < tol:
            break
        sigma -= diff / np.maximum(vega, 1e-8)
    return sigma, it


def market(rng, n):
    return rng.uniform(80, 120, n), rng.uniform(80, 120, n), rng.uniform(0.5, 2, n), 0.03


def make_quotes(rng, n):
    contracts = market(rng, n)
    price, _ = black_scholes(*contracts, rng.uniform(0.2, 0.4, n))
    return price, *contracts, 1e-9, 20


PROGRAMS = (
    Program(
        trapezoid,
        lambda rng, n: (rng.random(n), np.cumsum(rng.random(n))),
        (9, 5_000),
        100_000,
        True,
    ),
    Program(simpson, lambda rng, n: (0.0, 2.0, 2 * n), (5, 5_000), 500_000),
    Program(romberg, lambda rng, n: (0.0, 1.0, n), (3, 10), 18, True),
    Program(horner, lambda rng, n: (rng.random(9), rng.random(n)), (9, 5_000), 1_000_000, True),
    Program(
        chebyshev_sum,
        lambda rng, n: (rng.random(12), rng.uniform(-1, 1, n)),
        (9, 5_000),
        500_000,
        True,
    ),
    Program(newton_roots, lambda rng, n: (1 + rng.random(n), 1e-9, 50), (9, 3_000), 500_000),
    Program(
        bisection, lambda rng, n: (10 * rng.random(n), 0.0, 4.0, 30), (9, 2_000), 100_000, True
    ),
    Program(kepler, lambda rng, n: (rng.uniform(0, 6, n), 0.3), (7, 1_000), 30_000),
    Program(
        rk4_lorenz, lambda rng, n: (np.array([1.0, 1.0, 20.0]), 0.01, n), (3, 200), 3_000, True
    ),
    Program(
        rk4_pendulums,
        lambda rng, n: (rng.random(n), rng.random(n), 0.1, 0.05, 2 + n // 50),
        (7, 500),
        5_000,
    ),
    Program(
        predator_prey,
        lambda rng, n: (10.0, 5.0, 1.1, 0.4, 0.4, 0.1, 0.001, n),
        (9, 5_000),
        100_000,
        True,
    ),
    Program(
        verlet_chain,
        lambda rng, n: (rng.random(n), np.zeros(n), 1.0, 0.1, 3 + n // 20),
        (7, 400),
        10_000,
    ),
    Program(
        euler_maruyama,
        lambda rng, n: (np.random.default_rng(n), rng.random(n), 1.0, 0.5, 0.2, 0.01, 3 + n // 20),
        (7, 500),
        4_000,
    ),
    Program(
        logistic_map,
        lambda rng, n: (rng.uniform(2.5, 3.5, n), rng.random(n), 10 + n // 20, 5),
        (9, 500),
        20_000,
        True,
    ),
    Program(binomial_tree, lambda rng, n: (100.0, 105.0, 1.0, 0.05, 0.2, n), (5, 60), 500),
    Program(
        black_scholes,
        lambda rng, n: (*market(rng, n), rng.uniform(0.1, 0.5, n)),
        (9, 5_000),
        300_000,
    ),
    Program(implied_volatility, make_quotes, (9, 1_000), 50_000),
)
