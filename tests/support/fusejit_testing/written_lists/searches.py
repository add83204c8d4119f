"""Graphs, mazes and searches, with lists as queues, stacks and sets."""
# mypy: ignore-errors
# ruff: noqa: B007, C416

import numpy as np


def bfs(links):
    n = len(links)
    distance = [-1] * n
    distance[0] = 0
    queue = [0]
    while queue:
        v = queue.pop(0)
        for w in range(n):
            if links[v, w] and distance[w] == -1:
                distance[w] = distance[v] + 1
                queue.append(w)
    return distance


def bfs_by_head(links):
    n = len(links)
    seen = np.zeros(n, bool)
    seen[0] = True
    queue, head = [0], 0
    parent = [None] * n
    while head < len(queue):
        v = queue[head]
        head += 1
        for w in np.nonzero(links[v])[0]:
            if not seen[w]:
                seen[w] = True
                parent[w] = v
                queue.append(w)
    return queue, parent


def dfs(links):
    n = len(links)
    seen = [False] * n
    order = []
    stack = [0]
    while stack:
        v = stack.pop()
        if seen[v]:
            continue
        seen[v] = True
        order.append(v)
        for w in range(n - 1, -1, -1):
            if links[v, w] and not seen[w]:
                stack.append(w)
    return order


def components(links):
    n = len(links)
    label = [-1] * n
    groups = []
    for s in range(n):
        if label[s] >= 0:
            continue
        group = []
        stack = [s]
        label[s] = len(groups)
        while stack:
            v = stack.pop()
            group.append(v)
            for w in range(n):
                if (links[v, w] or links[w, v]) and label[w] < 0:
                    label[w] = len(groups)
                    stack.append(w)
        groups.append(sorted(group))
    return groups, label


def find(parent, v):
    while parent[v] != v:
        parent[v] = parent[parent[v]]
        v = parent[v]
    return v


def union_find(edges):
    parent = list(range(20))
    size = [1] * 20
    merged = 0
    for u, v in edges:
        a, b = find(parent, u), find(parent, v)
        if a != b:
            if size[a] < size[b]:
                a, b = b, a
            parent[b] = a
            size[a] += size[b]
            merged += 1
    return [find(parent, v) for v in range(20)], merged


def kruskal(edges, x):
    parent = [v for v in range(20)]
    order = []
    for i in range(len(edges)):
        order.append((x[i % len(x)], i))
    order.sort()
    chosen = []
    for weight, i in order:
        a, b = edges[i, 0], edges[i, 1]
        while parent[a] != a:
            a = parent[a]
        while parent[b] != b:
            b = parent[b]
        if a != b:
            parent[a] = b
            chosen.append(i)
    return chosen


def dijkstra(edges):
    n = 20
    adjacent = [[] for _ in range(n)]
    for i, (u, v) in enumerate(edges):
        adjacent[u].append((v, i % 7 + 1))
        adjacent[v].append((u, i % 7 + 1))
    distance = [float("inf")] * n
    distance[0] = 0
    todo = [(0, 0)]
    while todo:
        best = 0
        for j in range(1, len(todo)):
            if todo[j][0] < todo[best][0]:
                best = j
        d, v = todo.pop(best)
        if d > distance[v]:
            continue
        for w, length in adjacent[v]:
            if d + length < distance[w]:
                distance[w] = d + length
                todo.append((d + length, w))
    return distance


def topological(links):
    n = len(links)
    degree = [0] * n
    for v in range(n):
        for w in range(v + 1, n):
            if links[v, w]:
                degree[w] += 1
    ready = [v for v in range(n) if degree[v] == 0]
    order = []
    while ready:
        v = ready.pop()
        order.append(v)
        for w in range(v + 1, n):
            if links[v, w]:
                degree[w] -= 1
                if degree[w] == 0:
                    ready.append(w)
    return order


def flood_fill(grid):
    h, w = grid.shape
    sizes = []
    done = np.zeros((h, w), bool)
    for i in range(h):
        for j in range(w):
            if done[i, j] or grid[i, j] > 2:
                continue
            stack = [(i, j)]
            done[i, j] = True
            size = 0
            while stack:
                r, c = stack.pop()
                size += 1
                for dr, dc in ((0, 1), (1, 0), (0, -1), (-1, 0)):
                    a, b = r + dr, c + dc
                    if 0 <= a < h and 0 <= b < w and not done[a, b] and grid[a, b] <= 2:
                        done[a, b] = True
                        stack.append((a, b))
            sizes.append(size)
    return sizes


def shortest_way(grid):
    h, w = grid.shape
    previous = [[None] * w for _ in range(h)]
    frontier = [(0, 0)]
    steps = 0
    seen = {(0, 0)}
    while frontier:
        found = []
        for r, c in frontier:
            for dr, dc in ((0, 1), (1, 0)):
                a, b = r + dr, c + dc
                if a < h and b < w and (a, b) not in seen and grid[a, b] < 4:
                    seen.add((a, b))
                    previous[a][b] = (r, c)
                    found.append((a, b))
        frontier = found
        steps += 1
    return steps, previous


def levels(links):
    n = len(links)
    seen = [False] * n
    seen[0] = True
    frontier = [0]
    all_levels = []
    while frontier:
        all_levels.append(frontier)
        following = []
        for v in frontier:
            for w in range(n):
                if links[v][w] and not seen[w]:
                    seen[w] = True
                    following.append(w)
        frontier = following
    return all_levels


def path_back(links):
    n = len(links)
    parent = [-1] * n
    parent[0] = 0
    queue = [0]
    for v in queue:
        for w in range(n):
            if links[v, w] and parent[w] < 0:
                parent[w] = v
                queue.append(w)
    target = queue[-1]
    path = [target]
    while path[-1] != 0:
        path.append(parent[path[-1]])
    path.reverse()
    return path


def bipartite(links):
    n = len(links)
    colour = [None] * n
    for s in range(n):
        if colour[s] is not None:
            continue
        colour[s] = 0
        stack = [s]
        while stack:
            v = stack.pop()
            for w in range(n):
                if not links[v, w]:
                    continue
                if colour[w] is None:
                    colour[w] = 1 - colour[v]
                    stack.append(w)
                elif colour[w] == colour[v]:
                    return False, colour
    return True, colour


def degrees(edges):
    count = [0] * 20
    for u, v in edges:
        count[u] += 1
        count[v] += 1
    leaves = [v for v, c in enumerate(count) if c == 1]
    return count, leaves, max(count), count.index(max(count))


def adjacency(edges):
    rows = [[0] * 20 for _ in range(20)]
    for u, v in edges:
        rows[u][v] += 1
        if u != v:
            rows[v][u] += 1
    return np.array(rows), [sum(row) for row in rows]


def subsets_with_sum(k, n):
    found = []
    m = min(len(k), 8)
    for mask in range(2**m):
        chosen = []
        for i in range(m):
            if mask >> i & 1:
                chosen.append(int(k[i]))
        if sum(chosen) == n:
            found.append(chosen)
    return found


def binary_search(x, n):
    ordered = sorted(x)
    low, high = 0, len(ordered)
    visited = []
    while low < high:
        middle = (low + high) // 2
        visited.append(middle)
        if ordered[middle] < n / 10:
            low = middle + 1
        else:
            high = middle
    return low, visited


def queens(n):
    rows = []
    solutions = []
    c = 0
    while True:
        if c == n:
            if not rows:
                break
            c = rows.pop() + 1
            continue
        ok = True
        for r, other in enumerate(rows):
            if other == c or abs(other - c) == len(rows) - r:
                ok = False
                break
        if ok:
            rows.append(c)
            if len(rows) == n:
                solutions.append(rows[:])
                c = rows.pop() + 1
            else:
                c = 0
        else:
            c += 1
    return solutions
