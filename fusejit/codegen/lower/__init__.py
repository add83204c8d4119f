"""Lowering of a schedule to the loops of kernels."""
