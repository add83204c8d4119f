"""Edge detection and tone mapping of a photograph, with NumPy and fused.

    python examples/photo.py [--scale 2] [--picture FILE] [--out out]

`find_edges` and `tone_map` are ordinary NumPy functions; `@fuse_jit` is the only thing added. The
script runs each as NumPy and fused, compares the results, prints the median times and what was
fused, and writes ``photo_edges.png``, ``photo_tone.png`` and ``photo.png`` (side by side).

The picture is the one that matplotlib ships: Grace Hopper, 512 x 600 (public domain, US Navy). That
is smaller than today's photographs, so it is enlarged with bicubic interpolation by ``--scale``.
"""

# mypy: disable-error-code="no-any-return"
# NumPy declares its ufuncs as returning Any.

import argparse
import math
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import matplotlib.cbook
import numpy as np
from PIL import Image

from fusejit import fuse_jit

Array = np.ndarray[Any, np.dtype[Any]]

TOLERANCE = 1e-4
"""Largest difference allowed, where black is 0 and white is 1: a fortieth of a grey level."""

RUNS = 15


def luminance(rgb: Array) -> Array:
    """Brightness of linear light, shape (h, w, 3) -> (h, w)."""
    return 0.2126 * rgb[:, :, 0] + 0.7152 * rgb[:, :, 1] + 0.0722 * rgb[:, :, 2]


def to_linear(encoded: Array) -> Array:
    """Undo the sRGB curve (IEC 61966-2-1)."""
    return np.where(encoded <= 0.04045, encoded / 12.92, ((encoded + 0.055) / 1.055) ** 2.4)


def to_srgb(linear: Array) -> Array:
    """Apply the sRGB curve."""
    bright = 1.055 * np.maximum(linear, 0.0031308) ** (1 / 2.4) - 0.055
    return np.where(linear <= 0.0031308, 12.92 * linear, bright)


def blur(grey: Array) -> Array:
    """Smooth with the 5-point binomial kernel, first along rows, then along columns."""
    rows = (grey[:, :-4] + grey[:, 4:] + 4 * (grey[:, 1:-3] + grey[:, 3:-1])) / 16
    rows = rows + 0.375 * grey[:, 2:-2]
    columns = (rows[:-4] + rows[4:] + 4 * (rows[1:-3] + rows[3:-1])) / 16
    return columns + 0.375 * rows[2:-2]


@fuse_jit
def find_edges(picture: Array) -> Array:
    """Edges, white on black: the Sobel slope of the twice blurred brightness, noise pushed down."""
    grey = blur(blur(luminance(picture.astype(np.float32) / 255)))
    right, left = grey[:, 2:], grey[:, :-2]
    below, above = grey[2:], grey[:-2]
    dx = (right[:-2] + 2 * right[1:-1] + right[2:]) - (left[:-2] + 2 * left[1:-1] + left[2:])
    dy = (below[:, :-2] + 2 * below[:, 1:-1] + below[:, 2:]) - (
        above[:, :-2] + 2 * above[:, 1:-1] + above[:, 2:]
    )
    slope = np.maximum(np.sqrt(dx * dx + dy * dy) - 0.10, 0)
    return slope / (slope + 0.15)


@fuse_jit
def tone_map(picture: Array) -> Array:
    """Lift the shadows and keep the lights: a power curve on the brightness.

    The exponent makes the geometric mean of the brightness middle grey, whatever the picture. Each
    pixel is scaled as a whole, which keeps its hue; colours are weakened a little, because lifted
    shadows look gaudy otherwise (the exponent of Tumblin and Turk 1999).
    """
    light = to_linear(picture.astype(np.float32) / 255)
    bright = np.maximum(luminance(light), 1e-3)
    exponent = math.log(0.17) / np.mean(np.log(bright))
    mapped = np.exp(exponent * np.log(bright))
    colour = np.maximum(light, 1e-4) / bright[:, :, None]
    return to_srgb(np.minimum(mapped[:, :, None] * colour**0.8, 1))


def load_photo(path: Path | None, scale: float) -> Array:
    """A picture as bytes, shape (h, w, 3), enlarged by `scale`."""
    shipped = matplotlib.cbook.get_sample_data("grace_hopper.jpg", asfileobj=False)
    with Image.open(path or shipped) as image:
        size = (round(image.width * scale), round(image.height * scale))
        return np.asarray(image.convert("RGB").resize(size, Image.Resampling.BICUBIC))


def median_ms(function: Callable[[Array], Array], picture: Array) -> float:
    """Median time of a call in milliseconds, after one call that is not counted."""
    function(picture)
    times = []
    for _ in range(RUNS):
        start = time.perf_counter()
        function(picture)
        times.append(time.perf_counter() - start)
    return 1e3 * median(times)


def as_bytes(picture: Array) -> Array:
    """Numbers in [0, 1], grey or colour, as the bytes of a colour picture."""
    rounded = np.rint(255 * picture).astype(np.uint8)
    return rounded if rounded.ndim == 3 else np.repeat(rounded[:, :, None], 3, axis=2)


def side_by_side(*pictures: Array) -> Array:
    """Pictures in a row with a white gap, cut to the size of the smallest."""
    height = min(p.shape[0] for p in pictures)
    gap = np.full((height, 12, 3), 255, np.uint8)
    cut = []
    for picture in pictures:
        top = (picture.shape[0] - height) // 2
        cut += [gap, picture[top : top + height]]
    return np.concatenate(cut[1:], axis=1)


def compare(fused: Any, picture: Array) -> tuple[Array, bool]:
    """Run `fused` and its NumPy function, print times and difference; result and whether equal."""
    plain = fused.__wrapped__
    expected, found = plain(picture), fused(picture)
    difference = float(np.max(np.abs(found - expected)))
    equal = (
        found.dtype == expected.dtype
        and found.shape == expected.shape
        and np.allclose(found, expected, rtol=0, atol=TOLERANCE)
    )
    numpy_ms, fused_ms = median_ms(plain, picture), median_ms(fused, picture)
    print(
        f"{plain.__name__:<12} NumPy {numpy_ms:7.2f} ms   fused {fused_ms:7.2f} ms   "
        f"{numpy_ms / fused_ms:5.1f} times as fast   largest difference {difference:.1e} "
        f"({'equal' if equal else 'NOT EQUAL'} within {TOLERANCE:g})"
    )
    return found, equal


def main() -> int:
    """Run both functions; exit status 1 if a fused result differs."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--scale", type=float, default=2.0, help="enlarge the picture (default 2)")
    parser.add_argument("--picture", type=Path, help="another picture")
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder for the results")
    options = parser.parse_args()
    photo = load_photo(options.picture, options.scale)
    print(f"{photo.shape[1]} x {photo.shape[0]} pixels (enlarged {options.scale:g} times)\n")

    edges, edges_equal = compare(find_edges, photo)
    toned, toned_equal = compare(tone_map, photo)
    for fused in (find_edges, tone_map):
        print(f"\n{fused.__name__}: what was fused\n{fused.explain(photo)}")

    options.out.mkdir(parents=True, exist_ok=True)
    pictures = {
        "photo_edges": as_bytes(edges),
        "photo_tone": as_bytes(toned),
        "photo": side_by_side(photo, as_bytes(toned), as_bytes(edges)),
    }
    print()
    for name, picture in pictures.items():
        path = options.out / f"{name}.png"
        Image.fromarray(picture).save(path)
        print(f"written: {path}")
    return 0 if edges_equal and toned_equal else 1


if __name__ == "__main__":
    sys.exit(main())
