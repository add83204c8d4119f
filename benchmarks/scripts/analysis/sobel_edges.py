"""Edges of images: Sobel, gradient directions, thinning, hysteresis."""

import sys

import numpy as np

n = int(sys.argv[1]) if len(sys.argv) > 1 else 60

rng = np.random.default_rng(0)
y, x = np.ogrid[-1 : 1 : n * 1j, -1 : 1 : n * 1j]


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


def spread(edges, candidates):
    near = edges.copy()
    near[1:] |= edges[:-1]
    near[:-1] |= edges[1:]
    near[:, 1:] |= edges[:, :-1]
    near[:, :-1] |= edges[:, 1:]
    return edges | (near & candidates)


for radius in (0.1, 0.3, 0.5, 0.7):
    image = (x**2 + y**2 < radius) * 0.7 + (np.abs(x - y) < 0.1) * 0.3
    image = image + 0.01 * rng.standard_normal((n, n))
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
    strong = thin >= 0.5 * thin.max()
    weak = (thin >= 0.2 * thin.max()) & ~strong
    grown = strong
    for _ in range(3):
        grown = spread(grown, weak)

    print(f"gradient: mean {magnitude.mean():.12g}, max {magnitude.max():.12g}")
    print("strong", strong.sum(), "weak", weak.sum(), "edges", grown.sum())
    print(f"horizontal share {horizontal.mean():.12g}")
