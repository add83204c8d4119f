"""k-means clustering of points in the plane."""

import sys

import numpy as np

n = int(sys.argv[1]) if len(sys.argv) > 1 else 500
k = 5

rng = np.random.default_rng(0)
true_centres = rng.uniform(-10, 10, size=(k, 2))
points = true_centres[rng.integers(0, k, n)] + rng.standard_normal((n, 2))

centroids = points[:k].copy()
for iteration in range(8):
    distances = ((points[:, np.newaxis, :] - centroids[np.newaxis, :, :]) ** 2).sum(axis=2)
    labels = np.argmin(distances, axis=1)
    new_centroids = np.array([points[labels == j].mean(axis=0) for j in range(k)])
    shift = np.abs(new_centroids - centroids).max()
    centroids = new_centroids
    if shift < 1e-6:
        break

inertia = np.sum((points - centroids[labels]) ** 2)
order = np.argsort(centroids[:, 0])
print("iterations:", iteration + 1)
print("sizes:", np.bincount(labels, minlength=k)[order])
print(f"inertia {inertia:.12g}")
for centre in centroids[order]:
    print(f"centre {centre[0]:.10g} {centre[1]:.10g}")
