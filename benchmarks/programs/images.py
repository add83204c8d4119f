"""Image filters: neighbourhoods, histograms, error diffusion."""

import numpy as np

from benchmarks.programs.program import Program


def sobel(image):
    h, w = image.shape
    kx = np.array([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]], dtype=image.dtype)
    ky = kx.T
    gx = np.zeros((h - 2, w - 2), dtype=image.dtype)
    gy = np.zeros((h - 2, w - 2), dtype=image.dtype)
    for i in range(3):
        for j in range(3):
            window = image[i : i + h - 2, j : j + w - 2]
            gx += kx[i, j] * window
            gy += ky[i, j] * window
    return np.sqrt(gx**2 + gy**2)


def convolve_2d(image, kernel):
    kh, kw = kernel.shape
    oh, ow = image.shape[0] - kh + 1, image.shape[1] - kw + 1
    out = np.zeros((oh, ow))
    for y in range(oh):
        for x in range(ow):
            out[y, x] = np.sum(image[y : y + kh, x : x + kw] * kernel)
    return out


def bilateral(image, radius, sigma_s, sigma_r):
    h, w = image.shape
    out = np.zeros_like(image)
    weights = np.zeros_like(image)
    padded = np.pad(image, radius, mode="edge")
    for dy in range(-radius, radius + 1):
        for dx in range(-radius, radius + 1):
            shifted = padded[radius + dy : radius + dy + h, radius + dx : radius + dx + w]
            spatial = np.exp(-(dx * dx + dy * dy) / (2 * sigma_s**2))
            tonal = np.exp(-((shifted - image) ** 2) / (2 * sigma_r**2))
            out += spatial * tonal * shifted
            weights += spatial * tonal
    return out / weights


def median_3x3(image):
    h, w = image.shape
    stack = np.empty((9, h - 2, w - 2), dtype=image.dtype)
    k = 0
    for dy in range(3):
        for dx in range(3):
            stack[k] = image[dy : dy + h - 2, dx : dx + w - 2]
            k += 1
    out = image.copy()
    out[1:-1, 1:-1] = np.sort(stack, axis=0)[4]
    return out


def box_blur(image, r):
    n = 2 * r + 1
    padded = np.pad(image, r + 1, mode="edge").astype(np.float64)
    c = padded.cumsum(axis=0)
    rows = c[n + 1 :] - c[1:-n]
    c = rows.cumsum(axis=1)
    total = c[:, n + 1 :] - c[:, 1:-n]
    return total[: image.shape[0], : image.shape[1]] / (n * n)


def sharpen(image, amount):
    out = image.astype(np.float32)
    blurred = out.copy()
    blurred[1:-1, 1:-1] = (
        out[:-2, :-2]
        + out[:-2, 1:-1]
        + out[:-2, 2:]
        + out[1:-1, :-2]
        + out[1:-1, 1:-1]
        + out[1:-1, 2:]
        + out[2:, :-2]
        + out[2:, 1:-1]
        + out[2:, 2:]
    ) / 9
    out += amount * (out - blurred)
    return np.clip(out, 0, 255).astype(np.uint8)


def floyd_steinberg(image):
    h, w = image.shape
    img = image.astype(np.float64)
    for y in range(h):
        for x in range(w):
            old = img[y, x]
            new = 255.0 if old >= 128 else 0.0
            img[y, x] = new
            err = old - new
            if x + 1 < w:
                img[y, x + 1] += err * 7 / 16
            if y + 1 < h:
                if x > 0:
                    img[y + 1, x - 1] += err * 3 / 16
                img[y + 1, x] += err * 5 / 16
                if x + 1 < w:
                    img[y + 1, x + 1] += err * 1 / 16
    return img.astype(np.uint8)


def equalize(image):
    hist = np.bincount(image.ravel(), minlength=256)
    cdf = hist.cumsum()
    lowest = cdf[cdf > 0][0]
    lut = np.round((cdf - lowest) * 255 / (image.size - lowest))
    return np.clip(lut, 0, 255).astype(np.uint8)[image]


def otsu_threshold(image):
    hist = np.zeros(256)
    for value in image.ravel():
        hist[value] += 1
    total = image.size
    weighted = np.dot(np.arange(256), hist)
    best, threshold = 0.0, 0
    below = 0.0
    below_sum = 0.0
    for t in range(256):
        below += hist[t]
        if below == 0:
            continue
        above = total - below
        if above == 0:
            break
        below_sum += t * hist[t]
        mean_below = below_sum / below
        mean_above = (weighted - below_sum) / above
        between = below * above * (mean_below - mean_above) ** 2
        if between > best:
            best = between
            threshold = t
    return threshold


def dilate(mask, iterations):
    for _ in range(iterations):
        grown = mask.copy()
        grown[1:] |= mask[:-1]
        grown[:-1] |= mask[1:]
        grown[:, 1:] |= mask[:, :-1]
        grown[:, :-1] |= mask[:, 1:]
        mask = grown
    return mask


def flood_fill(passable, y, x):
    filled = np.zeros_like(passable)
    filled[y, x] = True
    while True:
        grown = filled.copy()
        grown[1:] |= filled[:-1]
        grown[:-1] |= filled[1:]
        grown[:, 1:] |= filled[:, :-1]
        grown[:, :-1] |= filled[:, 1:]
        grown &= passable
        if (grown == filled).all():
            return filled
        filled = grown


def resize_bilinear(image, out_h, out_w):
    h, w = image.shape
    ys = np.linspace(0, h - 1, out_h)
    xs = np.linspace(0, w - 1, out_w)
    y0 = np.floor(ys).astype(int)
    x0 = np.floor(xs).astype(int)
    y1 = np.minimum(y0 + 1, h - 1)
    x1 = np.minimum(x0 + 1, w - 1)
    wy = (ys - y0)[:, None]
    wx = (xs - x0)[None, :]
    top = image[y0][:, x0] * (1 - wx) + image[y0][:, x1] * wx
    bottom = image[y1][:, x0] * (1 - wx) + image[y1][:, x1] * wx
    return top * (1 - wy) + bottom * wy


def anisotropic_diffusion(image, kappa, gamma, steps):
    out = image.astype(np.float32)
    for _ in range(steps):
        south = np.zeros_like(out)
        east = np.zeros_like(out)
        south[:-1] = out[1:] - out[:-1]
        east[:, :-1] = out[:, 1:] - out[:, :-1]
        gs = np.exp(-((south / kappa) ** 2)) * south
        ge = np.exp(-((east / kappa) ** 2)) * east
        change = gs + ge
        change[1:] -= gs[:-1]
        change[:, 1:] -= ge[:, :-1]
        out += gamma * change
    return out


def integral_image(image):
    h, w = image.shape
    total = np.zeros((h + 1, w + 1), dtype=np.int64)
    for y in range(h):
        row = 0
        for x in range(w):
            row += image[y, x]
            total[y + 1, x + 1] = total[y, x + 1] + row
    return total


def gamma_and_vignette(image, gamma):
    h, w, _ = image.shape
    y = np.linspace(-1, 1, h)[:, np.newaxis]
    x = np.linspace(-1, 1, w)[np.newaxis, :]
    mask = 1 - 0.5 * (x * x + y * y)
    out = np.empty_like(image)
    for c in range(3):
        out[:, :, c] = np.power(image[:, :, c], 1 / gamma) * mask
    return out


def grey(rng, n):
    return rng.integers(0, 256, (n, n + 3), np.uint8)


PROGRAMS = (
    Program(sobel, lambda rng, n: (rng.random((n, n + 3), np.float32),), (6, 150), 1_000, True),
    Program(convolve_2d, lambda rng, n: (rng.random((n, n + 3)), rng.random((3, 5))), (4, 45), 150),
    Program(bilateral, lambda rng, n: (rng.random((n, n + 3)), 2, 2.0, 0.1), (6, 60), 400),
    Program(median_3x3, lambda rng, n: (grey(rng, n),), (6, 80), 400, True),
    Program(box_blur, lambda rng, n: (grey(rng, n), 2), (7, 120), 1_000, True),
    Program(sharpen, lambda rng, n: (grey(rng, n), 0.7), (6, 150), 1_200, True),
    Program(floyd_steinberg, lambda rng, n: (grey(rng, n),), (5, 50), 150, True),
    Program(equalize, lambda rng, n: (grey(rng, n),), (8, 150), 1_500, True),
    Program(otsu_threshold, lambda rng, n: (grey(rng, n),), (6, 120), 400, True),
    Program(
        dilate, lambda rng, n: (rng.random((n, n + 3)) < 0.02, 2 + n // 50), (8, 150), 1_000, True
    ),
    Program(
        flood_fill,
        lambda rng, n: (rng.random((n, n + 3)) < 0.8, n // 2, n // 2),
        (7, 60),
        300,
        True,
    ),
    Program(
        resize_bilinear,
        lambda rng, n: (rng.random((n, n + 3)), 3 * n // 2, 2 * n),
        (6, 100),
        800,
        True,
    ),
    Program(
        anisotropic_diffusion, lambda rng, n: (grey(rng, n), 30.0, 0.15, 2 + n // 30), (6, 60), 500
    ),
    Program(integral_image, lambda rng, n: (grey(rng, n).astype(np.int64),), (5, 90), 400, True),
    Program(gamma_and_vignette, lambda rng, n: (rng.random((n, n + 3, 3)), 2.2), (6, 60), 400),
)
