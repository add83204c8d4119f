"""Checksums, bit tricks, number theory, sorting and searching."""

import numpy as np

from benchmarks.programs.program import Program


def adler32(data):
    a, b = 1, 0
    for byte in data:
        a = (a + int(byte)) % 65521
        b = (b + a) % 65521
    return (b << 16) | a


def crc32(data):
    crc = 0xFFFFFFFF
    for i in range(len(data)):
        crc ^= int(data[i])
        for _ in range(8):
            if crc & 1:
                crc = (crc >> 1) ^ 0xEDB88320
            else:
                crc >>= 1
    return crc ^ 0xFFFFFFFF


def crc32_table(data):
    table = np.zeros(256, dtype=np.uint32)
    for n in range(256):
        c = n
        for k in range(8):
            c = 0xEDB88320 ^ (c >> 1) if c & 1 else c >> 1
        table[n] = c
    crc = 0xFFFFFFFF
    for byte in data:
        crc = int(table[(crc ^ int(byte)) & 0xFF]) ^ (crc >> 8)
    return crc ^ 0xFFFFFFFF


def fnv1a(data):
    h = 2166136261
    for byte in data:
        h = h ^ int(byte)
        h = (h * 16777619) % 4294967296
    return h


def popcount(x):
    x = x - ((x >> 1) & 0x55555555)
    x = (x & 0x33333333) + ((x >> 2) & 0x33333333)
    x = (x + (x >> 4)) & 0x0F0F0F0F
    return (x * 0x01010101) >> 24


def popcount_loop(x):
    count = np.zeros(x.shape, dtype=np.int64)
    y = x.copy()
    while np.any(y):
        count += (y & 1).astype(np.int64)
        y >>= 1
    return count


def xorshift(state, steps):
    out = np.empty((steps, state.size), dtype=np.uint64)
    x = state.copy()
    for k in range(steps):
        x ^= x << np.uint64(13)
        x ^= x >> np.uint64(7)
        x ^= x << np.uint64(17)
        out[k] = x
    return out


def congruential(seed, n):
    out = np.empty(n)
    state = seed
    for i in range(n):
        state = (1103515245 * state + 12345) % 2147483648
        out[i] = state / 2147483648
    return out


def collatz_lengths(start):
    n = start.copy()
    length = np.zeros(n.shape, dtype=np.int64)
    active = n > 1
    while active.any():
        even = n % 2 == 0
        n = np.where(active, np.where(even, n // 2, 3 * n + 1), n)
        length += active
        active = n > 1
    return length


def collatz_longest(limit):
    best = 0
    best_start = 1
    for start in range(1, limit):
        n = start
        length = 1
        while n != 1:
            if n % 2 == 0:
                n //= 2
            else:
                n = 3 * n + 1
            length += 1
        if length > best:
            best = length
            best_start = start
    return best_start, best


def sieve(limit):
    is_prime = np.ones(limit + 1, dtype=bool)
    is_prime[:2] = False
    i = 2
    while i * i <= limit:
        if is_prime[i]:
            is_prime[i * i :: i] = False
        i += 1
    return np.nonzero(is_prime)[0]


def totients(limit):
    phi = np.arange(limit + 1)
    for p in range(2, limit + 1):
        if phi[p] == p:
            phi[p::p] -= phi[p::p] // p
    return phi


def gcd_table(n):
    table = np.zeros((n, n), dtype=np.int64)
    for i in range(n):
        for j in range(n):
            a, b = i, j
            while b:
                a, b = b, a % b
            table[i, j] = a
    return table


def insertion_sort(x):
    for i in range(1, len(x)):
        key = x[i]
        j = i - 1
        while j >= 0 and x[j] > key:
            x[j + 1] = x[j]
            j -= 1
        x[j + 1] = key
    return x


def bubble_sort(x):
    n = len(x)
    for i in range(n):
        swapped = False
        for j in range(n - 1 - i):
            if x[j] > x[j + 1]:
                x[j], x[j + 1] = x[j + 1], x[j]
                swapped = True
        if not swapped:
            break


def counting_sort(x, k):
    counts = np.zeros(k, dtype=np.int64)
    for value in x:
        counts[value] += 1
    out = np.empty_like(x)
    position = 0
    for value in range(k):
        out[position : position + counts[value]] = value
        position += counts[value]
    return out


def binary_search(table, keys):
    lo = np.zeros(keys.shape, dtype=np.int64)
    hi = np.full(keys.shape, len(table))
    while np.any(lo < hi):
        mid = (lo + hi) // 2
        less = table[np.minimum(mid, len(table) - 1)] < keys
        active = lo < hi
        lo = np.where(active & less, mid + 1, lo)
        hi = np.where(active & ~less, mid, hi)
    return lo


def prefix_sums(x):
    y = x.copy()
    shift = 1
    while shift < len(y):
        y[shift:] = y[shift:] + y[:-shift]
        shift *= 2
    return y


def bit_reversal(n_bits):
    n = 1 << n_bits
    index = np.arange(n)
    reversed_index = np.zeros(n, dtype=np.int64)
    for _ in range(n_bits):
        reversed_index = (reversed_index << 1) | (index & 1)
        index >>= 1
    return reversed_index


def octets(rng, n):
    return (rng.integers(0, 256, n, np.uint8),)


PROGRAMS = (
    Program(adler32, octets, (9, 20_000), 300_000, True),
    Program(crc32, octets, (9, 3_000), 50_000, True),
    Program(crc32_table, octets, (9, 10_000), 200_000, True),
    Program(fnv1a, octets, (9, 20_000), 300_000, True),
    Program(
        popcount,
        lambda rng, n: (rng.integers(0, 2**32, n, np.uint32),),
        (9, 10_000),
        2_000_000,
        True,
    ),
    Program(popcount_loop, lambda rng, n: (rng.integers(0, 2**40, n),), (9, 5_000), 200_000, True),
    Program(
        xorshift,
        lambda rng, n: (rng.integers(1, 2**63, n, np.uint64), 3 + n // 50),
        (9, 1_000),
        20_000,
        True,
    ),
    Program(congruential, lambda rng, n: (42, n), (9, 20_000), 500_000, True),
    Program(collatz_lengths, lambda rng, n: (np.arange(1, n + 1),), (9, 500), 5_000, True),
    Program(collatz_longest, lambda rng, n: (n,), (9, 2_000), 10_000, True),
    Program(sieve, lambda rng, n: (n,), (30, 20_000), 5_000_000, True),
    Program(totients, lambda rng, n: (n,), (15, 5_000), 100_000, True),
    Program(gcd_table, lambda rng, n: (n,), (6, 60), 200, True),
    Program(insertion_sort, lambda rng, n: (rng.random(n),), (7, 200), 800, True),
    Program(bubble_sort, lambda rng, n: (rng.random(n),), (7, 150), 600, True),
    Program(
        counting_sort,
        lambda rng, n: (rng.integers(0, n // 2, n), n // 2),
        (9, 5_000),
        100_000,
        True,
    ),
    Program(
        binary_search,
        lambda rng, n: (np.sort(rng.random(n)), rng.random(2 * n)),
        (9, 3_000),
        100_000,
        True,
    ),
    Program(prefix_sums, lambda rng, n: (rng.integers(0, 100, n),), (9, 10_000), 500_000, True),
    Program(bit_reversal, lambda rng, n: (n,), (4, 12), 20, True),
)
