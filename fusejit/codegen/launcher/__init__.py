"""The launcher: checks, allocations and host calls around the kernels of a call."""
