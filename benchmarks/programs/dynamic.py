"""Dynamic programming: alignments, knapsacks, chains, paths."""

import numpy as np

from benchmarks.programs.program import Program


def longest_common_subsequence(a, b):
    n, m = len(a), len(b)
    L = np.zeros((n + 1, m + 1), dtype=np.int64)
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            if a[i - 1] == b[j - 1]:
                L[i, j] = L[i - 1, j - 1] + 1
            else:
                L[i, j] = max(L[i - 1, j], L[i, j - 1])
    return L[n, m]


def levenshtein(s, t):
    previous = np.arange(len(t) + 1)
    for i in range(len(s)):
        current = np.empty_like(previous)
        current[0] = i + 1
        for j in range(len(t)):
            cost = 0 if s[i] == t[j] else 1
            current[j + 1] = min(previous[j + 1] + 1, current[j] + 1, previous[j] + cost)
        previous = current
    return previous[-1]


def needleman_wunsch(x, y, match, mismatch, gap):
    nx, ny = len(x), len(y)
    F = np.zeros((nx + 1, ny + 1))
    F[:, 0] = np.linspace(0, -nx * gap, nx + 1)
    F[0, :] = np.linspace(0, -ny * gap, ny + 1)
    P = np.zeros((nx + 1, ny + 1), dtype=int)
    P[:, 0] = 3
    P[0, :] = 4
    t = np.zeros(3)
    for i in range(nx):
        for j in range(ny):
            if x[i] == y[j]:
                t[0] = F[i, j] + match
            else:
                t[0] = F[i, j] - mismatch
            t[1] = F[i, j + 1] - gap
            t[2] = F[i + 1, j] - gap
            tmax = np.max(t)
            F[i + 1, j + 1] = tmax
            if t[0] == tmax:
                P[i + 1, j + 1] += 2
            if t[1] == tmax:
                P[i + 1, j + 1] += 3
            if t[2] == tmax:
                P[i + 1, j + 1] += 4
    return F, P


def smith_waterman(a, b, match, mismatch, gap):
    n, m = a.shape[0], b.shape[0]
    H = np.zeros((n + 1, m + 1), dtype=np.int32)
    best = 0
    best_at = (0, 0)
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            diagonal = H[i - 1, j - 1] + (match if a[i - 1] == b[j - 1] else mismatch)
            H[i, j] = max(0, diagonal, H[i - 1, j] + gap, H[i, j - 1] + gap)
            if H[i, j] > best:
                best = H[i, j]
                best_at = (i, j)
    return H, best, best_at


def knapsack(weights, values, capacity):
    best = np.zeros(capacity + 1, dtype=np.int64)
    for w, v in zip(weights, values):
        best[w:] = np.maximum(best[w:], best[:-w] + v)
    return best[-1]


def knapsack_table(weights, values, capacity):
    n = len(weights)
    table = np.zeros((n + 1, capacity + 1), dtype=np.int64)
    for i in range(1, n + 1):
        for c in range(capacity + 1):
            table[i, c] = table[i - 1, c]
            if weights[i - 1] <= c:
                table[i, c] = max(table[i, c], table[i - 1, c - weights[i - 1]] + values[i - 1])
    chosen = np.zeros(n, dtype=bool)
    c = capacity
    for i in range(n, 0, -1):
        if table[i, c] != table[i - 1, c]:
            chosen[i - 1] = True
            c -= weights[i - 1]
    return table[n, capacity], chosen


def coin_change(coins, amount):
    ways = np.zeros(amount + 1, dtype=np.int64)
    ways[0] = 1
    for coin in coins:
        for a in range(coin, amount + 1):
            ways[a] += ways[a - coin]
    return ways[amount]


def matrix_chain(dims):
    n = len(dims) - 1
    cost = np.zeros((n, n))
    split = np.zeros((n, n), dtype=np.int64)
    for length in range(2, n + 1):
        for i in range(n - length + 1):
            j = i + length - 1
            cost[i, j] = np.inf
            for k in range(i, j):
                q = cost[i, k] + cost[k + 1, j] + dims[i] * dims[k + 1] * dims[j + 1]
                if q < cost[i, j]:
                    cost[i, j] = q
                    split[i, j] = k
    return cost[0, n - 1], split


def time_warping(x, y):
    n, m = len(x), len(y)
    D = np.full((n + 1, m + 1), np.inf)
    D[0, 0] = 0.0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            cost = abs(x[i - 1] - y[j - 1])
            D[i, j] = cost + min(D[i - 1, j], D[i, j - 1], D[i - 1, j - 1])
    return D[n, m]


def viterbi(log_start, log_trans, log_emit, observations):
    T = len(observations)
    K = len(log_start)
    score = np.zeros((T, K))
    back = np.zeros((T, K), dtype=np.int64)
    score[0] = log_start + log_emit[:, observations[0]]
    for t in range(1, T):
        candidates = score[t - 1][:, None] + log_trans
        back[t] = np.argmax(candidates, axis=0)
        score[t] = np.max(candidates, axis=0) + log_emit[:, observations[t]]
    path = np.zeros(T, dtype=np.int64)
    path[-1] = np.argmax(score[-1])
    for t in range(T - 2, -1, -1):
        path[t] = back[t + 1, path[t + 1]]
    return path, score[-1].max()


def longest_increasing(x):
    n = len(x)
    length = np.ones(n, dtype=np.int64)
    for i in range(1, n):
        smaller = x[:i] < x[i]
        if smaller.any():
            length[i] = length[:i][smaller].max() + 1
    return length.max()


def maximum_subarray(x):
    best = current = x[0]
    start = first = last = 0
    for i in range(1, len(x)):
        if current < 0:
            current = x[i]
            start = i
        else:
            current = current + x[i]
        if current > best:
            best = current
            first, last = start, i
    return best, first, last


def seam_carving(energy):
    rows, cols = energy.shape
    total = energy.copy()
    for i in range(1, rows):
        left = np.concatenate(([np.inf], total[i - 1, :-1]))
        right = np.concatenate((total[i - 1, 1:], [np.inf]))
        total[i] += np.minimum(np.minimum(left, total[i - 1]), right)
    seam = np.zeros(rows, dtype=np.int64)
    seam[-1] = np.argmin(total[-1])
    for i in range(rows - 2, -1, -1):
        j = seam[i + 1]
        lo = max(j - 1, 0)
        hi = min(j + 2, cols)
        seam[i] = lo + np.argmin(total[i, lo:hi])
    return seam, total[-1].min()


def letters(rng, n, m):
    return rng.integers(0, 4, n), rng.integers(0, 4, m)


def make_viterbi(rng, n):
    def logs(*shape):
        p = rng.random(shape) + 0.1
        return np.log(p / p.sum(axis=-1, keepdims=True))

    return logs(n), logs(n, n), logs(n, n + 2), rng.integers(0, n + 2, 10 * n)


PROGRAMS = (
    Program(longest_common_subsequence, lambda rng, n: letters(rng, n, n + 2), (5, 80), 400, True),
    Program(levenshtein, lambda rng, n: letters(rng, n, n + 2), (5, 70), 300, True),
    Program(
        needleman_wunsch, lambda rng, n: (*letters(rng, n, n + 2), 1, 1, 1), (5, 50), 150, True
    ),
    Program(
        smith_waterman, lambda rng, n: (*letters(rng, n, n + 2), 3, -3, -2), (5, 60), 200, True
    ),
    Program(
        knapsack,
        lambda rng, n: (rng.integers(1, 5, n), rng.integers(1, 100, n), 3 * n),
        (5, 300),
        4_000,
        True,
    ),
    Program(
        knapsack_table,
        lambda rng, n: (rng.integers(1, 10, n), rng.integers(1, 100, n), 3 * n),
        (5, 60),
        200,
        True,
    ),
    Program(
        coin_change,
        lambda rng, n: (np.array([1, 2, 5, 10, 20, 50, 100, 200]), n),
        (12, 2_000),
        20_000,
        True,
    ),
    Program(matrix_chain, lambda rng, n: (rng.integers(2, 50, n),), (5, 35), 90, True),
    Program(
        time_warping,
        lambda rng, n: (rng.standard_normal(n), rng.standard_normal(n + 2)),
        (5, 80),
        300,
        True,
    ),
    Program(viterbi, make_viterbi, (3, 30), 120, True),
    Program(longest_increasing, lambda rng, n: (rng.integers(0, 4 * n, n),), (7, 500), 5_000, True),
    Program(
        maximum_subarray, lambda rng, n: (rng.integers(-10, 10, n),), (9, 10_000), 300_000, True
    ),
    Program(seam_carving, lambda rng, n: (rng.random((n, n + 3)),), (5, 100), 1_000, True),
)
