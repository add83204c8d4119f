"""Calls of NumPy or Python between kernels: host calls, draws, effects."""
