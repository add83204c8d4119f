"""Primitives: the steps of a schedule."""
