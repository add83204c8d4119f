"""The launcher: checks, allocations and host calls around kernels."""
