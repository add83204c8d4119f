"""Functions that create, join and rearrange arrays."""
