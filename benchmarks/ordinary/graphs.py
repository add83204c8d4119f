"""Graphs in dictionaries and lists: searches, shortest ways, trees, ranks."""

import heapq
from collections import defaultdict, deque

import numpy as np

from benchmarks.ordinary.inputs import maze, neighbours, weighted
from benchmarks.programs.program import Program


def breadth_first(graph, start):
    distance = np.full(len(graph), -1)
    distance[start] = 0
    queue = deque([start])
    while queue:
        v = queue.popleft()
        for w in graph[v]:
            if distance[w] < 0:
                distance[w] = distance[v] + 1
                queue.append(w)
    return distance


def depth_first(graph, start):
    order, seen = [], set()

    def visit(v):
        seen.add(v)
        order.append(v)
        for w in graph[v]:
            if w not in seen:
                visit(w)

    visit(start)
    return np.array(order)


def dijkstra(graph, source):
    distances = {v: float("inf") for v in graph}
    distances[source] = 0.0
    previous = {}
    heap = [(0.0, source)]
    while heap:
        d, v = heapq.heappop(heap)
        if d > distances[v]:
            continue
        for w, length in graph[v].items():
            if d + length < distances[w]:
                distances[w] = d + length
                previous[w] = v
                heapq.heappush(heap, (distances[w], w))
    farthest = max(distances, key=distances.get)
    path = [farthest]
    while path[-1] in previous:
        path.append(previous[path[-1]])
    return distances, path[::-1]


def a_star(grid):
    def heuristic(p):
        return abs(goal[0] - p[0]) + abs(goal[1] - p[1])

    rows, cols = grid.shape
    start, goal = (0, 0), (rows - 1, cols - 1)
    open_set = [(heuristic(start), 0, start)]
    came_from = {start: None}
    cost = {start: 0}
    while open_set:
        _, g, current = heapq.heappop(open_set)
        if current == goal:
            break
        r, c = current
        for nr, nc in ((r + 1, c), (r - 1, c), (r, c + 1), (r, c - 1)):
            if 0 <= nr < rows and 0 <= nc < cols and grid[nr, nc] == 0:
                if g + 1 < cost.get((nr, nc), 10**9):
                    cost[nr, nc] = g + 1
                    came_from[nr, nc] = current
                    heapq.heappush(open_set, (g + 1 + heuristic((nr, nc)), g + 1, (nr, nc)))
    else:
        return None
    path = []
    while current is not None:
        path.append(current)
        current = came_from[current]
    marked = grid.copy()
    for place in path:
        marked[place] = 2
    return path[::-1], marked


class DisjointSets:
    def __init__(self, n):
        self.parent = list(range(n))
        self.size = [1] * n

    def find(self, v):
        if self.parent[v] != v:
            self.parent[v] = self.find(self.parent[v])
        return self.parent[v]

    def union(self, a, b):
        a, b = self.find(a), self.find(b)
        if a == b:
            return False
        if self.size[a] < self.size[b]:
            a, b = b, a
        self.parent[b] = a
        self.size[a] += self.size[b]
        return True


def kruskal(points):
    n = len(points)
    edges = []
    for i in range(n):
        for j in range(i + 1, n):
            edges.append((float(np.linalg.norm(points[i] - points[j])), i, j))
    edges.sort()
    sets = DisjointSets(n)
    tree = [(i, j) for _, i, j in edges if sets.union(i, j)]
    return tree, sum(np.linalg.norm(points[i] - points[j]) for i, j in tree)


def friend_circles(pairs, n):
    sets = DisjointSets(n)
    for a, b in pairs:
        sets.union(a, b)
    circles = defaultdict(list)
    for v in range(n):
        circles[sets.find(v)].append(v)
    sizes = np.array(sorted((len(c) for c in circles.values()), reverse=True))
    return [*circles.values()], sizes


def topological_sort(tasks):
    incoming = {t: 0 for t in tasks}
    for after in tasks.values():
        for t in after:
            incoming[t] += 1
    ready = [t for t, n in incoming.items() if n == 0]
    order = []
    while ready:
        task = ready.pop()
        order.append(task)
        for t in tasks[task]:
            incoming[t] -= 1
            if incoming[t] == 0:
                ready.append(t)
    if len(order) < len(tasks):
        raise ValueError(f"a cycle among {sorted(set(tasks) - set(order))[:3]}")
    return order


def schedule(tasks, durations, closed):
    order = topological_sort(tasks)
    finish = {}
    for task in reversed(order):
        finish[task] = durations[task] + max((finish[t] for t in tasks[task]), default=0)
    try:
        topological_sort({**tasks, closed: [order[0]]})
    except ValueError as error:
        print(error)
    return order, np.array([finish[t] for t in sorted(finish)])


def page_rank(links, damping=0.85, tol=1e-10):
    pages = sorted(links)
    rank = {p: 1 / len(pages) for p in pages}
    incoming = {p: [] for p in pages}
    for p, targets in links.items():
        for t in targets:
            incoming[t].append(p)
    for rounds in range(100):
        new = {}
        for p in pages:
            total = sum(rank[q] / len(links[q]) for q in incoming[p])
            new[p] = (1 - damping) / len(pages) + damping * total
        change = sum(abs(new[p] - rank[p]) for p in pages)
        rank = new
        if change < tol:
            break
    values = np.array([rank[p] for p in pages])
    return rounds, values, np.argsort(-values)[:3]


def adjacency_powers(graph):
    n = len(graph)
    a = np.zeros((n, n), dtype=int)
    for v, targets in graph.items():
        a[v, targets] = 1
    reach = np.eye(n, dtype=int)
    for length in range(n):
        if (reach > 0).all():
            return length, reach
        reach = np.minimum(reach + reach @ a, 1)
    return n, reach


def bellman_ford(edges, n):
    distance = [0.0] + [np.inf] * (n - 1)
    for _ in range(n):
        changed = False
        for a, b, w in edges:
            if distance[a] + w < distance[b]:
                distance[b] = distance[a] + w
                changed = True
        if not changed:
            return np.array(distance)
    raise ArithmeticError("negative cycle")


def tasks_of(rng, n):
    names = [f"t{k:02d}" for k in range(n)]
    tasks = {t: [names[j] for j in range(k + 1, n) if rng.random() < 0.2]
             for k, t in enumerate(names)}  # fmt: skip
    return tasks, {t: int(rng.integers(1, 9)) for t in names}, names[-1]


def edges_of(rng, n):
    edges = [(v, (v + 1) % n, 1.0) for v in range(n)]
    edges += [(int(a), int(b), w + 0.5) for a, b, w in rng.integers(0, n, (n, 3)).tolist()]
    return edges, n


PROGRAMS = (
    Program(breadth_first, lambda rng, n: (neighbours(rng, n), 0), (8, 80), 10_000, True),
    Program(depth_first, lambda rng, n: (neighbours(rng, n), 0), (8, 80), 400, True),
    Program(dijkstra, lambda rng, n: (weighted(rng, n), "v0"), (8, 80), 3_000, True),
    Program(a_star, lambda rng, n: (maze(rng, n),), (5, 12), 60, True),
    Program(kruskal, lambda rng, n: (rng.random((n, 2)),), (5, 16), 120),
    Program(
        friend_circles, lambda rng, n: (rng.integers(0, n, (n // 2, 2)).tolist(), n), (8, 30), 9_000
    ),
    Program(schedule, tasks_of, (6, 30), 120),
    Program(page_rank, lambda rng, n: (neighbours(rng, n),), (6, 30), 300),
    Program(adjacency_powers, lambda rng, n: (neighbours(rng, n),), (5, 12), 150, True),
    Program(bellman_ford, edges_of, (6, 30), 300),
)
