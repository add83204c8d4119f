"""A table in and out: columns of pandas as arrays, and arrays as columns."""

import sys

import numpy as np
import pandas as pd

n = int(sys.argv[1]) if len(sys.argv) > 1 else 1000

rng = np.random.default_rng(0)
frame = pd.DataFrame(
    {
        "shop": rng.integers(0, 12, n),
        "day": np.arange(n) % 365,
        "price": rng.uniform(1, 20, n),
        "amount": rng.poisson(4, n),
    }
)
frame.loc[frame.index % 97 == 0, "price"] = np.nan

price = frame["price"].to_numpy()
price = np.where(np.isnan(price), np.nanmean(price), price)
season = 1 + 0.2 * np.sin(2 * np.pi * frame["day"].to_numpy() / 365)
revenue = price * frame["amount"].to_numpy() * season
frame["revenue"] = revenue
frame["score"] = np.log1p(frame["revenue"]) - np.mean(np.log1p(revenue))
frame["large"] = np.asarray(revenue) > 2 * revenue.mean()

summary = frame.groupby("shop").agg({"revenue": ["sum", "mean"], "large": "sum"})
matrix = summary.to_numpy(dtype=float)
per_day = pd.Series(revenue).groupby(frame["day"]).sum().rolling(7).mean()

print("columns:", list(frame.columns), len(frame))
print(f"revenue {frame['revenue'].sum():.12g}, std {frame['revenue'].std():.12g}")
for shop, row in enumerate(matrix):
    print(shop, *(f"{value:.10g}" for value in row))
print(f"best week {per_day.max():.10g}, day {int(per_day.idxmax())}")
print("score range:", f"{frame['score'].min():.8g} {frame['score'].max():.8g}")
