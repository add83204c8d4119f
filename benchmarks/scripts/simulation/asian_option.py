"""Monte Carlo price of Asian, barrier and European options on the same paths."""

import sys

import numpy as np

paths = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
months = 24
S0, K, r, sigma, T = 100.0, 100.0, 0.03, 0.25, 2.0
dt = T / months

rng = np.random.default_rng(0)
price = np.full(paths, S0)
running_sum = np.zeros(paths)
lowest = price.copy()
alive = np.ones(paths, dtype=bool)

for month in range(months):
    z = rng.standard_normal(paths)
    price *= np.exp((r - 0.5 * sigma**2) * dt + sigma * np.sqrt(dt) * z)
    running_sum += price
    np.minimum(lowest, price, out=lowest)
    alive &= price < 140.0

discount = np.exp(-r * T)
european = discount * np.maximum(price - K, 0)
asian = discount * np.maximum(running_sum / months - K, 0)
barrier = np.where(alive, european, 0.0)
lookback = discount * (price - lowest)

for name, payoff in [
    ("european", european),
    ("asian", asian),
    ("barrier", barrier),
    ("lookback", lookback),
]:
    error = payoff.std(ddof=1) / np.sqrt(paths)
    print(f"{name:10s} {payoff.mean():.12g} +- {error:.12g}")
print("knocked out:", paths - int(alive.sum()))
