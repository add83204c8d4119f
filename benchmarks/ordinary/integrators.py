"""Numbers from callbacks: integrators, roots, minima, shooting."""

import math

import numpy as np

from benchmarks.programs.program import Program


def euler(f, y0, t):
    y = [y0]
    for a, b in zip(t[:-1], t[1:]):
        y.append(y[-1] + (b - a) * f(a, y[-1]))
    return np.array(y)


def rk4(f, y, t):
    states = [y]
    for i in range(len(t) - 1):
        h = t[i + 1] - t[i]
        k1 = f(t[i], y)
        k2 = f(t[i] + h / 2, y + h / 2 * k1)
        k3 = f(t[i] + h / 2, y + h / 2 * k2)
        k4 = f(t[i] + h, y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        states.append(y)
    return np.array(states)


def pendulum(t, y):
    theta, omega = y
    return np.array([omega, -9.81 * math.sin(theta) - 0.1 * omega])


def decay_by_euler(n, rate):
    t = np.linspace(0, 5, n)
    y = euler(lambda t, y: -rate * y, 1.0, t)
    return y, np.abs(y - np.exp(-rate * t)).max()


def pendulum_by_rk4(n, angle):
    t = np.linspace(0, 2, n)
    return rk4(pendulum, np.array([angle, 0.0]), t)


def lorenz_by_rk4(n, parameters):
    def f(t, y):
        x, v, z = y
        return np.array([
            parameters["sigma"] * (v - x),
            x * (parameters["rho"] - z) - v,
            x * v - parameters["beta"] * z,
        ])  # fmt: skip

    states = rk4(f, np.array([1.0, 1.0, 1.0]), np.arange(n) * 0.01)
    return {"x": states[:, 0], "energy": (states**2).sum(axis=1)}


def rk45_step(f, t, y, h):
    k1 = f(t, y)
    k2 = f(t + h / 4, y + h * k1 / 4)
    k3 = f(t + 3 * h / 8, y + h * (3 * k1 + 9 * k2) / 32)
    k4 = f(t + 12 * h / 13, y + h * (1932 * k1 - 7200 * k2 + 7296 * k3) / 2197)
    k5 = f(t + h, y + h * (439 * k1 / 216 - 8 * k2 + 3680 * k3 / 513 - 845 * k4 / 4104))
    k6 = f(
        t + h / 2,
        y + h * (-8 * k1 / 27 + 2 * k2 - 3544 * k3 / 2565 + 1859 * k4 / 4104 - 11 * k5 / 40),
    )
    fourth = y + h * (25 * k1 / 216 + 1408 * k3 / 2565 + 2197 * k4 / 4104 - k5 / 5)
    fifth = y + h * (
        16 * k1 / 135 + 6656 * k3 / 12825 + 28561 * k4 / 56430 - 9 * k5 / 50 + 2 * k6 / 55
    )
    return fifth, np.abs(fifth - fourth).max()


def van_der_pol_adaptive(end, mu, tol):
    def f(t, y):
        return np.array([y[1], mu * (1 - y[0] ** 2) * y[1] - y[0]])

    t, y, h = 0.0, np.array([2.0, 0.0]), 0.1
    times, states, rejected = [t], [y], 0
    while t < end:
        h = min(h, end - t)
        new, error = rk45_step(f, t, y, h)
        if error <= tol:
            t, y = t + h, new
            times.append(t)
            states.append(y)
        else:
            rejected += 1
        h *= min(4.0, max(0.1, 0.9 * (tol / max(error, 1e-16)) ** 0.2))
    return np.array(times), np.array(states), rejected


def rk4_from_the_last_state(f, y0, t):
    states = [y0]
    for i in range(1, len(t)):
        h, y = t[i] - t[i - 1], states[-1]
        k1 = f(t[i - 1], y)
        k2 = f(t[i - 1] + h / 2, y + h * k1 / 2)
        k3 = f(t[i - 1] + h / 2, y + h * k2 / 2)
        k4 = f(t[i], y + h * k3)
        states.append(y + h * (k1 + 2 * k2 + 2 * k3 + k4) / 6)
    return np.array(states)


def driven_decay(n, rate):
    def f(t, y):
        return -rate * y + math.cos(t)

    return rk4_from_the_last_state(f, 1.0, np.linspace(0, 5, n))


def swinging(n, angle):
    return rk4_from_the_last_state(pendulum, np.array([angle, 0.0]), np.linspace(0, 2, n))


def conjugate_step(x, residual, direction, square):
    image = 2.5 * direction
    image[1:] -= direction[:-1]
    image[:-1] -= direction[1:]
    length = square / (direction @ image)
    x = x + length * direction
    residual = residual - length * image
    new = residual @ residual
    return x, residual, residual + new / square * direction, new


def conjugate_gradients(b, tol):
    x, residual, direction = np.zeros_like(b), b, b
    square = b @ b
    errors = []
    for _ in range(len(b)):
        x, residual, direction, square = conjugate_step(x, residual, direction, square)
        errors.append(math.sqrt(square))
        if errors[-1] < tol:
            break
    return x, len(errors)


def kepler_leapfrog(steps, dt):
    def acceleration(r):
        return -r / np.linalg.norm(r) ** 3

    position, velocity = np.array([1.0, 0.0]), np.array([0.0, 0.9])
    orbit, energies = [], []
    a = acceleration(position)
    for _ in range(steps):
        velocity = velocity + 0.5 * dt * a
        position = position + dt * velocity
        a = acceleration(position)
        velocity = velocity + 0.5 * dt * a
        orbit.append(position)
        energies.append(0.5 * velocity @ velocity - 1 / np.linalg.norm(position))
    return np.array(orbit), max(energies) - min(energies)


def bisect(f, a, b, tol=1e-12):
    fa, fb = f(a), f(b)
    if fa * fb > 0:
        raise ValueError("f(a) and f(b) have the same sign")
    while b - a > tol:
        m = (a + b) / 2
        fm = f(m)
        if fm == 0:
            return m
        if fa * fm < 0:
            b = m
        else:
            a, fa = m, fm
    return (a + b) / 2


def newton(f, df, x, tol=1e-12, max_iter=50):
    for i in range(max_iter):
        step = f(x) / df(x)
        x -= step
        if abs(step) < tol:
            return x, i
    raise RuntimeError("did not converge")


def secant(f, a, b, tol=1e-12):
    while abs(b - a) > tol:
        a, b = b, b - f(b) * (b - a) / (f(b) - f(a))
        if f(b) == f(a):
            break
    return b


def roots_three_ways(coefficients):
    results = []
    for c in coefficients:

        def f(x):
            return x**3 + c * x - 1

        try:
            by_bisection = bisect(f, 0.0, 2.0)
        except ValueError as error:
            results.append(str(error))
            continue
        by_newton, rounds = newton(f, lambda x: 3 * x**2 + c, 1.0)
        results.append(
            (round(by_bisection, 9), round(by_newton, 9), rounds, round(secant(f, 0.5, 1.0), 9))
        )
    return results


def shooting(n, target):
    """The first slope with which y'' = -y + x y' / 10 reaches the target at x = 2."""

    def end(slope):
        h = 2 / n
        x, y, v = 0.0, 0.0, slope
        for _ in range(n):
            v += h * (-y + x * v / 10)
            y += h * v
            x += h
        return y - target

    a, b = -5.0, 5.0
    return bisect(end, a, b, 1e-9)


def golden_section(f, a, b, tol):
    ratio = (math.sqrt(5) - 1) / 2
    c, d = b - ratio * (b - a), a + ratio * (b - a)
    evaluations = 0
    while b - a > tol:
        if f(c) < f(d):
            b = d
        else:
            a = c
        c, d = b - ratio * (b - a), a + ratio * (b - a)
        evaluations += 2
    return (a + b) / 2, evaluations


def fit_decay_rate(t, y):
    def loss(rate):
        return ((y - np.exp(-rate * t)) ** 2).sum()

    rate, evaluations = golden_section(loss, 0.0, 4.0, 1e-6)
    return round(rate, 4), evaluations


def gradient_descent_with_history(x, y, rate):
    w, b = 0.0, 0.0
    history = []
    for epoch in range(40):
        error = w * x + b - y
        loss = (error**2).mean()
        history.append({"epoch": epoch, "loss": loss, "w": w, "b": b})
        w -= rate * 2 * (error * x).mean()
        b -= rate * 2 * error.mean()
        if len(history) > 1 and abs(history[-2]["loss"] - loss) < 1e-9:
            break
    return w, b, [h["loss"] for h in history if h["epoch"] % 10 == 0]


PROGRAMS = (
    Program(decay_by_euler, lambda rng, n: (n, 1.3), (6, 60), 3_000),
    Program(pendulum_by_rk4, lambda rng, n: (n, 0.4), (5, 30), 500),
    Program(
        lorenz_by_rk4,
        lambda rng, n: (n, {"sigma": 10.0, "rho": 28.0, "beta": 8 / 3}),
        (5, 30),
        500,
    ),
    Program(driven_decay, lambda rng, n: (n, 0.5), (5, 300), 3_000),
    Program(swinging, lambda rng, n: (n, 0.4), (5, 300), 3_000),
    Program(conjugate_gradients, lambda rng, n: (rng.random(n), 1e-8), (8, 1_000), 10_000),
    Program(van_der_pol_adaptive, lambda rng, n: (n / 10, 1.5, 1e-4), (4, 20), 200),
    Program(kepler_leapfrog, lambda rng, n: (n, 0.02), (5, 20), 2_000),
    Program(roots_three_ways, lambda rng, n: (rng.uniform(-2, 9, n).tolist(),), (3, 20), 200),
    Program(shooting, lambda rng, n: (n, 0.7), (10, 100), 1_000),
    Program(
        fit_decay_rate,
        lambda rng, n: ((t := np.linspace(0, 3, n)), np.exp(-1.7 * t) + 0.01 * rng.normal(size=n)),
        (8, 100),
        10_000,
    ),
    Program(
        gradient_descent_with_history,
        lambda rng, n: ((x := rng.random(n)), 3 * x + 1 + 0.1 * rng.normal(size=n), 0.1),
        (8, 100),
        10_000,
    ),
)
