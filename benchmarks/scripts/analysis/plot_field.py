"""Contours and arrows of the field of three charges, to a file."""

import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

n = int(sys.argv[1]) if len(sys.argv) > 1 else 60
charges = [(-0.5, 0.1, 1.0), (0.5, -0.2, -1.0), (0.0, 0.6, 0.5)]

x = np.linspace(-1, 1, n)
X, Y = np.meshgrid(x, x)
potential = np.zeros((n, n))
Ex = np.zeros((n, n))
Ey = np.zeros((n, n))
for cx, cy, q in charges:
    dx, dy = X - cx, Y - cy
    r2 = dx**2 + dy**2 + 0.01
    potential += q / np.sqrt(r2)
    Ex += q * dx / r2**1.5
    Ey += q * dy / r2**1.5
strength = np.sqrt(Ex**2 + Ey**2)
direction = np.arctan2(Ey, Ex)

step = max(n // 20, 1)
part = (slice(None, None, step), slice(None, None, step))
fig, ax = plt.subplots(figsize=(5, 4))
shown = ax.imshow(np.log10(strength), origin="lower", extent=(-1, 1, -1, 1), cmap="magma")
ax.contour(X[part], Y[part], potential[part], levels=np.linspace(-4, 4, 9), colors="w")
ax.quiver(X[part], Y[part], np.cos(direction[part]), np.sin(direction[part]), color="c")
fig.colorbar(shown)
fig.savefig("field.png", dpi=60)
plt.close(fig)

picture = plt.imread("field.png")
print("picture:", picture.shape, f"{picture[..., :3].mean(dtype=np.float64):.6g}")
print(f"strength {strength.mean():.12g}, potential {potential.min():.12g} {potential.max():.12g}")
print("weakest at", np.unravel_index(strength.argmin(), strength.shape))
print(f"divergence {np.abs(np.gradient(Ex, axis=1) + np.gradient(Ey, axis=0)).max():.10g}")
