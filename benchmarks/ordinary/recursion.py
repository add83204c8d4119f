"""Recursion: divide and conquer, searches that go back, trees."""

import math
from functools import lru_cache

import numpy as np

from benchmarks.programs.program import Program


def quicksort(values):
    if len(values) <= 1:
        return values
    pivot = values[len(values) // 2]
    smaller = [v for v in values if v < pivot]
    equal = [v for v in values if v == pivot]
    larger = [v for v in values if v > pivot]
    return quicksort(smaller) + equal + quicksort(larger)


def sort_records(keys):
    ordered = quicksort(list(keys))
    return np.array(ordered), ordered == sorted(keys)


def merge_sort(x):
    if len(x) < 2:
        return x
    middle = len(x) // 2
    left, right = merge_sort(x[:middle]), merge_sort(x[middle:])
    merged = np.empty_like(x)
    i = j = 0
    for k in range(len(x)):
        if j == len(right) or (i < len(left) and left[i] <= right[j]):
            merged[k] = left[i]
            i += 1
        else:
            merged[k] = right[j]
            j += 1
    return merged


def fft(x):
    n = len(x)
    if n == 1:
        return x
    if n % 2:
        raise ValueError("the length must be a power of 2")
    even, odd = fft(x[::2]), fft(x[1::2])
    twiddle = np.exp(-2j * np.pi * np.arange(n // 2) / n) * odd
    return np.concatenate([even + twiddle, even - twiddle])


def power_spectrum(x):
    spectrum = np.abs(fft(x.astype(complex))) ** 2
    try:
        fft(x[:-1].astype(complex))
    except ValueError as error:
        print("error:", error)
    return spectrum[: len(x) // 2]


def strassen(a, b, leaf=2):
    n = len(a)
    if n <= leaf:
        return a @ b
    h = n // 2
    a11, a12, a21, a22 = a[:h, :h], a[:h, h:], a[h:, :h], a[h:, h:]
    b11, b12, b21, b22 = b[:h, :h], b[:h, h:], b[h:, :h], b[h:, h:]
    m1 = strassen(a11 + a22, b11 + b22, leaf)
    m2 = strassen(a21 + a22, b11, leaf)
    m3 = strassen(a11, b12 - b22, leaf)
    m4 = strassen(a22, b21 - b11, leaf)
    m5 = strassen(a11 + a12, b22, leaf)
    m6 = strassen(a21 - a11, b11 + b12, leaf)
    m7 = strassen(a12 - a22, b21 + b22, leaf)
    return np.block([[m1 + m4 - m5 + m7, m3 + m5], [m2 + m4, m1 - m2 + m3 + m6]])


def determinant(matrix):
    if len(matrix) == 1:
        return matrix[0][0]
    total = 0
    for column, value in enumerate(matrix[0]):
        minor = [row[:column] + row[column + 1 :] for row in matrix[1:]]
        total += (-1) ** column * value * determinant(minor)
    return total


def cofactor_inverse(a):
    rows = a.tolist()
    d = determinant(rows)
    if d == 0:
        return None
    n = len(rows)
    cofactors = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            minor = [r[:j] + r[j + 1 :] for k, r in enumerate(rows) if k != i]
            cofactors[i, j] = (-1) ** (i + j) * determinant(minor)
    return cofactors.T / d


def hanoi(n, source, target, spare, moves):
    if n == 0:
        return
    hanoi(n - 1, source, spare, target, moves)
    moves.append((n, source, target))
    hanoi(n - 1, spare, target, source, moves)


def hanoi_heights(n):
    moves = []
    hanoi(n, 0, 2, 1, moves)
    heights = np.zeros((len(moves) + 1, 3), dtype=int)
    heights[0, 0] = n
    for k, (_, a, b) in enumerate(moves):
        heights[k + 1] = heights[k]
        heights[k + 1, a] -= 1
        heights[k + 1, b] += 1
    return moves, heights


def queens(n):
    solutions = []

    def place(row, columns, rising, falling):
        if row == n:
            solutions.append(columns)
            return
        for c in range(n):
            if c not in columns and row + c not in rising and row - c not in falling:
                place(row + 1, [*columns, c], rising | {row + c}, falling | {row - c})

    place(0, [], set(), set())
    board = np.zeros((n, n), dtype=bool)
    if solutions:
        board[range(n), solutions[0]] = True
    return len(solutions), board


def candidates(grid, r, c):
    block = grid[r // 3 * 3 : r // 3 * 3 + 3, c // 3 * 3 : c // 3 * 3 + 3]
    used = set(grid[r]) | set(grid[:, c]) | set(block.ravel())
    return [v for v in range(1, 10) if v not in used]


def solve_sudoku(grid):
    empty = np.argwhere(grid == 0)
    if len(empty) == 0:
        return True
    choices = [(candidates(grid, r, c), r, c) for r, c in empty]
    values, r, c = min(choices, key=lambda choice: len(choice[0]))
    for value in values:
        grid[r, c] = value
        if solve_sudoku(grid):
            return True
    grid[r, c] = 0
    return False


class QuadTree:
    def __init__(self, x, y, size, capacity=4):
        self.x, self.y, self.size = x, y, size
        self.capacity = capacity
        self.points = []
        self.children = None

    def insert(self, p):
        if self.children is None:
            self.points.append(p)
            if len(self.points) > self.capacity and self.size > 1e-3:
                half = self.size / 2
                self.children = [
                    QuadTree(self.x + dx * half, self.y + dy * half, half, self.capacity)
                    for dy in (0, 1)
                    for dx in (0, 1)
                ]
                for q in self.points:
                    self.child(q).insert(q)
                self.points = []
        else:
            self.child(p).insert(p)

    def child(self, p):
        half = self.size / 2
        return self.children[int(p[0] >= self.x + half) + 2 * int(p[1] >= self.y + half)]

    def depth(self):
        return 1 + max((c.depth() for c in self.children or []), default=0)

    def query(self, x0, y0, x1, y1):
        if x1 < self.x or y1 < self.y or x0 > self.x + self.size or y0 > self.y + self.size:
            return []
        found = [p for p in self.points if x0 <= p[0] <= x1 and y0 <= p[1] <= y1]
        for child in self.children or []:
            found += child.query(x0, y0, x1, y1)
        return found


def points_in_a_window(points):
    tree = QuadTree(0.0, 0.0, 1.0)
    for p in points:
        tree.insert(p)
    found = tree.query(0.2, 0.2, 0.6, 0.7)
    return len(found), tree.depth(), sum(found) / max(len(found), 1)


def simpson(f, a, b):
    return (b - a) / 6 * (f(a) + 4 * f((a + b) / 2) + f(b))


def adaptive_simpson(f, a, b, tol):
    m = (a + b) / 2
    whole, halves = simpson(f, a, b), simpson(f, a, m) + simpson(f, m, b)
    if abs(halves - whole) < 15 * tol:
        return halves + (halves - whole) / 15
    return adaptive_simpson(f, a, m, tol / 2) + adaptive_simpson(f, m, b, tol / 2)


def integrals(exponents):
    results = {}
    for p in exponents:
        results[p] = adaptive_simpson(lambda x: math.exp(-x * x) * x**p, 0.0, 2.0, 1e-8)
    return results


def permutations(items):
    if not items:
        return [[]]
    result = []
    for i, item in enumerate(items):
        for rest in permutations(items[:i] + items[i + 1 :]):
            result.append([item, *rest])
    return result


def shortest_tour(points):
    distances = np.sqrt(((points[:, None] - points[None]) ** 2).sum(axis=-1))
    best, best_length = None, np.inf
    for order in permutations(list(range(1, len(points)))):
        tour = [0, *order, 0]
        length = distances[tour[:-1], tour[1:]].sum()
        if length < best_length:
            best, best_length = tour, length
    return best, best_length


def fill(image, r, c, old, new):
    if not (0 <= r < image.shape[0] and 0 <= c < image.shape[1]):
        return 0
    if image[r, c] != old:
        return 0
    image[r, c] = new
    count = 1
    for dr, dc in ((0, 1), (1, 0), (0, -1), (-1, 0)):
        count += fill(image, r + dr, c + dc, old, new)
    return count


def label_areas(image):
    areas = []
    label = 2
    for r in range(image.shape[0]):
        for c in range(image.shape[1]):
            if image[r, c] == 1:
                areas.append(fill(image, r, c, 1, label))
                label += 1
    return areas


@lru_cache
def partitions(n, largest):
    if n == 0:
        return 1
    return sum(partitions(n - k, k) for k in range(1, min(n, largest) + 1))


def partition_table(n):
    table = np.array([[partitions(i, j) for j in range(1, n + 1)] for i in range(n + 1)])
    return table, table[:, -1] / np.maximum(table.sum(axis=1), 1)


def knapsack(weights, values, capacity):
    memo = {}

    def best(i, room):
        if i == len(weights):
            return 0, ()
        if (i, room) not in memo:
            result = best(i + 1, room)
            if weights[i] <= room:
                value, chosen = best(i + 1, room - weights[i])
                result = max(result, (value + values[i], (i, *chosen)))
            memo[i, room] = result
        return memo[i, room]

    value, chosen = best(0, capacity)
    return value, chosen, len(memo)


def koch(p, q, depth):
    if depth == 0:
        return [p]
    d = (q - p) / 3
    turn = np.array([[0.5, -math.sqrt(3) / 2], [math.sqrt(3) / 2, 0.5]])
    a, b = p + d, p + 2 * d
    tip = a + turn @ d
    return (
        koch(p, a, depth - 1)
        + koch(a, tip, depth - 1)
        + koch(tip, b, depth - 1)
        + koch(b, q, depth - 1)
    )


def snowflake(depth):
    corners = [np.array([math.cos(t), math.sin(t)]) for t in (0.0, -2.1, -4.2)]
    points = []
    for p, q in zip(corners, corners[1:] + corners[:1]):
        points += koch(p, q, depth)
    points = np.array(points)
    x, y = points.T
    area = 0.5 * abs(np.dot(x, np.roll(y, -1)) - np.dot(y, np.roll(x, -1)))
    return len(points), area


def puzzle(rng, blanks):
    row, column = np.indices((9, 9))
    solved = (3 * (row % 3) + row // 3 + column) % 9 + 1
    solved = (rng.permutation(9) + 1)[solved - 1]
    solved.reshape(-1)[rng.choice(81, blanks, replace=False)] = 0
    return (solved,)


def items(rng, n):
    return rng.integers(1, 9, n).tolist(), rng.integers(1, 30, n).tolist(), 3 * n


PROGRAMS = (
    Program(sort_records, lambda rng, n: (rng.integers(0, 99, n).tolist(),), (10, 100), 5_000),
    Program(merge_sort, lambda rng, n: (rng.random(n),), (5, 40), 500, True),
    Program(power_spectrum, lambda rng, n: (rng.random(2**n),), (2, 4), 10),
    Program(strassen, lambda rng, n: (*rng.random((2, 2**n, 2**n)),), (2, 3), 5),
    Program(cofactor_inverse, lambda rng, n: (rng.random((n, n)),), (2, 4), 6),
    Program(hanoi_heights, lambda rng, n: (n,), (3, 6), 12, True),
    Program(queens, lambda rng, n: (n,), (4, 5), 7, True),
    Program(solve_sudoku, puzzle, (3, 12), 40, True),
    Program(points_in_a_window, lambda rng, n: (rng.random((n, 2)),), (10, 60), 1_000),
    Program(integrals, lambda rng, n: (list(range(n)),), (2, 4), 8),
    Program(shortest_tour, lambda rng, n: (rng.random((n, 2)),), (3, 5), 8),
    Program(label_areas, lambda rng, n: ((rng.random((n, n)) < 0.5) * 1,), (4, 10), 40, True),
    Program(partition_table, lambda rng, n: (n,), (3, 6), 60),
    Program(knapsack, items, (4, 12), 40),
    Program(snowflake, lambda rng, n: (n,), (1, 3), 6),
)
