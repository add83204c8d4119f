"""A Markov chain over six states: stationary distribution and simulated walks."""

import sys

import numpy as np

steps = int(sys.argv[1]) if len(sys.argv) > 1 else 300

rng = np.random.default_rng(0)
P = rng.random((6, 6)) + 0.1
P[np.arange(6), np.arange(6)] += 2.0
P /= P.sum(axis=1, keepdims=True)

distribution = np.full(6, 1 / 6)
for iteration in range(500):
    following = distribution @ P
    if np.abs(following - distribution).max() < 1e-15:
        break
    distribution = following
print("stationary:", *(f"{p:.10g}" for p in distribution))

cumulative = P.cumsum(axis=1)
state = 0
visits = np.zeros(6, dtype=int)
transitions = np.zeros((6, 6), dtype=np.int64)
for _ in range(steps):
    following = min(int(np.searchsorted(cumulative[state], rng.random())), 5)
    transitions[state, following] += 1
    visits[following] += 1
    state = following

estimated = transitions / np.maximum(transitions.sum(axis=1, keepdims=True), 1)
print("visits:", visits)
print(f"largest error of a transition {np.abs(estimated - P).max():.10g}")
print("most frequent:", np.unravel_index(transitions.argmax(), transitions.shape))
