"""Principal components by the covariance matrix and by the SVD."""

import sys

import numpy as np

samples = int(sys.argv[1]) if len(sys.argv) > 1 else 200
features = 50

rng = np.random.default_rng(0)
scales = np.linspace(5, 0.5, features)
mixing = np.linalg.qr(rng.standard_normal((features, features)))[0]
X = (rng.standard_normal((samples, features)) * scales) @ mixing + 3.0

mean = X.mean(axis=0)
std = X.std(axis=0)
Z = (X - mean) / std
covariance = Z.T @ Z / (samples - 1)
values, vectors = np.linalg.eigh(covariance)
values, vectors = values[::-1], vectors[:, ::-1]

singular = np.linalg.svd(Z, compute_uv=False)
scores = Z @ vectors[:, :3]
restored = scores @ vectors[:, :3].T * std + mean
error = np.sqrt(((X - restored) ** 2).mean())

print("explained:", *(f"{v:.9g}" for v in values[:5] / values.sum()))
print("agree:", np.allclose(singular**2 / (samples - 1), values))
print(f"error with three components {error:.10g}")
print("spread of scores:", *(f"{s:.9g}" for s in scores.std(axis=0)))
