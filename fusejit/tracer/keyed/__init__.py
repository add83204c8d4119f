"""Dictionaries and sets of the kernel."""
