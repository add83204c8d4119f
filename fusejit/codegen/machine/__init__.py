"""The machine and Numba: what this process can compile and call, and on how many threads."""
