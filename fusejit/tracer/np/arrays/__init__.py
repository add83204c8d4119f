"""Functions that index, create, join and rearrange arrays."""
