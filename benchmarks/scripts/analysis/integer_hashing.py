"""Hashes of integers, a Bloom filter and counts of bits."""

import sys

import numpy as np

n = int(sys.argv[1]) if len(sys.argv) > 1 else 2000


def splitmix(x):
    z = x + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def popcount(x):
    x = x - ((x >> 1) & 0x5555555555555555)
    x = (x & 0x3333333333333333) + ((x >> 2) & 0x3333333333333333)
    x = (x + (x >> 4)) & 0x0F0F0F0F0F0F0F0F
    return (x * 0x0101010101010101) >> 56


keys = np.arange(n, dtype=np.uint64)
h = splitmix(keys)
for _ in range(120):
    h = splitmix(h)
bits = popcount(h)

size = 1 << (n - 1).bit_length()
table = np.zeros(size, dtype=bool)
for shift in (0, 20, 40):
    table[(h >> np.uint64(shift)) & np.uint64(size - 1)] = True
other = splitmix(keys + np.uint64(10 * n))
found = np.ones(n, dtype=bool)
for shift in (0, 20, 40):
    found &= table[(other >> np.uint64(shift)) & np.uint64(size - 1)]

print("xor", hex(int(np.bitwise_xor.reduce(h))), "max", h.max())
print(f"mean number of bits {bits.mean():.12g}", np.bincount(bits.astype(int), minlength=65)[28:36])
print(f"filled {table.mean():.10g}, false positives {found.mean():.10g}")
buckets = (h % np.uint64(97)).astype(np.int32)
print("buckets:", np.bincount(buckets, minlength=97)[:8], "odd:", int((h & np.uint64(1)).sum()))
