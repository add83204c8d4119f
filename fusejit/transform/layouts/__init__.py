"""Primitives that change how operands lie in memory, and other algorithms for convolutions."""
