"""Tiering: whether compiled code is faster, and what runs if it is not."""
