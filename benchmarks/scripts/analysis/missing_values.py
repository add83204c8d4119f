"""Clean a recording of sensors: gaps, outliers, smoothing, normalising."""

import sys

import numpy as np

n = int(sys.argv[1]) if len(sys.argv) > 1 else 500
sensors = 8

rng = np.random.default_rng(0)
time = np.arange(n) / 100.0
data = np.sin(time[:, None] * np.arange(1, sensors + 1)) * 5 + 20
data += 0.3 * rng.standard_normal((n, sensors))
data[rng.random((n, sensors)) < 0.02] = np.nan
data[rng.random((n, sensors)) < 0.002] *= 10

missing = np.isnan(data)
print("missing per sensor:", missing.sum(axis=0))

mean = np.nanmean(data, axis=0)
deviation = np.nanstd(data, axis=0)
with np.errstate(invalid="ignore"):
    outlier = np.abs(data - mean) > 3 * deviation
data[outlier] = np.nan
print("outliers:", np.count_nonzero(outlier), f"mean deviation {deviation.mean():.12g}")

for s in range(sensors):
    column = data[:, s]
    bad = np.isnan(column)
    column[bad] = np.interp(time[bad], time[~bad], column[~bad])

smooth = data.copy()
smooth[1:-1] = (data[:-2] + 2 * data[1:-1] + data[2:]) / 4
scaled = (smooth - smooth.min(axis=0)) / np.ptp(smooth, axis=0)
correlation = np.corrcoef(smooth, rowvar=False)

print("any left:", bool(np.isnan(data).any()))
print("means:", *(f"{m:.10g}" for m in smooth.mean(axis=0)))
print(f"scaled {scaled.mean():.12g}, roughness {np.abs(np.diff(scaled, axis=0)).mean():.12g}")
print(f"largest correlation {np.abs(np.triu(correlation, 1)).max():.8g}")
