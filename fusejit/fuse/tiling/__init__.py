"""Tiles of passes and schedules: slices, loops over tiles."""
