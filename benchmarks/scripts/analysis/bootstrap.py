"""Bootstrap intervals and a permutation test with samples of two hundred."""

import sys

import numpy as np

repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 100

rng = np.random.default_rng(0)
treated = rng.exponential(2.2, 200)
control = rng.exponential(2.0, 180)
observed = treated.mean() - control.mean()

means, medians, trimmed = [], [], []
for _ in range(repeats):
    sample = rng.choice(treated, size=treated.size)
    means.append(sample.mean())
    medians.append(np.median(sample))
    ordered = np.sort(sample)
    trimmed.append(ordered[20:-20].mean())

both = np.concatenate([treated, control])
exceed = 0
for _ in range(repeats):
    shuffled = rng.permutation(both)
    difference = shuffled[:200].mean() - shuffled[200:].mean()
    exceed += abs(difference) >= abs(observed)

print(f"observed difference {observed:.12g}")
for name, values in (("mean", means), ("median", medians), ("trimmed", trimmed)):
    low, high = np.percentile(values, [2.5, 97.5])
    print(f"{name}: {np.mean(values):.12g} in [{low:.12g}, {high:.12g}]")
print("p value:", exceed / repeats)
