"""Traced arrays, numbers and containers."""
