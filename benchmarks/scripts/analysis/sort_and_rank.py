"""Orders of sales: sorting, ranking, grouping, joining by keys."""

import sys

import numpy as np

n = int(sys.argv[1]) if len(sys.argv) > 1 else 2000

rng = np.random.default_rng(0)
customer = rng.integers(0, n // 20, n)
product = rng.integers(0, 100, n)
amount = np.round(rng.gamma(2.0, 30.0, n), 2)
prices = np.sort(rng.uniform(1, 500, 100))

order = np.argsort(amount, kind="stable")
rank = np.empty(n, dtype=np.int64)
rank[order] = np.arange(n)

by_customer = np.argsort(customer, kind="stable")
sorted_customers = customer[by_customer]
first = np.flatnonzero(np.r_[True, sorted_customers[1:] != sorted_customers[:-1]])
totals = np.add.reduceat(amount[by_customer], first)
best = sorted_customers[first][np.argsort(totals)[::-1][:5]]

revenue = np.bincount(product, weights=amount, minlength=100)
counts = np.bincount(product, minlength=100)
class_of_price = np.searchsorted(prices, amount)
unique, inverse = np.unique(product * 1000 + customer % 1000, return_inverse=True)

print("largest orders:", amount[order[-3:]])
print("rank of the first five:", rank[:5])
print("customers:", len(first), "best:", best)
print(f"revenue {revenue.sum():.12g}, of the best product {revenue.max():.12g}")
print(f"mean order {np.mean(revenue / np.maximum(counts, 1)):.12g}")
print("classes:", np.bincount(class_of_price, minlength=101)[:10])
print("pairs:", len(unique), "checksum", int(inverse.sum()))
print("percentiles:", np.percentile(amount, [5, 50, 95]))
