"""Loops over pixels with Python's data between them: labels, medians, escape times."""

import numpy as np

from benchmarks.programs.program import Program


def root_of(link, k):
    while link[k] != k:
        link[k] = link[link[k]]
        k = link[k]
    return k


def join(link, a, b):
    a, b = root_of(link, a), root_of(link, b)
    if a == b:
        return 0
    link[max(a, b)] = min(a, b)
    return 1


def connected_regions(image):
    rows, columns = image.shape
    link = np.arange(image.size)
    merges = 0
    for i in range(rows):
        for j in range(columns):
            if not image[i, j]:
                continue
            k = i * columns + j
            if j > 0 and image[i, j - 1]:
                merges += join(link, k - 1, k)
            if i > 0 and image[i - 1, j]:
                merges += join(link, k - columns, k)
    names = {}
    regions = np.zeros(image.shape, dtype=np.int64)
    for i in range(rows):
        for j in range(columns):
            if image[i, j]:
                root = int(root_of(link, i * columns + j))
                if root not in names:
                    names[root] = len(names) + 1
                regions[i, j] = names[root]
    return regions, merges


def regions_of_similar_pixels(image, tolerance):
    rows, columns = image.shape
    link = np.arange(image.size)
    for i in range(rows):
        for j in range(columns):
            k = i * columns + j
            if j + 1 < columns and abs(image[i, j] - image[i, j + 1]) < tolerance:
                join(link, k, k + 1)
            if i + 1 < rows and abs(image[i, j] - image[i + 1, j]) < tolerance:
                join(link, k, k + columns)
    sizes = {}
    for k in range(image.size):
        root = root_of(link, k)
        sizes[root] = sizes.get(root, 0) + 1
    return sorted(sizes.values(), reverse=True)[:10]


def middle(values):
    values = sorted(values)
    half = len(values) // 2
    if len(values) % 2:
        return values[half]
    return (values[half - 1] + values[half]) / 2


def despeckled(image, reach):
    rows, columns = image.shape
    result = image.copy()
    for i in range(rows):
        for j in range(columns):
            window = []
            for a in range(max(i - reach, 0), min(i + reach + 1, rows)):
                for b in range(max(j - reach, 0), min(j + reach + 1, columns)):
                    window.append(image[a, b])
            result[i, j] = middle(window)
    return result


def clamped_medians(image, reach):
    rows, columns = image.shape
    result = np.empty_like(image)
    for i in range(rows):
        for j in range(columns):
            ys = [min(max(i + d, 0), rows - 1) for d in range(-reach, reach + 1)]
            xs = [min(max(j + d, 0), columns - 1) for d in range(-reach, reach + 1)]
            result[i, j] = np.median(image[np.ix_(ys, xs)])
    return result


def escape_times(points, most):
    """Rounds until z leaves the circle; only the points that are still inside go on."""
    times = np.full(points.size, most)
    inside = np.arange(points.size)
    c = points.ravel()
    z = np.zeros_like(c)
    for k in range(most):
        z = z * z + c
        has_left = np.abs(z) > 2
        times[inside[has_left]] = k
        stays = ~has_left
        z, c, inside = z[stays], c[stays], inside[stays]
        if inside.size == 0:
            break
    return times.reshape(points.shape)


def plane(n):
    return np.linspace(-2.2, 0.8, n) + 1j * np.linspace(-1.3, 1.3, n)[:, np.newaxis]


PROGRAMS = (
    Program(connected_regions, lambda rng, n: (rng.random((n, n)) < 0.55,), (6, 90), 180),
    Program(regions_of_similar_pixels, lambda rng, n: (rng.random((n, n)), 0.2), (6, 90), 180),
    Program(despeckled, lambda rng, n: (rng.random((n, n)), 1), (5, 30), 60),
    Program(clamped_medians, lambda rng, n: (rng.random((n, n)), 1), (4, 15), 60),
    Program(escape_times, lambda rng, n: (plane(n), 60), (10, 30), 400),
)
