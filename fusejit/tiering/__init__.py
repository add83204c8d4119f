"""Tiering: whether compiled code is faster."""
