"""Edit distances of short words by rows of a table, and the closest pairs."""

import sys

import numpy as np

pairs = int(sys.argv[1]) if len(sys.argv) > 1 else 8

rng = np.random.default_rng(0)
letters = "abcdefgh"
words = ["".join(rng.choice(list(letters), size=rng.integers(8, 16))) for _ in range(pairs + 1)]


def distance(a, b):
    codes = np.array([ord(ch) for ch in b])
    row = np.arange(len(b) + 1)
    ramp = np.arange(len(b) + 1)
    for i, ch in enumerate(a, start=1):
        new = np.empty_like(row)
        new[0] = i
        new[1:] = np.minimum(row[1:] + 1, row[:-1] + (codes != ord(ch)))
        row = np.minimum.accumulate(new - ramp) + ramp  # insertions
    return int(row[-1])


found = np.array([distance(a, b) for a, b in zip(words[:-1], words[1:])])
print("distances:", found[:12])
print("mean", found.mean(), "smallest", found.min(), "largest", found.max())
print("histogram:", np.bincount(found))
i = int(found.argmin())
print("closest:", words[i], words[i + 1])
