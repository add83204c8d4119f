"""The source text of kernels and host expressions."""
