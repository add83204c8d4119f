"""Strings of the kernel."""
