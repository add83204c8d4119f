"""NumPy's functions."""
