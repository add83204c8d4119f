"""The machine and Numba: what this process can compile and call."""
