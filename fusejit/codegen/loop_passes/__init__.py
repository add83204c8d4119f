"""Passes over the statements of a kernel."""
