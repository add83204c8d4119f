"""Shortest paths, components and ranks on graphs, and sparse matrices."""

import numpy as np

from benchmarks.programs.program import Program


def floyd_warshall(dist):
    n = dist.shape[0]
    for k in range(n):
        dist = np.minimum(dist, dist[:, k, None] + dist[None, k, :])
    return dist


def floyd_warshall_loops(dist):
    n = dist.shape[0]
    for k in range(n):
        for i in range(n):
            for j in range(n):
                if dist[i, k] + dist[k, j] < dist[i, j]:
                    dist[i, j] = dist[i, k] + dist[k, j]
    return dist


def transitive_closure(reach):
    for k in range(len(reach)):
        reach |= np.outer(reach[:, k], reach[k])
    return reach


def bellman_ford(sources, targets, weights, n, start):
    dist = np.full(n, np.inf)
    dist[start] = 0.0
    for _ in range(n - 1):
        changed = False
        for e in range(len(sources)):
            candidate = dist[sources[e]] + weights[e]
            if candidate < dist[targets[e]]:
                dist[targets[e]] = candidate
                changed = True
        if not changed:
            break
    return dist


def dijkstra(weights, source):
    n = weights.shape[0]
    dist = np.full(n, np.inf)
    done = np.zeros(n, dtype=bool)
    dist[source] = 0
    for _ in range(n):
        u = np.argmin(np.where(done, np.inf, dist))
        done[u] = True
        dist = np.minimum(dist, dist[u] + weights[u])
    return dist


def minimum_spanning_tree(w):
    n = w.shape[0]
    in_tree = np.zeros(n, dtype=bool)
    in_tree[0] = True
    best = w[0].copy()
    parent = np.zeros(n, dtype=np.int64)
    total = 0.0
    for _ in range(n - 1):
        candidates = np.where(in_tree, np.inf, best)
        j = candidates.argmin()
        total += candidates[j]
        in_tree[j] = True
        closer = (w[j] < best) & ~in_tree
        best[closer] = w[j][closer]
        parent[closer] = j
    return parent, total


def breadth_first(adjacency, start):
    n = adjacency.shape[0]
    level = np.full(n, -1)
    level[start] = 0
    frontier = np.zeros(n, dtype=bool)
    frontier[start] = True
    depth = 0
    while frontier.any():
        depth += 1
        reached = adjacency[frontier].any(axis=0)
        frontier = reached & (level < 0)
        level[frontier] = depth
    return level


def connected_components(rows, cols, n):
    labels = np.arange(n)
    while True:
        before = labels.copy()
        np.minimum.at(labels, rows, labels[cols])
        np.minimum.at(labels, cols, labels[rows])
        if np.array_equal(labels, before):
            return labels


def count_triangles(a):
    return np.sum(a @ a * a) // 6


def pagerank(links, damping, tol, max_iter):
    n = links.shape[0]
    out = links.sum(axis=1)
    transition = np.where(out[:, None] > 0, links / np.maximum(out, 1)[:, None], 1.0 / n)
    rank = np.full(n, 1.0 / n)
    for it in range(max_iter):
        new = (1 - damping) / n + damping * (rank @ transition)
        delta = np.abs(new - rank).sum()
        rank = new
        if delta < tol:
            break
    return rank, it


def csr_matvec(data, indices, indptr, x):
    n = len(indptr) - 1
    y = np.zeros(n)
    for i in range(n):
        lo, hi = indptr[i], indptr[i + 1]
        y[i] = np.sum(data[lo:hi] * x[indices[lo:hi]])
    return y


def csr_matvec_loops(data, indices, indptr, x, y):
    for row in range(len(indptr) - 1):
        acc = 0.0
        for k in range(indptr[row], indptr[row + 1]):
            acc += data[k] * x[indices[k]]
        y[row] = acc


def coo_matvec(rows, cols, values, x, n):
    y = np.zeros(n)
    np.add.at(y, rows, values * x[cols])
    return y


def coo_to_csr(rows, cols, values, n):
    indptr = np.zeros(n + 1, dtype=np.int64)
    for r in rows:
        indptr[r + 1] += 1
    for i in range(n):
        indptr[i + 1] += indptr[i]
    place = indptr[:-1].copy()
    indices = np.empty_like(cols)
    data = np.empty_like(values)
    for k in range(len(rows)):
        r = rows[k]
        indices[place[r]] = cols[k]
        data[place[r]] = values[k]
        place[r] += 1
    return indptr, indices, data


def make_csr(rng, n):
    counts = rng.integers(0, 9, n)
    indptr = np.concatenate([[0], np.cumsum(counts)])
    indices = rng.integers(0, n, indptr[-1])
    return rng.standard_normal(indptr[-1]), indices, indptr, rng.standard_normal(n)


def symmetric_weights(rng, n):
    w = rng.random((n, n))
    return (w + w.T) / 2


def symmetric_links(rng, n):
    a = np.triu(rng.random((n, n)) < 0.3, 1)
    return (a | a.T).astype(np.int64)


def make_edges(rng, n):
    return rng.integers(0, n, 4 * n), rng.integers(0, n, 4 * n), rng.random(4 * n), n


PROGRAMS = (
    Program(floyd_warshall, lambda rng, n: (rng.random((n, n)),), (5, 60), 200, True),
    Program(floyd_warshall_loops, lambda rng, n: (rng.random((n, n)),), (4, 22), 60, True),
    Program(
        transitive_closure, lambda rng, n: (rng.random((n, n)) < 1.5 / n,), (6, 100), 400, True
    ),
    Program(bellman_ford, lambda rng, n: (*make_edges(rng, n), 0), (6, 200), 3_000, True),
    Program(dijkstra, lambda rng, n: (rng.random((n, n)), n // 2), (6, 200), 1_500, True),
    Program(
        minimum_spanning_tree, lambda rng, n: (symmetric_weights(rng, n),), (6, 200), 1_000, True
    ),
    Program(breadth_first, lambda rng, n: (rng.random((n, n)) < 4 / n, 0), (7, 200), 4_000, True),
    Program(
        connected_components,
        lambda rng, n: (rng.integers(0, n, n), rng.integers(0, n, n), n),
        (8, 500),
        100_000,
        True,
    ),
    Program(count_triangles, lambda rng, n: (symmetric_links(rng, n),), (6, 60), 300, True),
    Program(
        pagerank,
        lambda rng, n: (np.round(rng.random((n, n)) * 0.6), 0.85, 1e-10, 100),
        (6, 100),
        1_000,
    ),
    Program(csr_matvec, make_csr, (6, 500), 10_000),
    Program(
        csr_matvec_loops, lambda rng, n: (*make_csr(rng, n), np.zeros(n)), (6, 500), 20_000, True
    ),
    Program(
        coo_matvec,
        lambda rng, n: (
            rng.integers(0, n, 5 * n),
            rng.integers(0, n, 5 * n),
            rng.random(5 * n),
            rng.random(n),
            n,
        ),
        (6, 1_000),
        300_000,
        True,
    ),
    Program(coo_to_csr, make_edges, (6, 300), 15_000, True),
)
