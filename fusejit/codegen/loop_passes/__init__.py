"""Passes over the loops of a kernel."""
