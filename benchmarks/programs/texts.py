"""Bytes and digits: text, codes, hashes, long numbers, bit matrices."""

import numpy as np

from benchmarks.programs.program import Program


def title_case(text):
    out = text.copy()
    words = 0
    inside = False
    for i in range(out.size):
        c = out[i]
        if 97 <= c <= 122 or 65 <= c <= 90:
            if not inside:
                words += 1
                if c >= 97:
                    out[i] -= 32
            elif c <= 90:
                out[i] += 32
            inside = True
        else:
            inside = False
    return out, words


def kmp_search(text, pattern):
    m = len(pattern)
    fail = np.zeros(m, dtype=np.int32)
    k = 0
    for i in range(1, m):
        while k > 0 and pattern[k] != pattern[i]:
            k = fail[k - 1]
        if pattern[k] == pattern[i]:
            k += 1
        fail[i] = k
    hits = np.zeros(len(text), dtype=bool)
    q = 0
    for i, c in enumerate(text):
        while q > 0 and pattern[q] != c:
            q = fail[q - 1]
        if pattern[q] == c:
            q += 1
        if q == m:
            hits[i - m + 1] = True
            q = fail[q - 1]
    return np.flatnonzero(hits)


def parse_integers(text):
    values = np.empty(len(text) // 2 + 1, np.int64)
    n, sign, number, digits = 0, 1, 0, 0
    for c in text:
        if 48 <= c <= 57:
            number = number * 10 + (int(c) - 48)
            digits += 1
        elif c == 45:
            sign = -1
        elif digits:
            values[n] = sign * number
            n += 1
            sign, number, digits = 1, 0, 0
    if digits:
        values[n] = sign * number
        n += 1
    return values[:n]


def run_lengths(data):
    n = len(data)
    if n == 0:
        return np.empty(0, np.uint8), np.empty(0, np.int64)
    values = np.empty(n, data.dtype)
    counts = np.zeros(n, np.int64)
    k = 0
    values[0] = data[0]
    counts[0] = 1
    for i in range(1, n):
        if data[i] == values[k] and counts[k] < 255:
            counts[k] += 1
        else:
            k += 1
            values[k] = data[i]
            counts[k] = 1
    return values[: k + 1], counts[: k + 1]


def huffman_depths(freq):
    n = len(freq)
    weight = np.concatenate([freq, np.zeros(max(n - 1, 0), freq.dtype)])
    parent = np.full(len(weight), -1)
    alive = np.zeros(len(weight), bool)
    alive[:n] = True
    top = n
    for _ in range(n - 1):
        first = second = -1
        for i in range(top):
            if not alive[i]:
                continue
            if first < 0 or weight[i] < weight[first]:
                first, second = i, first
            elif second < 0 or weight[i] < weight[second]:
                second = i
        weight[top] = weight[first] + weight[second]
        parent[first] = parent[second] = top
        alive[[first, second]] = False
        alive[top] = True
        top += 1
    depth = np.zeros(len(weight), int)
    for i in reversed(range(top - 1)):
        depth[i] = depth[parent[i]] + 1
    return depth[:n], (depth[:n] * freq).sum()


def murmur3(data, seed):
    c1, c2 = 0xCC9E2D51, 0x1B873593
    h = int(seed)
    n = len(data)
    blocks = n // 4
    for i in range(blocks):
        k = (
            int(data[4 * i])
            | int(data[4 * i + 1]) << 8
            | int(data[4 * i + 2]) << 16
            | int(data[4 * i + 3]) << 24
        )
        k = k * c1 & 0xFFFFFFFF
        k = (k << 15 | k >> 17) & 0xFFFFFFFF
        h ^= k * c2 & 0xFFFFFFFF
        h = (h << 13 | h >> 19) & 0xFFFFFFFF
        h = (h * 5 + 0xE6546B64) & 0xFFFFFFFF
    k = 0
    for j, byte in enumerate(data[4 * blocks :]):
        k |= int(byte) << 8 * j
    if n % 4:
        k = k * c1 & 0xFFFFFFFF
        k = (k << 15 | k >> 17) & 0xFFFFFFFF
        h ^= k * c2 & 0xFFFFFFFF
    h ^= n
    h = (h ^ h >> 16) * 0x85EBCA6B & 0xFFFFFFFF
    h = (h ^ h >> 13) * 0xC2B2AE35 & 0xFFFFFFFF
    return h ^ h >> 16


def gf2_rank(matrix):
    M = matrix.copy()
    rows, cols = M.shape
    rank = 0
    for c in range(cols):
        pivot = -1
        for r in range(rank, rows):
            if M[r, c]:
                pivot = r
                break
        if pivot < 0:
            continue
        if pivot != rank:
            M[[rank, pivot]] = M[[pivot, rank]]
        for r in range(rows):
            if r != rank and M[r, c]:
                M[r] ^= M[rank]
        rank += 1
        if rank == rows:
            break
    return rank, M


def schoolbook_multiply(a, b):
    out = np.zeros(len(a) + len(b), dtype=np.int8)
    for i, x in enumerate(a):
        carry = 0
        for j, y in enumerate(b):
            t = int(out[i + j]) + int(x) * int(y) + carry
            carry, out[i + j] = divmod(t, 10)
        out[i + len(b)] += carry
    k = len(out)
    while k > 1 and out[k - 1] == 0:
        k -= 1
    return out[:k]


def written(rng, n):
    return rng.choice(np.frombuffer(b"the Cat sat ON a mat, 42 times.  ", np.uint8), n)


def numbers(rng, n):
    text = ", ".join(map(str, rng.integers(-999, 1_000, n).tolist()))
    return np.frombuffer(text.encode(), np.uint8)


PROGRAMS = (
    Program(title_case, lambda rng, n: (written(rng, n),), (20, 5_000), 50_000, True),
    Program(
        kmp_search,
        lambda rng, n: (
            rng.integers(97, 99, n).astype(np.uint8),
            np.frombuffer(b"ababba", np.uint8),
        ),
        (20, 5_000),
        50_000,
        True,
    ),
    Program(
        parse_integers,
        lambda rng, n: (numbers(rng, n),),
        (5, 1_000),
        20_000,
        True,
    ),
    Program(
        run_lengths,
        lambda rng, n: (np.sort(rng.integers(0, 1 + n // 4, n)).astype(np.uint8),),
        (20, 5_000),
        50_000,
        True,
    ),
    Program(huffman_depths, lambda rng, n: (rng.integers(1, 1000, n),), (6, 80), 400, True),
    Program(
        murmur3,
        lambda rng, n: (rng.integers(0, 256, n, np.uint8), np.uint32(n)),
        (11, 5_001),
        50_002,
        True,
    ),
    Program(
        gf2_rank, lambda rng, n: (rng.integers(0, 2, (n, n + 1), np.uint8),), (5, 50), 200, True
    ),
    Program(
        schoolbook_multiply,
        lambda rng, n: (rng.integers(0, 10, n), rng.integers(0, 10, n + 3)),
        (4, 60),
        400,
        True,
    ),
)
