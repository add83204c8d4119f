"""Ufuncs, and functions made of them."""
