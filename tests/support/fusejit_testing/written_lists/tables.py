"""Tables as lists of lists: dynamic programming, matrices, grids, games."""
# mypy: ignore-errors

import numpy as np


def knapsack(k, n):
    room = 5 * n
    best = [0] * (room + 1)
    for i in range(len(k)):
        weight, value = int(k[i]) + 1, i % 5 + 1
        for c in range(room, weight - 1, -1):
            best[c] = max(best[c], best[c - weight] + value)
    return best[room], best


def edit_distance(k, m):
    table = [[0] * (len(m) + 1) for _ in range(len(k) + 1)]
    for i in range(len(k) + 1):
        table[i][0] = i
    for j in range(len(m) + 1):
        table[0][j] = j
    for i in range(1, len(k) + 1):
        for j in range(1, len(m) + 1):
            cost = 0 if k[i - 1] == m[j - 1] else 1
            table[i][j] = min(table[i - 1][j] + 1, table[i][j - 1] + 1, table[i - 1][j - 1] + cost)
    return table[-1][-1]


def edit_distance_by_rows(k, m):
    before = list(range(len(m) + 1))
    for i in range(len(k)):
        row = [i + 1]
        for j in range(len(m)):
            row.append(min(before[j + 1] + 1, row[j] + 1, before[j] + (k[i] != m[j])))
        before = row
    return before[-1], before


def common_subsequence(k, m):
    table = [[0] * (len(m) + 1) for _ in range(len(k) + 1)]
    for i in range(len(k)):
        for j in range(len(m)):
            if k[i] == m[j]:
                table[i + 1][j + 1] = table[i][j] + 1
            else:
                table[i + 1][j + 1] = max(table[i][j + 1], table[i + 1][j])
    found = []
    i, j = len(k), len(m)
    while i and j:
        if k[i - 1] == m[j - 1]:
            found.append(k[i - 1])
            i -= 1
            j -= 1
        elif table[i - 1][j] >= table[i][j - 1]:
            i -= 1
        else:
            j -= 1
    return found[::-1]


def increasing_subsequence(x):
    lengths = [1] * len(x)
    previous = [-1] * len(x)
    for i in range(len(x)):
        for j in range(i):
            if x[j] < x[i] and lengths[j] + 1 > lengths[i]:
                lengths[i] = lengths[j] + 1
                previous[i] = j
    at = lengths.index(max(lengths))
    found = []
    while at >= 0:
        found.append(x[at])
        at = previous[at]
    return found[::-1]


def patience(x):
    tails = []
    for v in x:
        low, high = 0, len(tails)
        while low < high:
            middle = (low + high) // 2
            if tails[middle] < v:
                low = middle + 1
            else:
                high = middle
        if low == len(tails):
            tails.append(v)
        else:
            tails[low] = v
    return len(tails), tails


def coins(n):
    ways = [1] + [0] * (10 * n)
    for coin in (1, 2, 5, 10):
        for v in range(coin, len(ways)):
            ways[v] += ways[v - coin]
    return ways


def pascal(n):
    rows = []
    for i in range(3 * n):
        row = [1] * (i + 1)
        for j in range(1, i):
            row[j] = rows[i - 1][j - 1] + rows[i - 1][j]
        rows.append(row)
    return rows


def product(grid):
    a = grid.tolist()
    n = len(a)
    b = [[a[j][i] for j in range(n)] for i in range(len(a[0]))]
    result = [[0] * n for _ in range(n)]
    for i in range(n):
        for j in range(n):
            for p in range(len(b)):
                result[i][j] += a[i][p] * b[p][j]
    return result


def transposed(grid):
    rows = []
    for j in range(grid.shape[1]):
        row = []
        for i in range(grid.shape[0]):
            row.append(grid[i, j])
        rows.append(row)
    return rows


def gaussian_elimination(x):
    n = 4
    rows = [[float(x[(i * n + j) % len(x)]) + (i == j) * 4 for j in range(n)] for i in range(n)]
    for c in range(n):
        for r in range(c + 1, n):
            factor = rows[r][c] / rows[c][c]
            for j in range(c, n):
                rows[r][j] -= factor * rows[c][j]
    return rows


def spiral(grid):
    h, w = grid.shape
    top, left, bottom, right = 0, 0, h - 1, w - 1
    out = []
    while top <= bottom and left <= right:
        for j in range(left, right + 1):
            out.append(grid[top, j])
        top += 1
        for i in range(top, bottom + 1):
            out.append(grid[i, right])
        right -= 1
        if top <= bottom:
            for j in range(right, left - 1, -1):
                out.append(grid[bottom, j])
            bottom -= 1
        if left <= right:
            for i in range(bottom, top - 1, -1):
                out.append(grid[i, left])
            left += 1
    return out


def life(grid, n):
    h, w = grid.shape
    cells = [[int(grid[i, j] > 2) for j in range(w)] for i in range(h)]
    for _ in range(n):
        new = [[0] * w for _ in range(h)]
        for i in range(h):
            for j in range(w):
                around = 0
                for di in (-1, 0, 1):
                    for dj in (-1, 0, 1):
                        if di or dj:
                            around += cells[(i + di) % h][(j + dj) % w]
                new[i][j] = 1 if around == 3 or (cells[i][j] and around == 2) else 0
        cells = new
    return cells


def buckets(x, n):
    rows = [[] for _ in range(n)]
    for v in x:
        rows[min(int(v * n), n - 1)].append(v)
    return rows, [len(row) for row in rows], [sum(row) / len(row) if row else None for row in rows]


def shared_rows(n):
    rows = [[0] * n] * n
    for i in range(n):
        rows[i][i] += i
    return rows


def inverted_index(k):
    places = [[] for _ in range(10)]
    for i, v in enumerate(k):
        places[v].append(i)
    return places


def triples(k):
    found = []
    for i in range(len(k)):
        for j in range(i + 1, len(k)):
            if k[i] + k[j] == 9 and [int(k[i]), int(k[j])] not in found:
                found.append([int(k[i]), int(k[j])])
    return found


def cellular_automaton(n):
    row = [0] * 21
    row[10] = 1
    rows = [row]
    for _ in range(2 * n):
        new = []
        for i in range(21):
            a, b, c = rows[-1][i - 1], rows[-1][i], rows[-1][(i + 1) % 21]
            new.append(30 >> (4 * a + 2 * b + c) & 1)
        rows.append(new)
    return np.array(rows)


def convolved(x, k):
    result = [0.0] * (len(x) + len(k) - 1)
    for i in range(len(x)):
        for j in range(len(k)):
            result[i + j] += x[i] * k[j]
    return result


def polynomial(k):
    coefficients = [1]
    for root in k[:6]:
        new = [0] * (len(coefficients) + 1)
        for i, c in enumerate(coefficients):
            new[i] += c
            new[i + 1] -= c * int(root)
        coefficients = new
    return coefficients


def robots(k):
    position = [0, 0]
    visited = [position[:]]
    for v in k:
        if v % 4 == 0:
            position[0] += 1
        elif v % 4 == 1:
            position[1] += 1
        elif v % 4 == 2:
            position[0] -= 1
        else:
            position[1] -= 1
        visited.append(position[:])
    return visited, position


def forgotten_copy(k):
    row = []
    rows = []
    for v in k:
        row.append(v)
        rows.append(row)
    return rows, rows[0] is rows[-1]


def simulated_queue(x, n):
    waiting, served = [], []
    clock = 0.0
    for i in range(len(x)):
        clock += x[i]
        waiting.append((i, clock))
        while waiting and waiting[0][1] + n / 4 < clock:
            number, since = waiting.pop(0)
            served.append((number, clock - since))
    return served, waiting


def k_means(x):
    centres = [0.2, 0.5, 0.8]
    for _ in range(5):
        groups = [[], [], []]
        for v in x:
            best = 0
            for c in range(1, 3):
                if abs(v - centres[c]) < abs(v - centres[best]):
                    best = c
            groups[best].append(v)
        for c in range(3):
            if groups[c]:
                centres[c] = sum(groups[c]) / len(groups[c])
    return centres, [len(g) for g in groups]


def minimal_path(grid):
    costs = grid.tolist()
    for i in range(len(costs)):
        for j in range(len(costs[0])):
            if i and j:
                costs[i][j] += min(costs[i - 1][j], costs[i][j - 1])
            elif i:
                costs[i][j] += costs[i - 1][j]
            elif j:
                costs[i][j] += costs[i][j - 1]
    return costs[-1][-1], costs


def intervals(k):
    pairs = []
    for i in range(0, len(k) - 1, 2):
        pairs.append((min(k[i], k[i + 1]), max(k[i], k[i + 1])))
    pairs.sort()
    joined = []
    for low, high in pairs:
        if joined and low <= joined[-1][1]:
            if high > joined[-1][1]:
                joined[-1] = (joined[-1][0], high)
        else:
            joined.append((low, high))
    return joined


def leaders(x):
    found = []
    best = -1.0
    for i in range(len(x) - 1, -1, -1):
        if x[i] > best:
            best = x[i]
            found.append(best)
    return found[::-1], found


def stored_before_error(x, n):
    out = [0] * n
    for i in range(len(x)):
        x[i] += 1
        out[i] += i
    return out
