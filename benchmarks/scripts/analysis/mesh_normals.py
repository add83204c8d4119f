"""Normals, areas and the volume of a triangulated bumpy sphere."""

import sys

import numpy as np

n = int(sys.argv[1]) if len(sys.argv) > 1 else 30

theta = np.linspace(0.01, np.pi - 0.01, n)
phi = np.linspace(0, 2 * np.pi, 2 * n, endpoint=False)
T, P = np.meshgrid(theta, phi, indexing="ij")
R = 1 + 0.1 * np.cos(5 * T) * np.sin(3 * P)
vertices = np.stack([R * np.sin(T) * np.cos(P), R * np.sin(T) * np.sin(P), R * np.cos(T)], axis=-1)
vertices = vertices.reshape(-1, 3)

index = np.arange(n * 2 * n).reshape(n, 2 * n)
a = index[:-1, :]
b = index[1:, :]
c = np.roll(index, -1, axis=1)[:-1, :]
d = np.roll(index, -1, axis=1)[1:, :]
faces = np.concatenate(
    [np.stack([a, b, c], -1).reshape(-1, 3), np.stack([c, b, d], -1).reshape(-1, 3)]
)

v0, v1, v2 = vertices[faces[:, 0]], vertices[faces[:, 1]], vertices[faces[:, 2]]
normals = np.cross(v1 - v0, v2 - v0)
lengths = np.linalg.norm(normals, axis=1)
unit = normals / lengths[:, None]
areas = lengths / 2
volume = np.abs((v0 * normals).sum(axis=1).sum() / 6)

centres = (v0 + v1 + v2) / 3
light = np.array([0.3, -0.5, 0.8])
light /= np.sqrt(light @ light)
brightness = np.clip(unit @ light, 0, 1)

print(len(vertices), "vertices,", len(faces), "faces")
print(f"area {areas.sum():.10g}, volume {volume:.10g}")
print(f"outward: {((unit * centres).sum(axis=1) > 0).mean():.10g}")
print(f"brightness {brightness.mean():.10g}, dark faces {np.sum(brightness == 0)}")
