"""Plot a sample and its fitted density to a file."""

import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

n = int(sys.argv[1]) if len(sys.argv) > 1 else 2000

rng = np.random.default_rng(0)
sample = np.concatenate([rng.normal(-1.5, 0.5, n // 2), rng.normal(1.0, 1.0, n - n // 2)])
weights = 1.0 / (1.0 + np.exp(-2 * sample))
left, right = sample[sample < -0.5], sample[sample >= -0.5]

x = np.linspace(-5, 5, 400)
density = sum(
    len(part)
    / n
    * np.exp(-((x - part.mean()) ** 2) / (2 * part.var()))
    / np.sqrt(2 * np.pi * part.var())
    for part in (left, right)
)

fig, (top, bottom) = plt.subplots(2, 1, figsize=(5, 5))
heights, edges, _ = top.hist(sample, bins=60, density=True, alpha=0.5)
top.plot(x, density, "k-")
top.set_title("two groups")
bottom.plot(sample[:: n // 500], weights[:: n // 500], ".", markersize=2)
bottom.set_xlabel("x")
fig.savefig("histogram.png", dpi=60)
plt.close(fig)

picture = plt.imread("histogram.png")
print("picture:", picture.shape, f"mean {picture.mean(dtype=np.float64):.6g}")
print(f"highest bar {heights.max():.10g} between {edges[heights.argmax()]:.10g} and the next")
print(f"means {left.mean():.12g} {right.mean():.12g}, weights {weights.mean():.12g}")
