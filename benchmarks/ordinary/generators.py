"""Generators: batches, windows, running numbers, sieves, pipelines."""

import itertools
import math

import numpy as np

from benchmarks.ordinary.inputs import text
from benchmarks.programs.program import Program


def batches(x, size):
    for start in range(0, len(x), size):
        yield x[start : start + size]


def batch_means(x, size):
    means = []
    for batch in batches(x, size):
        means.append(batch.mean(axis=0))
    return np.stack(means)


def shuffled_batches(x, y, size, rng):
    order = rng.permutation(len(x))
    for start in range(0, len(x), size):
        chosen = order[start : start + size]
        yield x[chosen], y[chosen]


def train_in_batches(x, y, epochs, seed):
    rng = np.random.default_rng(seed)
    w = np.zeros(x.shape[1])
    losses = []
    for _ in range(epochs):
        total = 0.0
        for xb, yb in shuffled_batches(x, y, 4, rng):
            error = xb @ w - yb
            w -= 0.1 * xb.T @ error / len(xb)
            total += float((error**2).sum())
        losses.append(total / len(x))
    return w, losses


def windows(sequence, n):
    it = iter(sequence)
    window = tuple(itertools.islice(it, n))
    if len(window) == n:
        yield window
    for item in it:
        window = (*window[1:], item)
        yield window


def moving_medians(values, n):
    return np.array([sorted(w)[n // 2] for w in windows(values, n)])


def running_statistics(values):
    count, mean, m2 = 0, 0.0, 0.0
    for value in values:
        count += 1
        delta = value - mean
        mean += delta / count
        m2 += delta * (value - mean)
        yield mean, math.sqrt(m2 / count)


def alarms(values, limit):
    found = []
    for i, (value, (mean, std)) in enumerate(zip(values, running_statistics(values))):
        if i > 3 and abs(value - mean) > limit * std:
            found.append(i)
    return np.array(found, dtype=int), list(running_statistics(values))[-1]


def primes():
    composites = {}
    for n in itertools.count(2):
        if n not in composites:
            yield n
            composites[n * n] = [n]
        else:
            for p in composites.pop(n):
                composites.setdefault(p + n, []).append(p)


def prime_gaps(n):
    first = np.array(list(itertools.islice(primes(), n)))
    gaps = np.diff(first)
    values, counts = np.unique(gaps, return_counts=True)
    return first, dict(zip(values.tolist(), counts.tolist()))


def sieve(n):
    is_prime = np.ones(n + 1, dtype=bool)
    is_prime[:2] = False
    for i in range(2, int(n**0.5) + 1):
        if is_prime[i]:
            is_prime[i * i :: i] = False
    return np.flatnonzero(is_prime)


def parse(lines):
    for line in lines:
        fields = line.split()
        if fields:
            yield fields


def keep(rows, length):
    return (row for row in rows if len(row) >= length)


def lengths(rows):
    for row in rows:
        yield [len(word) for word in row[:3]]


def pipeline(lines):
    table = np.array(list(lengths(keep(parse(lines), 3))), dtype=float)
    return table.mean(axis=0), np.cov(table.T)


def collatz(n):
    while n != 1:
        yield n
        n = n // 2 if n % 2 == 0 else 3 * n + 1
    yield 1


def longest_collatz(limit):
    steps = np.array([sum(1 for _ in collatz(n)) for n in range(1, limit)])
    return int(steps.argmax()) + 1, steps


def accumulator():
    total = 0.0
    while True:
        value = yield total
        if value is None:
            return
        total += value


def coroutine_sum(values):
    running = accumulator()
    next(running)
    totals = [running.send(v) for v in values]
    try:
        running.send(None)
    except StopIteration:
        totals.append(-1.0)
    return np.array(totals)


def flatten(nested):
    for item in nested:
        if isinstance(item, (list, tuple)):
            yield from flatten(item)
        else:
            yield item


def flat_norm(nested):
    flat = np.fromiter(flatten(nested), dtype=float)
    return flat, math.sqrt(sum(v * v for v in flat))


def nested(rng, n):
    tree = [float(v) for v in rng.random(3)]
    for k in range(n):
        tree = [tree, float(k)] if k % 2 else [*tree, (k, 0.5)]
    return (tree,)


def regression(rng, n):
    x = rng.normal(size=(n, 3))
    return x, x @ np.array([1.0, -2.0, 0.5]) + 0.1 * rng.normal(size=n), 5, 9


PROGRAMS = (
    Program(batch_means, lambda rng, n: (rng.random((n, 3)), 4), (10, 60), 20_000),
    Program(train_in_batches, regression, (10, 40), 1_000),
    Program(moving_medians, lambda rng, n: (rng.random(n).tolist(), 5), (9, 200), 20_000, True),
    Program(alarms, lambda rng, n: (rng.normal(size=n), 2.0), (9, 100), 10_000),
    Program(prime_gaps, lambda rng, n: (n,), (9, 100), 5_000, True),
    Program(sieve, lambda rng, n: (n,), (30, 200), 1_000_000, True),
    Program(pipeline, lambda rng, n: ([text(rng, k % 7) for k in range(n)],), (12, 90), 9_000),
    Program(longest_collatz, lambda rng, n: (n,), (9, 50), 1_000, True),
    Program(coroutine_sum, lambda rng, n: (rng.random(n).tolist(),), (9, 90), 90_000),
    Program(flat_norm, nested, (5, 40), 300),
)
