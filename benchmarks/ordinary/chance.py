"""Random numbers: Monte Carlo, resampling, chains, games; generators are seeded."""

import math

import numpy as np

from benchmarks.programs.program import Program


def estimate_pi(n, seed):
    rng = np.random.default_rng(seed)
    inside = 0
    estimates = []
    for k in range(1, n + 1):
        x, y = rng.random(2)
        if x * x + y * y < 1:
            inside += 1
        if k % 10 == 0:
            estimates.append(4 * inside / k)
    return estimates


def bootstrap(x, n, seed):
    rng = np.random.default_rng(seed)
    means = []
    for _ in range(n):
        sample = rng.choice(x, size=len(x), replace=True)
        means.append(np.mean(sample))
    low, high = np.percentile(means, [2.5, 97.5])
    return {"mean": np.mean(means), "interval": (low, high), "se": np.std(means, ddof=1)}


def permutation_test(a, b, rounds):
    rng = np.random.default_rng(42)
    observed = abs(a.mean() - b.mean())
    pooled = np.concatenate([a, b])
    extreme = 0
    for _ in range(rounds):
        rng.shuffle(pooled)
        if abs(pooled[: len(a)].mean() - pooled[len(a) :].mean()) >= observed:
            extreme += 1
    return observed, (extreme + 1) / (rounds + 1)


def markov_chain(matrix, draws):
    cumulative = np.cumsum(matrix, axis=1)
    state, states = 0, []
    for u in draws:
        state = np.searchsorted(cumulative[state], u)
        states.append(state)
    counts = np.bincount(states, minlength=len(matrix))
    return np.array(states), counts / len(states)


def metropolis(log_density, start, steps, width, rng):
    x, lx = start, log_density(start)
    chain, accepted = [], 0
    for _ in range(steps):
        y = x + width * rng.normal()
        ly = log_density(y)
        if math.log(rng.random()) < ly - lx:
            x, lx = y, ly
            accepted += 1
        chain.append(x)
    return np.array(chain), accepted / steps


def sample_two_peaks(steps, seed):
    def log_density(x):
        return math.log(math.exp(-0.5 * (x - 2) ** 2) + 0.5 * math.exp(-0.5 * (x + 2) ** 2))

    chain, rate = metropolis(log_density, 0.0, steps, 1.5, np.random.default_rng(seed))
    burnt = chain[len(chain) // 5 :]
    return chain, rate, (burnt > 0).mean()


def histogram(values, bins):
    low, high = min(values), max(values)
    width = (high - low) / bins
    counts = [0] * bins
    for v in values:
        counts[min(int((v - low) / width), bins - 1)] += 1
    for k, count in enumerate(counts):
        print(f"{low + k * width:7.2f} {'*' * count}")
    return np.array(counts), np.array([low + k * width for k in range(bins + 1)])


def shuffle_deck(seed):
    rng = np.random.default_rng(seed)
    deck = [f"{rank}{suit}" for suit in "CDHS" for rank in "23456789TJQKA"]
    for i in range(len(deck) - 1, 0, -1):
        j = rng.integers(0, i + 1)
        deck[i], deck[j] = deck[j], deck[i]
    return deck


def poker_hands(n, seed):
    deck = shuffle_deck(seed)
    kinds = {"flush": 0, "pair": 0, "nothing": 0}
    for k in range(n):
        hand = [deck[(5 * k + i) % 52] for i in range(5)]
        ranks, suits = {c[0] for c in hand}, {c[1] for c in hand}
        kind = "flush" if len(suits) == 1 else "pair" if len(ranks) < 5 else "nothing"
        kinds[kind] += 1
    return deck[:5], kinds, np.array(list(kinds.values())) / n


def simulated_annealing(distances, steps, seed):
    rng = np.random.default_rng(seed)
    n = len(distances)
    tour = list(range(n))

    def length(t):
        return sum(distances[a, b] for a, b in zip(t, t[1:] + t[:1]))

    current = best = length(tour)
    temperature = 1.0
    for _ in range(steps):
        i, j = sorted(rng.choice(n, 2, replace=False))
        trial = tour[:i] + tour[i : j + 1][::-1] + tour[j + 1 :]
        new = length(trial)
        if new < current or rng.random() < math.exp((current - new) / temperature):
            tour, current = trial, new
            best = min(best, current)
        temperature *= 0.98
    return tour, best


def genetic_onemax(n, generations, seed):
    rng = np.random.default_rng(seed)
    population = rng.integers(0, 2, (8, n))
    best = []
    for _ in range(generations):
        fitness = population.sum(axis=1)
        best.append(int(fitness.max()))
        if best[-1] == n:
            break
        children = []
        for _ in range(len(population)):
            a, b = (max(rng.choice(8, 2), key=lambda k: fitness[k]) for _ in range(2))
            cut = rng.integers(1, n)
            child = np.concatenate([population[a][:cut], population[b][cut:]])
            flip = rng.random(n) < 1 / n
            children.append(np.where(flip, 1 - child, child))
        population = np.array(children)
    return best, population.mean(axis=0)


def chain_of(rng, n):
    m = rng.random((4, 4))
    return m / m.sum(axis=1, keepdims=True), rng.random(n)


def two_samples(rng, n):
    return rng.normal(size=n), rng.normal(0.5, 1, n + 2), 20


PROGRAMS = (
    Program(estimate_pi, lambda rng, n: (n, 3), (20, 90), 9_000),
    Program(bootstrap, lambda rng, n: (rng.random(n), 12, 1), (8, 60), 5_000),
    Program(permutation_test, two_samples, (6, 40), 5_000),
    Program(markov_chain, chain_of, (9, 90), 9_000),
    Program(sample_two_peaks, lambda rng, n: (n, 8), (9, 25), 5_000),
    Program(histogram, lambda rng, n: (rng.normal(size=n).tolist(), 5), (9, 90), 20_000),
    Program(poker_hands, lambda rng, n: (n, 6), (5, 50), 5_000, True),
    Program(simulated_annealing, lambda rng, n: (rng.random((n, n)), 3 * n, 2), (4, 10), 60),
    Program(genetic_onemax, lambda rng, n: (n, 4, 7), (6, 12), 100),
)
