"""Blur and sharpen synthetic photographs: separable Gaussian, unsharp mask."""

import sys

import numpy as np

size = int(sys.argv[1]) if len(sys.argv) > 1 else 64

rng = np.random.default_rng(0)
row, col = np.mgrid[:size, :size]
scene = 128 + 60 * np.sin(row / 9.0) * np.cos(col / 7.0)

radius = 4
offsets = np.arange(-radius, radius + 1)
kernel = np.exp(-(offsets**2) / (2 * 1.5**2))
kernel /= kernel.sum()


def blur_rows(a):
    padded = np.pad(a, ((0, 0), (radius, radius)), mode="edge")
    out = np.zeros_like(a)
    for i, weight in enumerate(kernel):
        out += weight * padded[:, i : i + a.shape[1]]
    return out


def blur(a):
    return blur_rows(blur_rows(a).T).T


for noise in (2, 4, 8, 12, 20, 30):
    image = np.clip(scene + rng.normal(0, noise, (size, size)), 0, 255).astype(np.uint8)
    grey = image.astype(np.float64) / 255
    blurred = blur(grey)
    sharp = np.clip(grey + 1.5 * (grey - blurred), 0, 1)
    result = (sharp * 255 + 0.5).astype(np.uint8)

    print("noise", noise, image.dtype, f"mean {image.mean():.12g}")
    print(f"blurred: std {blurred.std():.12g} (was {grey.std():.12g})")
    print("sharpened: black", np.sum(result == 0), "white", np.sum(result == 255))
    print(f"psnr {10 * np.log10(1 / np.mean((grey - blurred) ** 2)):.12g}")
print(result[:3, :8])
