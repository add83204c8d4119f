"""Training steps, inference in chains and grids, estimates of densities."""

import numpy as np

from benchmarks.programs.program import Program


def softmax_regression(X, labels, W, b, rate, epochs):
    n = X.shape[0]
    losses = np.zeros(epochs)
    for epoch in range(epochs):
        scores = X @ W + b
        scores -= scores.max(axis=1, keepdims=True)
        probs = np.exp(scores)
        probs /= probs.sum(axis=1, keepdims=True)
        losses[epoch] = -np.log(probs[np.arange(n), labels]).mean()
        probs[np.arange(n), labels] -= 1
        probs /= n
        W -= rate * (X.T @ probs)
        b -= rate * probs.sum(axis=0)
    return losses


def logistic_regression(X, y, rate, tol, max_iter):
    w = np.zeros(X.shape[1])
    for it in range(max_iter):
        p = 1.0 / (1.0 + np.exp(-(X @ w)))
        gradient = X.T @ (p - y) / len(y)
        w -= rate * gradient
        if np.sqrt(np.sum(gradient**2)) < tol:
            break
    return w, it


def stochastic_gradient(X, y, order, rate):
    w = np.zeros(X.shape[1])
    for i in order:
        error = X[i] @ w - y[i]
        w -= rate * error * X[i]
    return w


def perceptron(X, y, epochs):
    w = np.zeros(X.shape[1])
    bias = 0.0
    mistakes = 0
    for _ in range(epochs):
        errors = 0
        for xi, target in zip(X, y):
            if target * (np.dot(xi, w) + bias) <= 0:
                w = w + target * xi
                bias += target
                errors += 1
        mistakes += errors
        if errors == 0:
            break
    return w, bias, mistakes


def adam(x, target, rate, beta1, beta2, steps):
    m = np.zeros_like(x)
    v = np.zeros_like(x)
    for t in range(1, steps + 1):
        g = 2 * (x - target)
        m = beta1 * m + (1 - beta1) * g
        v = beta2 * v + (1 - beta2) * g * g
        m_hat = m / (1 - beta1**t)
        v_hat = v / (1 - beta2**t)
        x = x - rate * m_hat / (np.sqrt(v_hat) + 1e-8)
    return x


def two_layer_network(X, Y, W1, W2, rate, steps):
    for _ in range(steps):
        hidden = np.maximum(X @ W1, 0)
        error = hidden @ W2 - Y
        grad2 = hidden.T @ error / len(X)
        back = error @ W2.T
        back[hidden <= 0] = 0
        grad1 = X.T @ back / len(X)
        W1 -= rate * grad1
        W2 -= rate * grad2
    return (error**2).mean()


def recurrent_network(inputs, Wx, Wh, b):
    steps = inputs.shape[0]
    h = np.zeros(Wh.shape[0])
    states = np.zeros((steps, Wh.shape[0]))
    for t in range(steps):
        h = np.tanh(Wx @ inputs[t] + Wh @ h + b)
        states[t] = h
    return states


def hmm_forward(start, trans, emit, observations):
    alpha = start * emit[:, observations[0]]
    scale = alpha.sum()
    alpha /= scale
    log_likelihood = np.log(scale)
    for o in observations[1:]:
        alpha = (alpha @ trans) * emit[:, o]
        scale = alpha.sum()
        alpha /= scale
        log_likelihood += np.log(scale)
    return alpha, log_likelihood


def belief_update(belief, moves, readings, world, p_move, p_sense):
    for step in range(len(moves)):
        shifted = np.roll(belief, moves[step])
        belief = p_move * shifted + (1 - p_move) * belief
        likelihood = np.where(world == readings[step], p_sense, 1 - p_sense)
        belief = belief * likelihood
        belief /= belief.sum()
    return belief, np.argmax(belief)


def value_iteration(reward, gamma, tol):
    values = np.zeros_like(reward)
    sweeps = 0
    delta = np.inf
    while delta > tol:
        up = np.vstack([values[:1], values[:-1]])
        down = np.vstack([values[1:], values[-1:]])
        left = np.hstack([values[:, :1], values[:, :-1]])
        right = np.hstack([values[:, 1:], values[:, -1:]])
        best = np.maximum(np.maximum(up, down), np.maximum(left, right))
        new = reward + gamma * best
        delta = np.max(np.abs(new - values))
        values = new
        sweeps += 1
    return values, sweeps


def q_learning(Q, states, actions, rewards, next_states, alpha, gamma):
    for i in range(len(states)):
        s, a = states[i], actions[i]
        target = rewards[i] + gamma * np.max(Q[next_states[i]])
        Q[s, a] += alpha * (target - Q[s, a])
    return Q.argmax(axis=1)


def kernel_density(points, grid, bandwidth):
    density = np.zeros_like(grid)
    for p in points:
        density += np.exp(-0.5 * ((grid - p) / bandwidth) ** 2)
    return density / (len(points) * bandwidth * np.sqrt(2 * np.pi))


def gaussian_mixture(x, mu, sigma, weight, iterations):
    for _ in range(iterations):
        d = (x[:, None] - mu) / sigma
        density = weight * np.exp(-0.5 * d**2) / (sigma * np.sqrt(2 * np.pi))
        resp = density / density.sum(axis=1, keepdims=True)
        total = resp.sum(axis=0)
        weight = total / len(x)
        mu = (resp * x[:, None]).sum(axis=0) / total
        sigma = np.sqrt((resp * (x[:, None] - mu) ** 2).sum(axis=0) / total)
    return mu, sigma, weight


def principal_components(X, k, iterations):
    X = X - X.mean(axis=0)
    C = X.T @ X / (len(X) - 1)
    components = np.zeros((k, X.shape[1]))
    variances = np.zeros(k)
    for i in range(k):
        v = np.ones(X.shape[1])
        for _ in range(iterations):
            v = C @ v
            v /= np.linalg.norm(v)
        components[i] = v
        variances[i] = v @ C @ v
        C = C - variances[i] * np.outer(v, v)
    return components, variances


def matrix_factorization(R, mask, P, Q, rate, reg, steps):
    for _ in range(steps):
        error = np.where(mask, R - P @ Q.T, 0.0)
        P, Q = P + rate * (error @ Q - reg * P), Q + rate * (error.T @ P - reg * Q)
    return P, Q, np.sqrt((error**2).sum() / mask.sum())


def distribution(rng, *shape):
    p = rng.random(shape) + 0.1
    return p / p.sum(axis=-1, keepdims=True)


PROGRAMS = (
    Program(
        softmax_regression,
        lambda rng, n: (
            rng.standard_normal((n, 6)),
            rng.integers(0, 4, n),
            0.01 * rng.standard_normal((6, 4)),
            np.zeros(4),
            0.5,
            3 + n // 100,
        ),
        (8, 500),
        4_000,
    ),
    Program(
        logistic_regression,
        lambda rng, n: (
            rng.standard_normal((n, 5)),
            (rng.random(n) < 0.5).astype(np.float64),
            0.5,
            1e-4,
            60,
        ),
        (8, 500),
        40_000,
    ),
    Program(
        stochastic_gradient,
        lambda rng, n: (
            rng.standard_normal((n, 5)),
            rng.standard_normal(n),
            rng.permutation(n),
            0.01,
        ),
        (6, 1_000),
        20_000,
    ),
    Program(
        perceptron,
        lambda rng, n: (rng.standard_normal((n, 4)), rng.choice([-1.0, 1.0], n), 4),
        (6, 500),
        10_000,
    ),
    Program(
        adam,
        lambda rng, n: (rng.random(n), rng.random(n), 0.01, 0.9, 0.999, 3 + n // 50),
        (7, 1_000),
        10_000,
    ),
    Program(
        two_layer_network,
        lambda rng, n: (
            rng.standard_normal((n, 6)),
            rng.standard_normal((n, 2)),
            0.3 * rng.standard_normal((6, 10)),
            0.3 * rng.standard_normal((10, 2)),
            0.05,
            3 + n // 100,
        ),
        (7, 400),
        6_000,
    ),
    Program(
        recurrent_network,
        lambda rng, n: (
            rng.standard_normal((n, 5)),
            0.3 * rng.standard_normal((12, 5)),
            0.3 * rng.standard_normal((12, 12)),
            np.zeros(12),
        ),
        (5, 500),
        5_000,
    ),
    Program(
        hmm_forward,
        lambda rng, n: (
            distribution(rng, 6),
            distribution(rng, 6, 6),
            distribution(rng, 6, 9),
            rng.integers(0, 9, n),
        ),
        (6, 1_000),
        10_000,
    ),
    Program(
        belief_update,
        lambda rng, n: (
            np.full(n, 1 / n),
            rng.integers(0, 3, 3 + n // 10),
            rng.integers(0, 2, 3 + n // 10),
            rng.integers(0, 2, n),
            0.8,
            0.9,
        ),
        (7, 500),
        5_000,
    ),
    Program(
        value_iteration, lambda rng, n: (rng.random((n, n + 2)), 0.8, 1e-4), (5, 40), 250, True
    ),
    Program(
        q_learning,
        lambda rng, n: (
            np.zeros((20, 4)),
            rng.integers(0, 20, n),
            rng.integers(0, 4, n),
            rng.random(n),
            rng.integers(0, 20, n),
            0.1,
            0.9,
        ),
        (8, 2_000),
        30_000,
        True,
    ),
    Program(
        kernel_density,
        lambda rng, n: (rng.standard_normal(n), np.linspace(-3, 3, n + 2), 0.3),
        (6, 300),
        1_500,
    ),
    Program(
        gaussian_mixture,
        lambda rng, n: (
            rng.standard_normal(n) + 3 * rng.integers(0, 3, n),
            np.array([0.0, 3.0, 6.0]),
            np.ones(3),
            np.full(3, 1 / 3),
            min(10, 2 + n // 100),
        ),
        (9, 1_000),
        30_000,
    ),
    Program(
        principal_components, lambda rng, n: (rng.standard_normal((4 * n, n)), 2, 20), (4, 40), 200
    ),
    Program(
        matrix_factorization,
        lambda rng, n: (
            rng.random((n, n + 3)),
            rng.random((n, n + 3)) < 0.5,
            rng.random((n, 4)),
            rng.random((n + 3, 4)),
            0.01,
            0.02,
            3 + n // 20,
        ),
        (6, 80),
        400,
    ),
)
