"""Searches: puzzles, heaps, sets of trees, connected parts, clusters, colours."""

import numpy as np

from benchmarks.programs.program import Program


def sudoku(board):
    grid = board.copy()
    cells = np.argwhere(grid == 0)
    n = len(cells)
    k = 0
    tried = 0
    while 0 <= k < n:
        r, c = cells[k]
        start = grid[r, c] + 1
        grid[r, c] = 0
        placed = False
        for v in range(start, 10):
            tried += 1
            if v in grid[r] or v in grid[:, c]:
                continue
            br, bc = 3 * (r // 3), 3 * (c // 3)
            if np.any(grid[br : br + 3, bc : bc + 3] == v):
                continue
            grid[r, c] = v
            placed = True
            break
        k += 1 if placed else -1
    return grid if k == n else board, tried


def heap_sort(x):
    def sift(a, root, end):
        while (child := 2 * root + 1) < end:
            if child + 1 < end and a[child] < a[child + 1]:
                child += 1
            if a[root] >= a[child]:
                return
            a[root], a[child] = a[child], a[root]
            root = child

    n = len(x)
    for start in range(n // 2 - 1, -1, -1):
        sift(x, start, n)
    for end in range(n - 1, 0, -1):
        x[0], x[end] = x[end], x[0]
        sift(x, 0, end)
    return x


def union_find(edges, n):
    parent = np.arange(n)
    rank = np.zeros(n, dtype=np.uint8)
    sets = n

    def root(v):
        while parent[v] != v:
            v = parent[v]
        return v

    for a, b in edges:
        ra, rb = root(a), root(b)
        if ra == rb:
            continue
        if rank[ra] < rank[rb]:
            ra, rb = rb, ra
        parent[rb] = ra
        if rank[ra] == rank[rb]:
            rank[ra] += 1
        sets -= 1
    return sets, parent


def greedy_colouring(adj):
    n = adj.shape[0]
    colour = np.full(n, -1, np.int16)
    order = np.argsort(-adj.sum(axis=1), kind="stable")
    for v in order:
        taken = np.zeros(n + 1, bool)
        for u in np.flatnonzero(adj[v]):
            if colour[u] >= 0:
                taken[colour[u]] = True
        colour[v] = np.argmin(taken)
    return colour, colour.max(initial=-1) + 1


def label_two_pass(mask):
    rows, cols = mask.shape
    labels = np.zeros((rows, cols), dtype=np.int32)
    parent = np.arange(rows * cols // 2 + 2)

    def find(p):
        while parent[p] != p:
            parent[p] = parent[parent[p]]
            p = parent[p]
        return p

    nxt = 1
    for i in range(rows):
        for j in range(cols):
            if not mask[i, j]:
                continue
            up = labels[i - 1, j] if i > 0 else 0
            left = labels[i, j - 1] if j > 0 else 0
            if up == 0 and left == 0:
                labels[i, j] = nxt
                nxt += 1
            elif up and left:
                a, b = find(up), find(left)
                lo, hi = (a, b) if a < b else (b, a)
                parent[hi] = lo
                labels[i, j] = lo
            else:
                labels[i, j] = up or left
    for i in range(rows):
        for j in range(cols):
            if labels[i, j]:
                labels[i, j] = find(labels[i, j])
    return labels, len(np.unique(labels[labels > 0]))


def chamfer_distance(mask):
    h, w = mask.shape
    d = np.where(mask, 0, 10**6).astype(np.int32)
    for y in range(h):
        for x in range(w):
            if y > 0:
                d[y, x] = min(d[y, x], d[y - 1, x] + 3)
                if x > 0:
                    d[y, x] = min(d[y, x], d[y - 1, x - 1] + 4)
                if x < w - 1:
                    d[y, x] = min(d[y, x], d[y - 1, x + 1] + 4)
            if x > 0:
                d[y, x] = min(d[y, x], d[y, x - 1] + 3)
    flipped = d[::-1, ::-1]
    for y in range(h):
        for x in range(w):
            if y > 0:
                flipped[y, x] = min(flipped[y, x], flipped[y - 1, x] + 3)
            if x > 0:
                flipped[y, x] = min(flipped[y, x], flipped[y, x - 1] + 3)
    return d / 3


def dbscan(X, eps, min_pts):
    n = len(X)
    labels = np.full(n, -1)
    visited = np.zeros(n, bool)
    queue = np.empty(n * n + 1, dtype=int)
    cluster = 0
    for i in range(n):
        if visited[i]:
            continue
        visited[i] = True
        near = np.flatnonzero(((X - X[i]) ** 2).sum(axis=1) <= eps * eps)
        if len(near) < min_pts:
            continue
        labels[i] = cluster
        queue[: len(near)] = near
        head, tail = 0, len(near)
        while head < tail:
            j = queue[head]
            head += 1
            if labels[j] == -1:
                labels[j] = cluster
            if visited[j]:
                continue
            visited[j] = True
            more = np.flatnonzero(((X - X[j]) ** 2).sum(axis=1) <= eps * eps)
            if len(more) >= min_pts:
                queue[tail : tail + len(more)] = more
                tail += len(more)
        cluster += 1
    return labels, cluster


def wireworld(g, steps):
    HEAD, TAIL, WIRE = 1, 2, 3
    pad = np.zeros((g.shape[0] + 2, g.shape[1] + 2), dtype=np.uint8)
    for _ in range(steps):
        pad[1:-1, 1:-1] = g == HEAD
        n = sum(
            pad[1 + i : pad.shape[0] - 1 + i, 1 + j : pad.shape[1] - 1 + j]
            for i in (-1, 0, 1)
            for j in (-1, 0, 1)
            if i or j
        )
        new = g.copy()
        new[g == HEAD] = TAIL
        new[g == TAIL] = WIRE
        new[(g == WIRE) & ((n == 1) | (n == 2))] = HEAD
        g[...] = new
    return int((g == HEAD).sum())


def puzzle(rng, blanks):
    row, column = np.indices((9, 9))
    solved = (3 * (row % 3) + row // 3 + column) % 9 + 1
    solved = (rng.permutation(9) + 1)[solved - 1]
    solved.reshape(-1)[rng.choice(81, blanks, replace=False)] = 0
    return (solved,)


def mutual(rng, n):
    links = rng.random((n, n)) < 0.2
    links |= links.T
    np.fill_diagonal(links, False)
    return (links,)


PROGRAMS = (
    Program(sudoku, puzzle, (5, 25), 45, True),
    Program(heap_sort, lambda rng, n: (rng.random(n),), (9, 1_000), 5_000, True),
    Program(union_find, lambda rng, n: (rng.integers(0, n, (n, 2)), n), (9, 2_000), 20_000, True),
    Program(greedy_colouring, mutual, (6, 60), 400, True),
    Program(label_two_pass, lambda rng, n: (rng.random((n, n + 2)) > 0.4,), (5, 40), 200, True),
    Program(chamfer_distance, lambda rng, n: (rng.random((n, n + 2)) > 0.9,), (5, 60), 150, True),
    Program(dbscan, lambda rng, n: (rng.random((n, 2)), n**-0.5, 4), (9, 100), 800, True),
    Program(
        wireworld,
        lambda rng, n: (rng.integers(0, 4, (n, n + 2), np.uint8), 2 + n // 20),
        (5, 80),
        500,
        True,
    ),
)
