"""Distances on a sphere: from one city to many places, and along a track."""

import sys

import numpy as np

n = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
R = 6371.0088


def haversine(lat1, lon1, lat2, lon2):
    lat1, lon1, lat2, lon2 = map(np.radians, (lat1, lon1, lat2, lon2))
    dlat = lat2 - lat1
    dlon = lon2 - lon1
    a = np.sin(dlat / 2) ** 2 + np.cos(lat1) * np.cos(lat2) * np.sin(dlon / 2) ** 2
    return 2 * R * np.arcsin(np.sqrt(a))


def bearing(lat1, lon1, lat2, lon2):
    lat1, lon1, lat2, lon2 = map(np.radians, (lat1, lon1, lat2, lon2))
    y = np.sin(lon2 - lon1) * np.cos(lat2)
    x = np.cos(lat1) * np.sin(lat2) - np.sin(lat1) * np.cos(lat2) * np.cos(lon2 - lon1)
    return np.degrees(np.arctan2(y, x)) % 360


rng = np.random.default_rng(0)
lat = np.degrees(np.arcsin(rng.uniform(-1, 1, n)))
lon = rng.uniform(-180, 180, n)

d = haversine(48.2082, 16.3738, lat, lon)
b = bearing(48.2082, 16.3738, lat, lon)
sector = (b // 45).astype(int)
steps = haversine(lat[:-1], lon[:-1], lat[1:], lon[1:])

print(f"nearest {d.min():.10g} km, mean {d.mean():.12g} km, farthest {d.max():.10g} km")
print("within 1000 km:", np.count_nonzero(d < 1000))
print("by sector:", np.bincount(sector, minlength=8))
for s in range(0, 8, 2):
    print(f"sector {s}: {d[sector == s].mean():.10g}")
print(f"length of the track {steps.sum():.12g}")
