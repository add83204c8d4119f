"""Gravity between all pairs of n bodies, with softening."""

import sys

import numpy as np

N = int(sys.argv[1]) if len(sys.argv) > 1 else 50
G, softening, dt = 1.0, 0.1, 0.01

rng = np.random.default_rng(0)
mass = 20.0 * np.ones((N, 1)) / N
pos = rng.standard_normal((N, 3))
vel = rng.standard_normal((N, 3))
vel -= np.mean(mass * vel, 0) / np.mean(mass)


def accelerations(pos):
    x, y, z = pos[:, 0:1], pos[:, 1:2], pos[:, 2:3]
    dx = x.T - x
    dy = y.T - y
    dz = z.T - z
    inv_r3 = dx**2 + dy**2 + dz**2 + softening**2
    inv_r3[inv_r3 > 0] = inv_r3[inv_r3 > 0] ** (-1.5)
    ax = G * (dx * inv_r3) @ mass
    ay = G * (dy * inv_r3) @ mass
    az = G * (dz * inv_r3) @ mass
    return np.hstack((ax, ay, az))


def energies(pos, vel):
    kinetic = 0.5 * np.sum(mass * vel**2)
    delta = pos[:, np.newaxis, :] - pos[np.newaxis, :, :]
    distance = np.sqrt((delta**2).sum(axis=2))
    inverse = np.where(distance > 0, 1.0 / np.where(distance > 0, distance, 1.0), 0.0)
    potential = G * np.sum(np.sum(np.triu(-(mass * mass.T) * inverse, 1)))
    return kinetic, potential


acc = accelerations(pos)
for _ in range(5):
    vel += acc * dt / 2.0
    pos += vel * dt
    acc = accelerations(pos)
    vel += acc * dt / 2.0

kinetic, potential = energies(pos, vel)
print(f"kinetic {kinetic:.12g}, potential {potential:.12g}")
print("first body:", *(f"{p:.12g}" for p in pos[0]))
