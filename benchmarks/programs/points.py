"""Particles, points and rays; fractals with masks and with compaction; random sampling."""

import numpy as np

from benchmarks.programs.program import Program


def nbody(pos, vel, mass, G, softening, dt, steps):
    for _ in range(steps):
        x = pos[:, 0:1]
        y = pos[:, 1:2]
        z = pos[:, 2:3]
        dx = x.T - x
        dy = y.T - y
        dz = z.T - z
        inv_r3 = dx**2 + dy**2 + dz**2 + softening**2
        inv_r3[inv_r3 > 0] = inv_r3[inv_r3 > 0] ** (-1.5)
        ax = G * (dx * inv_r3) @ mass
        ay = G * (dy * inv_r3) @ mass
        az = G * (dz * inv_r3) @ mass
        acc = np.hstack((ax, ay, az))
        vel += acc * dt
        pos += vel * dt
    kinetic = 0.5 * np.sum(mass * vel**2)
    return pos, vel, kinetic


def lennard_jones(pos, box, cutoff):
    n = pos.shape[0]
    forces = np.zeros_like(pos)
    energy = 0.0
    for i in range(n - 1):
        d = pos[i] - pos[i + 1 :]
        d -= box * np.round(d / box)
        r2 = (d**2).sum(axis=1)
        near = r2 < cutoff**2
        inv6 = 1.0 / r2[near] ** 3
        energy += np.sum(4 * inv6 * (inv6 - 1))
        f = (24 * inv6 * (2 * inv6 - 1) / r2[near])[:, None] * d[near]
        forces[i] += f.sum(axis=0)
        forces[i + 1 :][near] -= f
    return forces, energy


def mandelbrot(xmin, xmax, ymin, ymax, xn, yn, maxiter):
    X = np.linspace(xmin, xmax, xn)
    Y = np.linspace(ymin, ymax, yn)
    cr = X[None, :] + np.zeros((yn, 1))
    ci = Y[:, None] + np.zeros((1, xn))
    zr = np.zeros_like(cr)
    zi = np.zeros_like(ci)
    N = np.zeros(cr.shape, dtype=np.int64)
    for n in range(maxiter):
        inside = zr * zr + zi * zi < 4.0
        N[inside] = n
        new_r = zr * zr - zi * zi + cr
        new_i = 2 * zr * zi + ci
        zr[inside] = new_r[inside]
        zi[inside] = new_i[inside]
    N[N == maxiter - 1] = 0
    return N


def mandelbrot_complex(C, maxiter, horizon):
    N = np.zeros(C.shape, dtype=np.int64)
    Z = np.zeros(C.shape, np.complex128)
    for n in range(maxiter):
        inside = np.less(abs(Z), horizon)
        N[inside] = n
        Z[inside] = Z[inside] ** 2 + C[inside]
    return Z, N


def mandelbrot_compact(cr, ci, maxiter):
    n = cr.size
    count = np.zeros(n, dtype=np.int64)
    index = np.arange(n)
    x0, y0 = cr.copy(), ci.copy()
    x, y = cr.copy(), ci.copy()
    for k in range(maxiter):
        if not len(index):
            break
        x, y = x * x - y * y + x0, 2 * x * y + y0
        outside = x * x + y * y > 4.0
        count[index[outside]] = k + 1
        keep = ~outside
        index = index[keep]
        x, y = x[keep], y[keep]
        x0, y0 = x0[keep], y0[keep]
    return count


def julia(zr, zi, cr, ci, maxiter):
    rows, cols = zr.shape
    out = np.zeros((rows, cols), dtype=np.int32)
    for i in range(rows):
        for j in range(cols):
            a, b = zr[i, j], zi[i, j]
            k = 0
            while k < maxiter and a * a + b * b <= 4.0:
                a, b = a * a - b * b + cr, 2.0 * a * b + ci
                k += 1
            out[i, j] = k
    return out


def pairwise_distances(points):
    n = points.shape[0]
    out = np.empty((n, n))
    for i in range(n):
        out[i] = np.sqrt(((points - points[i]) ** 2).sum(axis=1))
    return out


def pairwise_loops(points):
    n, dims = points.shape
    D = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            d = 0.0
            for k in range(dims):
                t = points[i, k] - points[j, k]
                d += t * t
            D[i, j] = np.sqrt(d)
    return D


def nearest_neighbour_labels(train, labels, queries):
    result = np.empty(len(queries), dtype=labels.dtype)
    for i, q in enumerate(queries):
        d = ((train - q) ** 2).sum(axis=1)
        result[i] = labels[np.argmin(d)]
    return result


def kmeans(points, centers, iterations):
    centers = centers.copy()
    k = centers.shape[0]
    for _ in range(iterations):
        d2 = ((points[:, None, :] - centers[None, :, :]) ** 2).sum(axis=2)
        labels = d2.argmin(axis=1)
        moved = centers.copy()
        for c in range(k):
            members = labels == c
            if members.any():
                moved[c] = points[members].mean(axis=0)
        if np.allclose(moved, centers):
            break
        centers = moved
    return centers, labels


def binned_means(x, y, edges):
    n = len(edges) - 1
    means = np.full(n, np.nan)
    counts = np.zeros(n, dtype=int)
    for i in range(n):
        in_bin = (x >= edges[i]) & (x < edges[i + 1])
        counts[i] = in_bin.sum()
        if counts[i] > 0:
            means[i] = y[in_bin].mean()
    return means, counts


def histogram_2d(x, y, bins):
    h = np.zeros((bins, bins), dtype=np.int64)
    xi = np.minimum((x * bins).astype(np.int64), bins - 1)
    yi = np.minimum((y * bins).astype(np.int64), bins - 1)
    for k in range(len(x)):
        h[xi[k], yi[k]] += 1
    return h


def points_in_polygon(px, py, vx, vy):
    inside = np.zeros(px.shape, dtype=bool)
    n = len(vx)
    j = n - 1
    for i in range(n):
        crosses = (vy[i] > py) != (vy[j] > py)
        edge = (vx[j] - vx[i]) * (py - vy[i]) / (vy[j] - vy[i]) + vx[i]
        inside ^= crosses & (px < edge)
        j = i
    return inside


def shade_spheres(origin, directions, centers, radii, colors, light):
    h, w, _ = directions.shape
    nearest = np.full((h, w), np.inf)
    image = np.zeros((h, w, 3))
    for s in range(len(radii)):
        oc = origin - centers[s]
        b = np.sum(directions * oc, axis=-1)
        c = np.sum(oc * oc) - radii[s] ** 2
        disc = b * b - c
        hit = disc > 0
        t = -b - np.sqrt(np.where(hit, disc, 0.0))
        closer = hit & (t > 1e-3) & (t < nearest)
        nearest[closer] = t[closer]
        point = origin + t[..., None] * directions
        normal = (point - centers[s]) / radii[s]
        to_light = light - point
        to_light /= np.sqrt(np.sum(to_light**2, axis=-1, keepdims=True))
        shade = np.clip(np.sum(normal * to_light, axis=-1), 0.0, 1.0)
        lit = colors[s] * (0.1 + 0.9 * shade[..., None])
        image[closer] = lit[closer]
    return image, nearest


def random_walk(rng, walkers, steps):
    position = np.zeros((walkers, 2))
    furthest = np.zeros(walkers)
    for _ in range(steps):
        angle = rng.uniform(0, 2 * np.pi, walkers)
        position[:, 0] += np.cos(angle)
        position[:, 1] += np.sin(angle)
        distance = np.sqrt((position**2).sum(axis=1))
        furthest = np.maximum(furthest, distance)
    return position, furthest


def estimate_pi(rng, batches, size):
    hits = 0
    for _ in range(batches):
        x = rng.random(size)
        y = rng.random(size)
        hits += np.count_nonzero(x * x + y * y <= 1.0)
    return 4.0 * hits / (batches * size)


def metropolis(start, proposals, uniforms, width):
    chain = np.empty(len(proposals))
    x = start
    accepted = 0
    for i in range(len(proposals)):
        candidate = x + width * proposals[i]
        if uniforms[i] < np.exp(0.5 * (x * x - candidate * candidate)):
            x = candidate
            accepted += 1
        chain[i] = x
    return chain, accepted


def make_spheres(rng, n):
    x, y = np.meshgrid(np.linspace(-1, 1, n + 2), np.linspace(-1, 1, n))
    d = np.stack([x, y, np.ones_like(x)], axis=-1)
    d /= np.sqrt((d * d).sum(axis=-1, keepdims=True))
    centers = rng.uniform(-1, 1, (6, 3)) + np.array([0.0, 0.0, 4.0])
    return (
        np.zeros(3),
        d,
        centers,
        rng.uniform(0.3, 0.8, 6),
        rng.random((6, 3)),
        np.array([5.0, 5.0, -5.0]),
    )


def make_polygon(rng, n):
    angle = np.linspace(0, 2 * np.pi, 12, endpoint=False)
    r = 0.5 + 0.5 * rng.random(12)
    x, y = rng.uniform(-1, 1, (2, n))
    return x, y, r * np.cos(angle), r * np.sin(angle)


def plane(n):
    x, y = np.meshgrid(np.linspace(-2, 0.5, n + 2), np.linspace(-1.2, 1.2, n))
    return x, y


PROGRAMS = (
    Program(
        nbody,
        lambda rng, n: (
            rng.standard_normal((n, 3)),
            rng.standard_normal((n, 3)),
            np.full((n, 1), 20.0 / n),
            1.0,
            0.1,
            0.01,
            2 + n // 20,
        ),
        (5, 60),
        300,
    ),
    Program(
        lennard_jones,
        lambda rng, n: (rng.random((n, 3)) * n ** (1 / 3), n ** (1 / 3), 2.5),
        (6, 100),
        500,
    ),
    Program(
        mandelbrot,
        lambda rng, n: (-2.0, 0.5, -1.2, 1.2, n + 2, n, 4 + n // 10),
        (6, 60),
        300,
        True,
    ),
    Program(
        mandelbrot_complex,
        lambda rng, n: (plane(n)[0] + 1j * plane(n)[1], 4 + n // 10, 2.0**40),
        (6, 60),
        300,
    ),
    Program(
        mandelbrot_compact,
        lambda rng, n: (*(p.ravel() for p in plane(n)), 5 + n // 10),
        (5, 80),
        400,
        True,
    ),
    Program(
        julia,
        lambda rng, n: (*rng.uniform(-1.5, 1.5, (2, n, n + 2)), -0.7, 0.27, 30),
        (4, 25),
        70,
        True,
    ),
    Program(pairwise_distances, lambda rng, n: (rng.random((n, 3)),), (5, 100), 800),
    Program(pairwise_loops, lambda rng, n: (rng.random((n, 3)),), (5, 60), 200, True),
    Program(
        nearest_neighbour_labels,
        lambda rng, n: (rng.random((2 * n, 5)), rng.integers(0, 4, 2 * n), rng.random((n, 5))),
        (5, 150),
        600,
    ),
    Program(kmeans, lambda rng, n: (rng.random((n, 3)), rng.random((5, 3)), 8), (12, 400), 10_000),
    Program(
        binned_means,
        lambda rng, n: (rng.random(n), rng.standard_normal(n), np.linspace(0.0, 1.0, 21)),
        (9, 5_000),
        400_000,
    ),
    Program(
        histogram_2d,
        lambda rng, n: (rng.random(n), rng.random(n), 5 + n // 1_000),
        (9, 5_000),
        200_000,
        True,
    ),
    Program(points_in_polygon, make_polygon, (9, 5_000), 300_000, True),
    Program(shade_spheres, make_spheres, (6, 50), 150),
    Program(
        random_walk, lambda rng, n: (np.random.default_rng(n), n, 3 + n // 10), (6, 300), 2_000
    ),
    Program(
        estimate_pi,
        lambda rng, n: (np.random.default_rng(n), 3 + n // 500, n),
        (9, 5_000),
        50_000,
        True,
    ),
    Program(
        metropolis,
        lambda rng, n: (0.1, rng.standard_normal(n), rng.random(n), 1.5),
        (9, 5_000),
        100_000,
    ),
)
