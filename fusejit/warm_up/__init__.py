"""Decide which of the first calls of a function is traced."""
