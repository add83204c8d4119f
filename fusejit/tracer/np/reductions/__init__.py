"""Functions that combine elements: sums, statistics, scans, products."""
