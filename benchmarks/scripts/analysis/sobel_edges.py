"""Edges of an image: Sobel, gradient directions, thinning, hysteresis."""

import sys

import numpy as np

n = int(sys.argv[1]) if len(sys.argv) > 1 else 60

y, x = np.ogrid[-1 : 1 : n * 1j, -1 : 1 : n * 1j]
image = ((x**2 + y**2) < 0.5) * 0.7 + (np.abs(x - y) < 0.1) * 0.3
image = image + 0.01 * np.random.default_rng(0).standard_normal((n, n))


def sobel(a):
    gx = np.zeros_like(a)
    gy = np.zeros_like(a)
    gx[1:-1, 1:-1] = (
        (a[:-2, 2:] + 2 * a[1:-1, 2:] + a[2:, 2:]) - (a[:-2, :-2] + 2 * a[1:-1, :-2] + a[2:, :-2])
    )  # fmt: skip
    gy[1:-1, 1:-1] = (
        (a[2:, :-2] + 2 * a[2:, 1:-1] + a[2:, 2:]) - (a[:-2, :-2] + 2 * a[:-2, 1:-1] + a[:-2, 2:])
    )  # fmt: skip
    return gx, gy


gx, gy = sobel(image)
magnitude = np.hypot(gx, gy)
angle = np.rad2deg(np.arctan2(gy, gx)) % 180

horizontal = (angle < 22.5) | (angle >= 157.5)
inner = magnitude[1:-1, 1:-1]
keep = np.where(
    horizontal[1:-1, 1:-1],
    (inner >= magnitude[1:-1, :-2]) & (inner >= magnitude[1:-1, 2:]),
    (inner >= magnitude[:-2, 1:-1]) & (inner >= magnitude[2:, 1:-1]),
)
thin = np.where(keep, inner, 0.0)
high, low = 0.5 * thin.max(), 0.2 * thin.max()
strong = thin >= high
weak = (thin >= low) & ~strong
grown = strong.copy()
for _ in range(3):
    near = grown.copy()
    near[1:] |= grown[:-1]
    near[:-1] |= grown[1:]
    near[:, 1:] |= grown[:, :-1]
    near[:, :-1] |= grown[:, 1:]
    grown |= near & weak

print(f"gradient: mean {magnitude.mean():.12g}, max {magnitude.max():.12g}")
print("strong", strong.sum(), "weak", weak.sum(), "edges", grown.sum())
print(f"horizontal share {horizontal.mean():.12g}")
