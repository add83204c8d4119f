"""The loop nests of one op, by kind: elementwise, reductions, scans, products."""
