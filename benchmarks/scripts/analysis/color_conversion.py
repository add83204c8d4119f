"""RGB to HSV and back, a sepia tone and a green screen, in single precision."""

import sys

import numpy as np

n = int(sys.argv[1]) if len(sys.argv) > 1 else 40

rng = np.random.default_rng(0)
image = rng.integers(0, 256, size=(n, n, 3), dtype=np.uint8)
rgb = image.astype(np.float32) / 255
r, g, b = rgb[..., 0], rgb[..., 1], rgb[..., 2]

high = np.maximum(np.maximum(r, g), b)
low = np.minimum(np.minimum(r, g), b)
delta = high - low
safe = np.where(delta == 0, np.float32(1), delta)

hue = np.zeros_like(high)
hue = np.where(high == r, ((g - b) / safe) % 6, hue)
hue = np.where((high == g) & (high != r), (b - r) / safe + 2, hue)
hue = np.where((high == b) & (high != r) & (high != g), (r - g) / safe + 4, hue)
hue[delta == 0] = 0
saturation = np.where(high > 0, delta / np.where(high > 0, high, 1), 0)

saturation = np.minimum(saturation * np.float32(1.3), 1)
k = np.stack([(5 + hue) % 6, (3 + hue) % 6, (1 + hue) % 6], axis=-1)
back = high[..., None] * (1 - saturation[..., None] * np.clip(np.minimum(k, 4 - k), 0, 1))
vivid = (back * 255 + 0.5).astype(np.uint8)

sepia = rgb @ np.array([[0.393, 0.349, 0.272], [0.769, 0.686, 0.534], [0.189, 0.168, 0.131]], "f")
green = (g > 0.5) & (g > 1.3 * r) & (g > 1.3 * b)
rgb[green] = 0

gamma = np.where(rgb <= 0.0031308, 12.92 * rgb, 1.055 * np.power(rgb, 1 / 2.4) - 0.055)

print(hue.dtype, saturation.dtype, vivid.dtype)
print(f"hue {hue.mean(dtype=float):.7g}, saturation {saturation.mean(dtype=float):.7g}")
print("by hue:", np.bincount(hue.astype(int).ravel(), minlength=6))
print("vivid:", vivid[0, :4].tolist(), "sum", int(vivid.sum(dtype=np.int64)))
print(f"sepia above one: {np.mean(sepia > 1):.5g}, replaced {np.count_nonzero(green)}")
print(f"gamma {gamma.mean(dtype=float):.5g}")
