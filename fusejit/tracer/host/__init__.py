"""What NumPy or Python runs between kernels: host calls, draws, effects."""
