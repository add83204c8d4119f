"""The Ising model: Metropolis sweeps over a checkerboard."""

import sys

import numpy as np

n = int(sys.argv[1]) if len(sys.argv) > 1 else 40
beta = 0.5
sweeps = 8

rng = np.random.default_rng(0)
spins = rng.choice(np.array([-1, 1]), size=(n, n))
i, j = np.indices((n, n))
black = (i + j) % 2 == 0


def neighbour_sum(s):
    return np.roll(s, 1, 0) + np.roll(s, -1, 0) + np.roll(s, 1, 1) + np.roll(s, -1, 1)


for sweep in range(sweeps):
    for colour in (black, ~black):
        delta = 2 * spins * neighbour_sum(spins)
        accept = (delta <= 0) | (rng.random((n, n)) < np.exp(-beta * delta))
        spins[accept & colour] *= -1

energy = -np.sum(spins * (np.roll(spins, 1, 0) + np.roll(spins, 1, 1)))
print("magnetisation:", spins.sum())
print("energy:", energy, f"per site: {energy / n**2:.12g}")
print(f"susceptibility: {beta * np.var(spins):.12g}")
