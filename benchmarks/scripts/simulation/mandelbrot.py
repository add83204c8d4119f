"""The Mandelbrot set by masks of complex numbers."""

import sys

import numpy as np

width = int(sys.argv[1]) if len(sys.argv) > 1 else 80
height = width * 2 // 3
max_iterations = 25

re = np.linspace(-2.0, 1.0, width)
im = np.linspace(-1.0, 1.0, height)
c = re[np.newaxis, :] + 1j * im[:, np.newaxis]
z = np.zeros_like(c)
counts = np.zeros(c.shape, dtype=int)
active = np.ones(c.shape, dtype=bool)

for i in range(max_iterations):
    z = np.where(active, z * z + c, z)
    escaped = (z.real**2 + z.imag**2 > 4.0) & active
    counts[escaped] = i
    active &= ~escaped

counts[active] = max_iterations
print("inside:", int(active.sum()), f"area {active.mean() * 6:.8g}")
print("histogram:", np.bincount(counts.ravel(), minlength=max_iterations + 1))
print("row through the middle:", counts[height // 2, :: max(width // 10, 1)])
print("escape of the mean:", f"{counts[~active].mean():.12g}")
