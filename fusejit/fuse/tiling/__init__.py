"""Tiles: slices, loops over tiles."""
