"""Passes over dims: reshapes, extents of 1, small and split reductions."""
