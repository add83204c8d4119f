"""Comprehensions and plain loops over parts of arrays; work lists; indices kept in lists."""

import numpy as np

from benchmarks.programs.program import Program


def spectrogram(x, size, hop):
    window = np.hanning(size)
    frames = [x[i : i + size] * window for i in range(0, len(x) - size + 1, hop)]
    return np.array([np.abs(np.fft.rfft(frame)) for frame in frames]).T


def sliding_std(x, n):
    return np.array([x[i : i + n].std() for i in range(len(x) - n + 1)])


def row_features(table):
    return np.array(
        [[row.mean(), row.std(), row.min(), row.max(), (row > 0.5).sum()] for row in table]
    )


def distance_table(points):
    return np.array([[np.sqrt(((p - q) ** 2).sum()) for q in points] for p in points])


def mean_filter(image, radius):
    rows, cols = image.shape
    result = np.zeros_like(image)
    for r in range(rows):
        for c in range(cols):
            top, bottom = max(0, r - radius), min(rows, r + radius + 1)
            left, right = max(0, c - radius), min(cols, c + radius + 1)
            result[r, c] = image[top:bottom, left:right].mean()
    return result


def density_clusters(points, eps, min_points):
    labels = [None] * len(points)
    cluster = 0
    for i in range(len(points)):
        if labels[i] is not None:
            continue
        near = np.where(np.linalg.norm(points - points[i], axis=1) <= eps)[0]
        if len(near) < min_points:
            labels[i] = -1
            continue
        labels[i] = cluster
        work = list(near)
        while work:
            j = work.pop()
            if labels[j] == -1:
                labels[j] = cluster
            if labels[j] is not None:
                continue
            labels[j] = cluster
            more = np.where(np.linalg.norm(points - points[j], axis=1) <= eps)[0]
            if len(more) >= min_points:
                work.extend(more)
        cluster += 1
    return np.array(labels), cluster


def local_maxima(x, height):
    peaks = []
    for i in range(1, len(x) - 1):
        if x[i] > height and x[i] >= x[i - 1] and x[i] > x[i + 1]:
            peaks.append(i)
    return np.array(peaks, dtype=int), x[peaks]


def zero_crossings(x):
    signs = [1 if v >= 0 else -1 for v in x]
    return [i for i, (a, b) in enumerate(zip(signs, signs[1:])) if a != b]


def moving_correlation(x, y, n):
    pairs = [(x[i : i + n], y[i : i + n]) for i in range(0, len(x) - n + 1)]
    return np.array([np.corrcoef(a, b)[0, 1] for a, b in pairs])


def block_means(image, k):
    h, w = image.shape
    return np.array([[image[r : r + k, c : c + k].mean() for c in range(0, w - k + 1, k)]
                     for r in range(0, h - k + 1, k)])  # fmt: skip


def nearest_neighbour_labels(train, labels, queries, k):
    result = []
    for q in queries:
        order = np.argsort([np.abs(p - q).sum() for p in train], kind="stable")[:k]
        votes = [labels[i] for i in order]
        result.append(max(set(votes), key=lambda v: (votes.count(v), v)))
    return np.array(result)


def pascal(n):
    rows = [[1]]
    for _ in range(n):
        last = rows[-1]
        rows.append([1] + [a + b for a, b in zip(last, last[1:])] + [1])
    table = np.zeros((n + 1, n + 1), dtype=int)
    for i, row in enumerate(rows):
        table[i, : len(row)] = row
    return table, [sum(row) for row in rows]


def spiral(matrix):
    result = []
    rows = matrix.tolist()
    while rows:
        result += rows.pop(0)
        rows = [list(row) for row in zip(*rows)][::-1]
    return np.array(result)


def outliers_by_column(table):
    found = {}
    for j, column in enumerate(table.T):
        q1, q3 = np.percentile(column, [25, 75])
        span = 1.5 * (q3 - q1)
        found[j] = [i for i, v in enumerate(column) if v < q1 - span or v > q3 + span]
    return found, sum(len(v) for v in found.values())


def neighbours_of(rng, n):
    return rng.random((n, 2)), rng.integers(0, 3, n).tolist(), rng.random((n // 2, 2)), 3


PROGRAMS = (
    Program(spectrogram, lambda rng, n: (rng.normal(size=n), 8, 4), (20, 90), 20_000),
    Program(sliding_std, lambda rng, n: (rng.random(n), 5), (8, 24), 3_000),
    Program(row_features, lambda rng, n: (rng.random((n, 6)),), (4, 40), 1_000),
    Program(distance_table, lambda rng, n: (rng.random((n, 3)),), (4, 12), 60),
    Program(mean_filter, lambda rng, n: (rng.random((n, n + 1)), 1), (4, 12), 60),
    Program(density_clusters, lambda rng, n: (rng.random((n, 2)), 0.2, 3), (8, 40), 400),
    Program(local_maxima, lambda rng, n: (rng.random(n), 0.3), (9, 100), 20_000, True),
    Program(zero_crossings, lambda rng, n: (rng.normal(size=n),), (9, 100), 20_000, True),
    Program(moving_correlation, lambda rng, n: (rng.random(n), rng.random(n), 5), (8, 40), 1_000),
    Program(block_means, lambda rng, n: (rng.random((n, n + 3)), 2), (4, 16), 80),
    Program(nearest_neighbour_labels, neighbours_of, (6, 30), 200),
    Program(pascal, lambda rng, n: (n,), (4, 20), 60, True),
    Program(spiral, lambda rng, n: (rng.integers(0, 99, (n, n + 1)),), (3, 12), 100, True),
    Program(outliers_by_column, lambda rng, n: (rng.normal(size=(n, 3)) ** 3,), (9, 60), 9_000),
)
