"""Black-Scholes prices and greeks of many options."""

import sys

import numpy as np

n = int(sys.argv[1]) if len(sys.argv) > 1 else 2000


def norm_cdf(x):
    # Abramowitz and Stegun 26.2.17
    k = 1.0 / (1.0 + 0.2316419 * np.abs(x))
    poly = k * (
        0.319381530 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429)))
    )
    tail = np.exp(-0.5 * x * x) / np.sqrt(2 * np.pi) * poly
    return np.where(x >= 0, 1.0 - tail, tail)


def black_scholes(S, K, T, r, sigma):
    d1 = (np.log(S / K) + (r + sigma**2 / 2) * T) / (sigma * np.sqrt(T))
    d2 = d1 - sigma * np.sqrt(T)
    call = S * norm_cdf(d1) - K * np.exp(-r * T) * norm_cdf(d2)
    put = K * np.exp(-r * T) * norm_cdf(-d2) - S * norm_cdf(-d1)
    vega = S * np.exp(-(d1**2) / 2) / np.sqrt(2 * np.pi) * np.sqrt(T)
    return call, put, vega


rng = np.random.default_rng(0)
S = rng.uniform(5, 30, n)
K = rng.uniform(1, 100, n)
T = rng.uniform(0.25, 10, n)
for sigma in (0.1, 0.2, 0.3, 0.4):
    call, put, vega = black_scholes(S, K, T, r=0.02, sigma=sigma)
    print(
        f"sigma {sigma}: calls {call.mean():.12g}, puts {put.mean():.12g}, vega {vega.mean():.12g}"
    )

parity = call - put - (S - K * np.exp(-0.02 * T))
print(f"calls: {call.mean():.12g} +- {call.std():.12g}")
print(f"puts: {put.mean():.12g} +- {put.std():.12g}")
print(f"largest vega {vega.max():.12g}")
print("parity holds:", bool(np.all(np.abs(parity) < 1e-9)))
print("in the money:", np.sum(S > K), "worthless calls:", np.sum(call < 0.01))
for i in range(3):
    print(f"S={S[i]:.4f} K={K[i]:.4f} T={T[i]:.4f} call={call[i]:.12g} put={put[i]:.12g}")
