"""Flow around a cylinder with the lattice Boltzmann method (D2Q9)."""

import sys

import numpy as np

ny = int(sys.argv[1]) if len(sys.argv) > 1 else 24
nx = 3 * ny
tau = 0.6
cxs = np.array([0, 0, 1, 1, 1, 0, -1, -1, -1])
cys = np.array([0, 1, 1, 0, -1, -1, -1, 0, 1])
weights = np.array([4 / 9, 1 / 9, 1 / 36, 1 / 9, 1 / 36, 1 / 9, 1 / 36, 1 / 9, 1 / 36])

rng = np.random.default_rng(0)
F = np.ones((ny, nx, 9)) + 0.01 * rng.standard_normal((ny, nx, 9))
F[:, :, 3] = 2.3
X, Y = np.meshgrid(range(nx), range(ny))
cylinder = (X - nx / 4) ** 2 + (Y - ny / 2) ** 2 < (ny / 4) ** 2

for it in range(6):
    for i, cx, cy in zip(range(9), cxs, cys):
        F[:, :, i] = np.roll(F[:, :, i], cx, axis=1)
        F[:, :, i] = np.roll(F[:, :, i], cy, axis=0)

    boundary = F[cylinder, :]
    boundary = boundary[:, [0, 5, 6, 7, 8, 1, 2, 3, 4]]

    rho = np.sum(F, axis=2)
    ux = np.sum(F * cxs, axis=2) / rho
    uy = np.sum(F * cys, axis=2) / rho
    F[cylinder, :] = boundary
    ux[cylinder] = 0
    uy[cylinder] = 0

    Feq = np.zeros(F.shape)
    for i, cx, cy, w in zip(range(9), cxs, cys, weights):
        cu = cx * ux + cy * uy
        Feq[:, :, i] = rho * w * (1 + 3 * cu + 9 * cu**2 / 2 - 3 * (ux**2 + uy**2) / 2)
    F += -(1.0 / tau) * (F - Feq)

vorticity = (np.roll(ux, -1, axis=0) - np.roll(ux, 1, axis=0)) - (
    np.roll(uy, -1, axis=1) - np.roll(uy, 1, axis=1)
)
vorticity[cylinder] = np.nan
print(f"mean density {rho.mean():.12g}")
print(f"mean speed {np.sqrt(ux**2 + uy**2).mean():.12g}")
print(f"vorticity from {np.nanmin(vorticity):.12g} to {np.nanmax(vorticity):.12g}")
