"""Sorting, merging, stacks, numbers: what textbooks do with one list or two."""
# mypy: ignore-errors
# ruff: noqa: B905, RUF005

import numpy as np


def bubble_sort(x):
    a = list(x)
    n = len(a)
    for i in range(n):
        swapped = False
        for j in range(n - 1 - i):
            if a[j] > a[j + 1]:
                a[j], a[j + 1] = a[j + 1], a[j]
                swapped = True
        if not swapped:
            break
    return a


def insertion_sort(k):
    a = []
    for v in k:
        i = len(a)
        a.append(v)
        while i > 0 and a[i - 1] > v:
            a[i] = a[i - 1]
            i -= 1
        a[i] = v
    return a


def selection_sort(k):
    a = k.tolist()
    for i in range(len(a)):
        least = i
        for j in range(i + 1, len(a)):
            if a[j] < a[least]:
                least = j
        a[i], a[least] = a[least], a[i]
    return a


def quicksort(x):
    a = list(x)
    todo = [(0, len(a) - 1)]
    while todo:
        low, high = todo.pop()
        if low >= high:
            continue
        pivot = a[high]
        i = low
        for j in range(low, high):
            if a[j] < pivot:
                a[i], a[j] = a[j], a[i]
                i += 1
        a[i], a[high] = a[high], a[i]
        todo.append((low, i - 1))
        todo.append((i + 1, high))
    return a


def merged(a, b):
    result = []
    i = j = 0
    while i < len(a) and j < len(b):
        if a[i] <= b[j]:
            result.append(a[i])
            i += 1
        else:
            result.append(b[j])
            j += 1
    result.extend(a[i:])
    result.extend(b[j:])
    return result


def merge_sort(x):
    parts = [[v] for v in x]
    while len(parts) > 1:
        joined = []
        for i in range(0, len(parts) - 1, 2):
            joined.append(merged(parts[i], parts[i + 1]))
        if len(parts) % 2:
            joined.append(parts[-1])
        parts = joined
    return parts[0] if parts else []


def merge_two(x, n):
    left, right = sorted(x[:n]), sorted(x[n:])
    return merged(left, right)


def counting_sort(k):
    counts = [0] * 10
    for v in k:
        counts[v] += 1
    result = []
    for v, c in enumerate(counts):
        result.extend([v] * c)
    return result


def radix_sort(k):
    a = [int(v) for v in k]
    for shift in range(4):
        zeros, ones = [], []
        for v in a:
            if v >> shift & 1:
                ones.append(v)
            else:
                zeros.append(v)
        a = zeros + ones
    return a


def heap_sort(x):
    heap = []
    for v in x:
        heap.append(v)
        i = len(heap) - 1
        while i > 0 and heap[(i - 1) // 2] > heap[i]:
            p = (i - 1) // 2
            heap[p], heap[i] = heap[i], heap[p]
            i = p
    result = []
    while heap:
        result.append(heap[0])
        last = heap.pop()
        if not heap:
            break
        heap[0] = last
        i = 0
        while 2 * i + 1 < len(heap):
            c = 2 * i + 1
            if c + 1 < len(heap) and heap[c + 1] < heap[c]:
                c += 1
            if heap[i] <= heap[c]:
                break
            heap[i], heap[c] = heap[c], heap[i]
            i = c
    return result


def permutations(n):
    a = list(range(min(n, 5)))
    found = [a[:]]
    while True:
        i = len(a) - 2
        while i >= 0 and a[i] >= a[i + 1]:
            i -= 1
        if i < 0:
            break
        j = len(a) - 1
        while a[j] <= a[i]:
            j -= 1
        a[i], a[j] = a[j], a[i]
        a[i + 1 :] = a[:i:-1]
        found.append(a[:])
    return found


def heaps_algorithm(k):
    a = list(k[:4])
    n = len(a)
    c = [0] * n
    found = [tuple(a)]
    i = 0
    while i < n:
        if c[i] < i:
            if i % 2 == 0:
                a[0], a[i] = a[i], a[0]
            else:
                a[c[i]], a[i] = a[i], a[c[i]]
            found.append(tuple(a))
            c[i] += 1
            i = 0
        else:
            c[i] = 0
            i += 1
    return found


def collatz(k):
    lengths = []
    longest = []
    for v in k:
        chain = [int(v) + 1]
        while chain[-1] != 1:
            if chain[-1] % 2 == 0:
                chain.append(chain[-1] // 2)
            else:
                chain.append(3 * chain[-1] + 1)
        lengths.append(len(chain))
        if len(chain) > len(longest):
            longest = chain
    return lengths, longest


def primes(n):
    found = []
    candidate = 2
    while len(found) < 10 * n:
        is_prime = True
        for p in found:
            if p * p > candidate:
                break
            if candidate % p == 0:
                is_prime = False
                break
        if is_prime:
            found.append(candidate)
        candidate += 1
    return found


def factors(k):
    result = []
    for v in k:
        v = int(v) * 6 + 30
        own = []
        d = 2
        while v > 1:
            while v % d == 0:
                own.append(d)
                v //= d
            d += 1
        result.append(own)
    return result


def digits(k):
    result = []
    for v in k:
        v = int(v) ** 3
        own = []
        while v:
            own.append(v % 10)
            v //= 10
        own.reverse()
        result.append(own or [0])
    return result


def fibonacci(n):
    numbers = [0, 1]
    for _ in range(12 * n):
        numbers.append(numbers[-1] + numbers[-2])
    return numbers


def brackets(k):
    stack = []
    for i in range(len(k)):
        if k[i] < 4:
            stack.append((k[i], i))
        elif k[i] < 8:
            if not stack:
                return False, i
            kind, _ = stack.pop()
            if kind != k[i] - 4:
                return False, i
    return not stack, len(k)


def matching(k):
    stack, pairs = [], []
    try:
        for i, v in enumerate(k):
            if v % 2 == 0:
                stack.append(i)
            else:
                pairs.append((stack.pop(), i))
    except IndexError:
        return "unbalanced", pairs
    return "left", pairs, stack


def calculator(k):
    stack = []
    for v in k:
        if v < 6 or len(stack) < 2:
            stack.append(int(v))
        else:
            b, a = stack.pop(), stack.pop()
            stack.append(a + b if v == 6 else a - b if v == 7 else a * b)
    return stack[-1], stack


def next_greater(x):
    result = [None] * len(x)
    stack = []
    for i in range(len(x)):
        while stack and x[stack[-1]] < x[i]:
            result[stack.pop()] = i
        stack.append(i)
    return result


def largest_rectangle(k):
    heights = k.tolist() + [0]
    stack = [-1]
    best = 0
    for i in range(len(heights)):
        while stack[-1] != -1 and heights[stack[-1]] >= heights[i]:
            h = heights[stack.pop()]
            best = max(best, h * (i - stack[-1] - 1))
        stack.append(i)
    return best


def unique(k):
    seen = []
    for v in k:
        if v not in seen:
            seen.append(v)
    return seen, len(seen)


def two_sum(k, n):
    seen = []
    for i in range(len(k)):
        if n - k[i] in seen:
            return seen.index(n - k[i]), i
        seen.append(k[i])
    return None


def rotated(x, n):
    a = list(x)
    for _ in range(n):
        a.insert(0, a.pop())
    return a, a[n:] + a[:n]


def josephus(n):
    people = list(range(5 * n))
    out = []
    i = 0
    while people:
        i = (i + n - 1) % len(people)
        out.append(people.pop(i))
    return out


def interleaved(x, k):
    result = []
    for a, b in zip(x, k):
        result.append(a)
        result.append(b)
    return result, result[::2], result[1::2]


def chunks(x, n):
    parts = [x[i : i + n].tolist() for i in range(0, len(x), n)]
    return parts, [len(p) for p in parts]


def partition(x):
    less, equal, more = [], [], []
    pivot = x[len(x) // 2]
    for v in x:
        (less if v < pivot else more if v > pivot else equal).append(v)
    return less + equal + more


def flattened(grid):
    result = []
    for row in grid:
        for v in row:
            if v not in (0, 3):
                result.append(v)
    return np.array(result), sum(result)
