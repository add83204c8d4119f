"""Primitives that change how operands lie in memory; convolution algorithms."""
